/* Prepares a chain for one image.
 * SPDX-License-Identifier: MIT */
#include "cli/run/ready.h"

#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "filters/arithmetic/draw.h"
#include "filters/random.h"
#include "imgio/nodata.h"
#include "imgio/small.h"

/* The drawing of a step for one image. */
struct gi_item_drawer {
    struct gi_drawer drawer;
    const struct gi_chain_step *step;
    struct gi_drawn_item item;
    struct gi_image made;
    int x, y, width, height; /* place of `made`, and size of the source; 0: not made yet */
};

/* Makes the drawing, or takes the one that was made for another band. */
static enum gi_status draw_for(struct gi_drawer *drawer, const struct gi_image **drawing, int *x,
                               int *y, int width, int height, struct gi_err *err)
{
    struct gi_item_drawer *self = (struct gi_item_drawer *)drawer;
    const struct gi_chain_step *step = self->step;
    if (self->width != width || self->height != height) {
        gi_image_free(&self->made);
        self->width = self->height = 0;
        enum gi_status status = step->drawings->make(step->drawn, &self->made, &self->x, &self->y,
                                                     &self->item, width, height, err);
        if (status)
            return status;
        self->width = width;
        self->height = height;
    }
    *drawing = &self->made;
    *x = self->x;
    *y = self->y;
    return GI_OK;
}

void gi_ready_free(struct gi_ready *ready)
{
    for (int i = 0; ready->sides && ready->inputs && ready->others && i < ready->chain->n; i++) {
        const struct gi_filter *filter = ready->chain->steps[i].filter;
        if (ready->sides[i].result && filter->analysis.free)
            filter->analysis.free(ready->sides[i].result);
        free(ready->sides[i].result);
        gi_image_free(&ready->inputs[i]);
        for (int j = 0; j < GI_SOURCES_MAX - 1; j++)
            gi_image_free(&ready->others[i * (GI_SOURCES_MAX - 1) + j]);
    }
    for (int i = 0; ready->drawn && i < ready->chain->n; i++)
        free(ready->drawn[i]);
    for (int i = 0; ready->drawers && i < ready->chain->n; i++) {
        if (ready->drawers[i])
            gi_image_free(&ready->drawers[i]->made);
        free(ready->drawers[i]);
    }
    free(ready->drawn);
    free(ready->drawers);
    free(ready->others);
    free(ready->steps);
    free(ready->sides);
    free(ready->warnings);
    free(ready->placements);
    free(ready->told);
    free(ready->inputs);
}

/* Makes the part of further image j, which has bands. */
static enum gi_status others_part(struct gi_image *made, const struct gi_chain_step *from, int j,
                                  int part, struct gi_err *err)
{
    const struct gi_nodata *nodata = &from->other_nodata[j];
    enum gi_status status =
        gi_bands_part(made, &from->others[j], &from->other_bands[j], part - 1, err);
    return status || !nodata->given ? status : gi_nodata_hide(made, nodata, err);
}

/* Sets the further images of a step. */
static enum gi_status ready_others(struct gi_ready *ready, int i, int part, struct gi_err *err)
{
    const struct gi_chain_step *from = &ready->chain->steps[i];
    struct gi_image *others = &ready->others[i * (GI_SOURCES_MAX - 1)];
    char text[GI_BANDS_TEXT];
    enum gi_status status = GI_OK;
    for (int j = 0; j < from->nothers && !status; j++) {
        const struct gi_bands *bands = &from->other_bands[j];
        others[j] = from->others[j];
        others[j].owner = GI_OWNER_NONE;
        if (bands->n && part)
            status = others_part(&others[j], from, j, part, err);
        else if (bands->n)
            status = gi_fail(err, GI_E_UNSUPPORTED,
                             "a further image has %s, and the input has none: want some, as in "
                             "x.tif[bands=3,2,1]",
                             gi_bands_text(text, bands));
    }
    ready->sides[i].others = ready->steps[i].others = others;
    ready->steps[i].nothers = from->nothers;
    return status;
}

