/* The work on an image of several bands: runs the chain on each of its parts, and joins the results
 * of its analyses.
 * SPDX-License-Identifier: MIT */
#include "cli/run/imaging.h"

#include <stdlib.h>
#include <string.h>

#include "cli/run/ready.h"
#include "imgio/small.h"

/* Returns whether the operation, which is a geometric one, chooses its rectangle by the samples. It
 * would choose another one for each band. */
static bool is_late(const struct gi_chain_step *step, const struct gi_image *shape)
{
    struct gi_plan plan;
    if (!step->filter->settle || step->filter->group != GI_GROUP_GEOMETRY ||
        gi_plan_make(&plan, step->filter, step->args.params[GI_SET_STEP_FILTER], shape, 1, NULL))
        return false;
    bool late = plan.late;
    gi_plan_free(&plan);
    return late;
}

/* Returns whether further image j of the step goes with each part of an image of `bands`: it has
 * the same bands, or is gray, or is no picture. */
static bool goes_with(const struct gi_chain_step *step, int j, const struct gi_bands *bands)
{
    const struct gi_option *row =
        gi_filter_image(step->filter, step->args.params[GI_SET_STEP_FILTER], j);
    const struct gi_bands *other = &step->other_bands[j];
    if (other->n)
        return other->n == bands->n && other->colors == bands->colors &&
               other->alpha == bands->alpha;
    return !row || !row->picture || step->others[j].channels == 1;
}

/* Returns why the step makes no sense for bands, or NULL. */
static const char *why_not(const struct gi_chain_step *step, const struct gi_image *shape,
                           const struct gi_bands *bands)
{
    const struct gi_reporter *reporter = step->reporter;
    const void *params = step->args.params[GI_SET_STEP_FILTER];
    if (reporter && (!reporter->parts || gi_chain_reports_samples(step)))
        return "measures one image";
    if (reporter && reporter->parts->refuses)
        return reporter->parts->refuses(params, bands->alpha >= 0);
    for (int j = 0; j < step->nothers; j++)
        if (!goes_with(step, j, bands))
            return "has a further image that is neither gray nor of the same bands";
    return step->filter->samples.needs_color ? "wants colours"
           : is_late(step, shape)            ? "chooses a rectangle by the samples"
                                             : NULL;
}

/* Checks that each step of the chain makes sense for bands. */
static enum gi_status check_steps(const struct gi_chain *chain, const struct gi_image *shape,
                                  const struct gi_bands *bands, struct gi_err *err)
{
    for (int i = 0; i < chain->n; i++) {
        const struct gi_chain_step *step = &chain->steps[i];
        const char *why = why_not(step, shape, bands);
        if (why && chain->n > 1)
            return gi_fail(err, GI_E_UNSUPPORTED, "step %d, %s: %s", i + 1, step->filter->name,
                           why);
        if (why)
            return gi_fail(err, GI_E_UNSUPPORTED, "%s", why);
    }
    return GI_OK;
}

/* The work on one image. */
struct work {
    struct gi_imaging *imaging;
    struct gi_item *item;
    const struct gi_image *image;
    struct gi_metadata *metadata;
    const struct gi_file_info *info;
    bool wanted;
    struct gi_image made; /* the result, allocated with the first part */
    struct gi_ready *all; /* the joined results of the analyses */
    void **params;        /* of each step that is run again with others; owned */
};

/* Adds the results of the analyses of part i to those of all. */
static enum gi_status join(struct work *work, int i, const struct gi_ready *ready,
                           struct gi_err *err)
{
    const struct gi_bands *bands = &work->info->bands;
    char texts[GI_MAX_CHANNELS][16];
    struct gi_part_names names = {.nchannels = bands->n, .n = gi_bands_channels(bands, i)};
    enum gi_status status = GI_OK;
    for (int c = 0; c < names.n; c++) {
        names.at[c] = gi_bands_sample(bands, i, c);
        names.names[c] = gi_band_name(texts[c], bands, names.at[c]);
    }
    for (int s = 0; s < ready->chain->n && !status; s++) {
        const struct gi_reporter *reporter = ready->chain->steps[s].reporter;
        if (!reporter)
            continue;
        struct gi_image *shape = &work->all->inputs[s];
        *shape = ready->inputs[s];
        shape->data = NULL;
        shape->owner = GI_OWNER_NONE;
        shape->channels = bands->n;
        shape->mask = GI_MASK_NONE;
        status =
            reporter->parts->add(work->all->sides[s].result, ready->sides[s].result, &names, err);
    }
    return status;
}

/* Stores the result of part i. */
static enum gi_status put(struct work *work, int i, const struct gi_image *part, struct gi_err *err)
{
    const struct gi_bands *bands = &work->info->bands;
    struct gi_image *made = &work->made;
    enum gi_status status = GI_OK;
    int channels = gi_bands_channels(bands, i);
    if (part->channels != channels)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d channels become %d", channels, part->channels);
    if (i == 0)
        status = gi_image_alloc(made, part->width, part->height, bands->n, part->type, err);
    else if (part->width != made->width || part->height != made->height || part->type != made->type)
        status = gi_fail(err, GI_E_UNSUPPORTED, "the bands become images of several shapes");
    if (!status)
        gi_bands_put(made, bands, i, part);
    return status;
}

