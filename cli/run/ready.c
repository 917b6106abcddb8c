/* Prepares a chain for one image.
 * SPDX-License-Identifier: MIT */
#include "cli/run/ready.h"

#include <stdlib.h>

void gi_ready_free(struct gi_ready *ready)
{
    for (int i = 0; ready->sides && ready->inputs && i < ready->chain->n; i++) {
        const struct gi_filter *filter = ready->chain->steps[i].filter;
        if (ready->sides[i].result && filter->result_free)
            filter->result_free(ready->sides[i].result);
        free(ready->sides[i].result);
        gi_image_free(&ready->inputs[i]);
    }
    free(ready->steps);
    free(ready->sides);
    free(ready->warnings);
    free(ready->placements);
    free(ready->inputs);
}

/* Sets the further inputs and outputs of a step. */
static enum gi_status ready_side(struct gi_ready *ready, int i, struct gi_err *err)
{
    const struct gi_chain_step *from = &ready->chain->steps[i];
    const struct gi_reporter *reporter = from->reporter;
    struct gi_side *side = &ready->sides[i];
    side->warning = &ready->warnings[i];
    side->placement = &ready->placements[i];
    side->others = ready->steps[i].others = from->others;
    ready->steps[i].nothers = from->nothers;
    if (!reporter)
        return GI_OK;
    const void *output = from->args.params[GI_SET_STEP_OUTPUT];
    side->result = calloc(1, from->filter->result_nbytes);
    if (!side->result)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a result");
    side->shape = &ready->inputs[i];
    if (reporter->wants_image && reporter->wants_image(output))
        side->copy_out = &ready->inputs[i];
    return GI_OK;
}

enum gi_status gi_ready_make(struct gi_ready *ready, const struct gi_chain *chain,
                             struct gi_err *err)
{
    size_t n = (size_t)chain->n;
    *ready = (struct gi_ready){.chain = chain,
                               .steps = calloc(n, sizeof *ready->steps),
                               .sides = calloc(n, sizeof *ready->sides),
                               .warnings = calloc(n, sizeof *ready->warnings),
                               .placements = calloc(n, sizeof *ready->placements),
                               .inputs = calloc(n, sizeof *ready->inputs)};
    if (!ready->steps || !ready->sides || !ready->warnings || !ready->placements || !ready->inputs)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a chain");
    enum gi_status status = GI_OK;
    for (int i = 0; i < chain->n && !status; i++) {
        const struct gi_chain_step *from = &chain->steps[i];
        ready->steps[i] = (struct gi_step){.filter = from->filter,
                                           .params = from->args.params[GI_SET_STEP_FILTER]};
        status = ready_side(ready, i, err);
        if (status)
            gi_err_prefix(err, "step %d, %s", i + 1, from->filter->name);
    }
    return status;
}

struct gi_placement gi_ready_placement(const struct gi_ready *ready)
{
    struct gi_placement all = ready->placements[0];
    for (int i = 1; i < ready->chain->n; i++)
        all = gi_placement_join(&all, &ready->placements[i]);
    return all;
}

struct gi_findings gi_ready_findings(const struct gi_ready *ready, int i, unsigned maxval)
{
    const struct gi_chain_step *from = &ready->chain->steps[i];
    const struct gi_image *image = &ready->inputs[i];
    return (struct gi_findings){.params = from->args.params[GI_SET_STEP_FILTER],
                                .output = from->args.params[GI_SET_STEP_OUTPUT],
                                .result = ready->sides[i].result,
                                .image = image,
                                .maxval = i ? (unsigned)gi_type_full_scale(image->type) : maxval,
                                .to = from->to};
}

enum gi_status gi_ready_report(const struct gi_ready *ready, const char *input, unsigned maxval,
                               int threads, struct gi_bundle *bundle, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < ready->chain->n && !status; i++) {
        const struct gi_chain_step *from = &ready->chain->steps[i];
        if (!from->reporter)
            continue;
        struct gi_findings findings = gi_ready_findings(ready, i, maxval);
        findings.file = input;
        findings.threads = threads;
        findings.bundle = bundle;
        status = from->reporter->write(&findings, err);
        if (status && ready->chain->n > 1)
            gi_err_prefix(err, "step %d, %s", i + 1, from->filter->name);
    }
    return status;
}