/* Sets the further inputs and outputs of a step. */
static enum gi_status ready_side(struct gi_ready *ready, int i, int part, struct gi_err *err)
{
    const struct gi_chain_step *from = &ready->chain->steps[i];
    const struct gi_reporter *reporter = from->reporter;
    struct gi_side *side = &ready->sides[i];
    side->warning = &ready->warnings[i];
    side->placement = &ready->placements[i];
    side->told = gi_cli_tells() ? ready->told[i] : NULL;
    enum gi_status status = ready_others(ready, i, part, err);
    if (status || !reporter)
        return status;
    side->result = gi_small_calloc(1, from->filter->analysis.nbytes);
    side->shape = &ready->inputs[i];
    if (gi_chain_reports_samples(from))
        side->copy_out = &ready->inputs[i];
    return GI_OK;
}

enum gi_status gi_ready_make(struct gi_ready *ready, const struct gi_chain *chain,
                             const struct gi_drawn_item *item, struct gi_err *err)
{
    return gi_ready_make_part(ready, chain, item, 0, err);
}

/* Gives step i parameters of its own if these have random choices, or if it draws. */
static void own_params(struct gi_ready *ready, int i, const struct gi_drawn_item *item)
{
    const struct gi_chain_step *from = &ready->chain->steps[i];
    const struct gi_filter *filter = from->filter;
    if (!filter->sources.draw && !from->drawings)
        return;
    void *params = gi_small_alloc(filter->params_nbytes);
    memcpy(params, ready->steps[i].params, filter->params_nbytes);
    ready->drawn[i] = params;
    if (from->drawings) {
        struct gi_item_drawer *drawer = ready->drawers[i] = gi_small_calloc(1, sizeof *drawer);
        *drawer = (struct gi_item_drawer){.drawer.draw = draw_for, .step = from, .item = *item};
        ((struct gi_draw_params *)params)->drawer = &drawer->drawer;
    } else if (!filter->sources.draw(params, gi_random_key(item->name))) {
        return;
    }
    ready->steps[i].params = params;
    ready->own = true;
}

enum gi_status gi_ready_make_part(struct gi_ready *ready, const struct gi_chain *chain,
                                  const struct gi_drawn_item *item, int part, struct gi_err *err)
{
    size_t n = (size_t)chain->n;
    *ready = (struct gi_ready){
        .chain = chain,
        .steps = gi_small_calloc(n, sizeof *ready->steps),
        .sides = gi_small_calloc(n, sizeof *ready->sides),
        .warnings = gi_small_calloc(n, sizeof *ready->warnings),
        .placements = gi_small_calloc(n, sizeof *ready->placements),
        .told = gi_small_calloc(n, sizeof *ready->told),
        .inputs = gi_small_calloc(n, sizeof *ready->inputs),
        .drawn = gi_small_calloc(n, sizeof *ready->drawn),
        .drawers = gi_small_calloc(n, sizeof *ready->drawers),
        .others = gi_small_calloc(n * (GI_SOURCES_MAX - 1), sizeof *ready->others)};
    enum gi_status status = GI_OK;
    for (int i = 0; i < chain->n && !status; i++) {
        const struct gi_chain_step *from = &chain->steps[i];
        ready->steps[i] = (struct gi_step){.filter = from->filter,
                                           .params = from->args.params[GI_SET_STEP_FILTER]};
        own_params(ready, i, item);
        status = ready_side(ready, i, part, err);
        if (status)
            gi_err_prefix(err, "step %d, %s", i + 1, from->filter->name);
    }
    return status;
}

void gi_ready_tell(const struct gi_ready *ready, const char *input)
{
    int n = ready->chain->n;
    for (int i = 0; i < n; i++) {
        const char *name = ready->chain->steps[i].filter->name;
        if (*ready->told[i] && n > 1)
            gi_cli_tell("%s: step %d, %s: %s", input, i + 1, name, ready->told[i]);
        else if (*ready->told[i])
            gi_cli_tell("%s: %s", input, ready->told[i]);
    }
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

enum gi_status gi_ready_report(const struct gi_ready *ready, const char *input,
                               const struct gi_metadata *metadata, unsigned maxval, int threads,
                               struct gi_bundle *bundle, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < ready->chain->n && !status; i++) {
        const struct gi_chain_step *from = &ready->chain->steps[i];
        if (!from->reporter)
            continue;
        struct gi_findings findings = gi_ready_findings(ready, i, maxval);
        findings.file = input;
        findings.metadata = metadata;
        findings.threads = threads;
        findings.bundle = bundle;
        status = from->reporter->write(&findings, err);
        if (status && ready->chain->n > 1)
            gi_err_prefix(err, "step %d, %s", i + 1, from->filter->name);
    }
    return status;
}