/* Runs the chain on part i, with the parameters of `work` that differ from the chain's. */
static enum gi_status run_part(struct work *work, int i, bool wanted, struct gi_err *err)
{
    struct gi_ready ready = {0};
    struct gi_image part = {0};
    const struct gi_chain *chain = gi_imaging_chain(work->imaging, work->item);
    const struct gi_drawn_item of =
        gi_imaging_drawn_item(work->imaging, work->item, work->metadata);
    enum gi_status status = gi_ready_make_part(&ready, chain, &of, 1 + i, err);
    for (int s = 0; s < chain->n && !status; s++)
        if (work->params[s]) {
            ready.steps[s].params = work->params[s];
            ready.own = true;
        }
    if (!status)
        status = gi_bands_part(&part, work->image, &work->info->bands, i, err);
    if (!status)
        status = gi_imaging_filter_ready(work->imaging, work->item, &part, work->metadata,
                                         work->info, wanted, NULL, &ready, err);
    if (!status)
        status = join(work, i, &ready, err);
    if (!status && wanted)
        status = put(work, i, &part, err);
    if (!status && i == 0)
        for (int s = 0; s < chain->n; s++)
            work->all->placements[s] = ready.placements[s];
    gi_image_free(&part);
    gi_ready_free(&ready);
    return status;
}

static enum gi_status run_parts(struct work *work, bool wanted, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < gi_bands_parts(&work->info->bands) && !status; i++)
        status = run_part(work, i, wanted, err);
    return status;
}

/* If the results of step s don't fit together, sets the parameters for the next run. */
static void set_params(struct work *work, int s)
{
    const struct gi_chain_step *step = &work->all->chain->steps[s];
    if (!step->reporter || !step->reporter->parts->again)
        return;
    size_t nbytes = step->filter->params_nbytes;
    void *params = gi_small_alloc(nbytes);
    memcpy(params, step->args.params[GI_SET_STEP_FILTER], nbytes);
    if (step->reporter->parts->again(params, work->all->sides[s].result, work->all->inputs[s].type))
        work->params[s] = params;
    else
        free(params);
}

/* Forgets the joined results of step s. */
static void forget(struct work *work, int s)
{
    const struct gi_filter *filter = work->all->chain->steps[s].filter;
    void *result = work->all->sides[s].result;
    if (result && filter->analysis.free)
        filter->analysis.free(result);
    if (result)
        memset(result, 0, filter->analysis.nbytes);
}

/* Runs the chain on all parts, and again if the results of analyses don't fit together. */
static enum gi_status run_all(struct work *work, struct gi_err *err)
{
    int n = work->all->chain->n;
    bool again = false;
    enum gi_status status = run_parts(work, work->wanted, err);
    for (int s = 0; s < n && !status; s++) {
        set_params(work, s);
        again = again || work->params[s];
    }
    for (int s = 0; s < n && again; s++)
        forget(work, s);
    return status || !again ? status : run_parts(work, false, err);
}

enum gi_status gi_imaging_bands(struct gi_imaging *imaging, struct gi_item *item,
                                struct gi_image *image, struct gi_metadata *metadata,
                                const struct gi_file_info *info, bool wanted,
                                struct gi_ready *ready, struct gi_err *err)
{
    struct gi_image first = *image;
    struct work work = {.imaging = imaging,
                        .item = item,
                        .image = image,
                        .metadata = metadata,
                        .info = info,
                        .wanted = wanted,
                        .all = ready};
    const struct gi_chain *chain = gi_imaging_chain(imaging, item);
    const struct gi_drawn_item of = gi_imaging_drawn_item(imaging, item, metadata);
    char text[GI_BANDS_TEXT];
    first.data = NULL;
    first.channels = gi_bands_channels(&info->bands, 0);
    enum gi_status status = check_steps(chain, &first, &info->bands, err);
    if (!status)
        status = gi_ready_make_part(ready, chain, &of, 1, err);
    work.params = gi_small_calloc((size_t)chain->n, sizeof *work.params);
    if (!status)
        status = run_all(&work, err);
    for (int s = 0; s < chain->n; s++)
        free(work.params[s]);
    free(work.params);
    gi_image_free(image);
    if (status)
        gi_image_free(&work.made);
    else
        *image = work.made;
    if (status != GI_E_UNSUPPORTED && status != GI_E_USAGE)
        return status;
    const struct gi_err why = *err;
    gi_bands_text(text, &info->bands);
    if (chain->n == 1 && chain->steps[0].filter == gi_filter_find("calc"))
        return gi_fail(
            err, status,
            "%s; it has %s, which are calculated one by one: name those to combine, as in "
            "gpuimg calc '(a[b4] - a[b1]) / (a[b4] + a[b1])' x.tif n.tif --depth float",
            why.text, text);
    return gi_fail(err, status,
                   "%s; it has %s: choose some, as in x.tif[bands=3,2,1] or by --bands 3,2,1",
                   why.text, text);
}
