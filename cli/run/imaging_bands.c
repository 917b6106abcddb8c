/* The work on an image of several bands: runs the chain on each of its parts.
 * SPDX-License-Identifier: MIT */
#include "cli/run/imaging.h"

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
        return other->n == bands->n && other->colours == bands->colours &&
               other->alpha == bands->alpha;
    return !row || !row->picture || step->others[j].channels == 1;
}

/* Checks that each step of the chain makes sense for bands. */
static enum gi_status check_steps(const struct gi_chain *chain, const struct gi_image *shape,
                                  const struct gi_bands *bands, struct gi_err *err)
{
    for (int i = 0; i < chain->n; i++) {
        const struct gi_chain_step *step = &chain->steps[i];
        const char *why = step->reporter               ? "measures one image"
                          : step->filter->needs_colour ? "wants colours"
                          : is_late(step, shape)       ? "chooses a rectangle by the samples"
                                                       : NULL;
        for (int j = 0; j < step->nothers && !why; j++)
            if (!goes_with(step, j, bands))
                why = "has a further image that is neither gray nor of the same bands";
        if (why && chain->n > 1)
            return gi_fail(err, GI_E_UNSUPPORTED, "step %d, %s: %s", i + 1, step->filter->name,
                           why);
        if (why)
            return gi_fail(err, GI_E_UNSUPPORTED, "%s", why);
    }
    return GI_OK;
}

/* Runs the chain on part i of `image`, and stores the result in *made, which is allocated with the
 * first part. */
static enum gi_status run_part(struct gi_imaging *imaging, struct gi_item *item, int i,
                               struct gi_image *made, const struct gi_image *image,
                               const struct gi_metadata *metadata, const struct gi_file_info *info,
                               struct gi_placement *placement, struct gi_err *err)
{
    struct gi_image part;
    int channels = gi_bands_channels(&info->bands, i);
    enum gi_status status = gi_bands_part(&part, image, &info->bands, i, err);
    if (!status)
        status = gi_imaging_filter(imaging, item, &part, metadata, info, placement, err);
    if (status)
        return status;
    if (part.channels != channels)
        status = gi_fail(err, GI_E_UNSUPPORTED, "%d channels become %d", channels, part.channels);
    else if (i == 0)
        status = gi_image_alloc(made, part.width, part.height, info->bands.n, part.type, err);
    else if (part.width != made->width || part.height != made->height || part.type != made->type)
        status = gi_fail(err, GI_E_UNSUPPORTED, "the bands become images of several shapes");
    if (!status)
        gi_bands_put(made, &info->bands, i, &part);
    gi_image_free(&part);
    return status;
}

enum gi_status gi_imaging_bands(struct gi_imaging *imaging, struct gi_item *item,
                                struct gi_image *image, const struct gi_metadata *metadata,
                                const struct gi_file_info *info, struct gi_placement *placement,
                                struct gi_err *err)
{
    struct gi_image made = {0}, first = *image;
    char text[GI_BANDS_TEXT];
    int n = gi_bands_parts(&info->bands);
    first.data = NULL;
    first.channels = gi_bands_channels(&info->bands, 0);
    enum gi_status status = check_steps(gi_imaging_chain(imaging, item), &first, &info->bands, err);
    for (int i = 0; i < n && !status; i++) {
        item->source.part = 1 + i;
        status = run_part(imaging, item, i, &made, image, metadata, info, placement, err);
    }
    item->source.part = 0;
    gi_image_free(image);
    if (status)
        gi_image_free(&made);
    else
        *image = made;
    if (status != GI_E_UNSUPPORTED && status != GI_E_USAGE)
        return status;
    const struct gi_err why = *err;
    return gi_fail(err, status, "%s; it has %s: choose some, as in x.tif[bands=3,2,1]", why.text,
                   gi_bands_text(text, &info->bands));
}
