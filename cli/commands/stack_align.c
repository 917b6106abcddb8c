/* Aligns the images of a stack.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/stack_align.h"

#include <stdlib.h>
#include <string.h>

#include "filters/geometry/align.h"

#define SCORE_MIN 0.5

static enum gi_status keep(struct gi_image *reference, const struct gi_image *image,
                           struct gi_err *err)
{
    return gi_image_convert(reference, image, image->type, err);
}

static enum gi_status find(struct gi_align *found, const struct gi_stack_align *align,
                           const struct gi_image *image, struct gi_imaging *imaging,
                           struct gi_item *item, struct gi_err *err)
{
    struct gi_align_params *params = gi_filter_params(&gi_filter_align);
    const struct gi_step step = {
        .filter = &gi_filter_align, .params = params, .others = &align->reference, .nothers = 1};
    /* a placeholder, because the image is not loaded by its name */
    enum gi_status status =
        gi_option_set(params, gi_filter_align.options, "reference", "first", err);
    params->rotate = align->rotate;
    params->scale = align->scale;
    if (!status)
        status = gi_imaging_step(imaging, &item->line, NULL, image, &step, found, err);
    free(params);
    return status;
}

static enum gi_status move(struct gi_image *image, const struct gi_align *found,
                           struct gi_imaging *imaging, struct gi_item *item, struct gi_err *err)
{
    const struct gi_filter *filter;
    void *params;
    enum gi_status status = gi_align_step(&filter, &params, found, err);
    const struct gi_step step = {.filter = filter, .params = params};
    struct gi_image moved;
    if (!status)
        status = gi_option_set(params, filter->options, "border", "clamp", err);
    if (!status)
        status = gi_imaging_step(imaging, &item->line, &moved, image, &step, NULL, err);
    free(params);
    if (status)
        return status;
    gi_image_free(image);
    *image = moved;
    return GI_OK;
}

enum gi_status gi_stack_align(struct gi_stack_align *align, struct gi_image *image,
                              struct gi_imaging *imaging, struct gi_item *item, struct gi_err *err)
{
    struct gi_align found = {0};
    struct gi_err warning = {0};
    if (!align->reference.data)
        return keep(&align->reference, image, err);
    enum gi_status status = find(&found, align, image, imaging, item, err);
    if (status)
        return status;
    if (found.score < SCORE_MIN)
        gi_fail(&warning, GI_E_UNSUPPORTED,
                "is moved by %.2f,%.2f, with a score of only %.2f: probably wrong", found.dx,
                found.dy, found.score);
    status = gi_cli_warn_or_fail(&warning, item->line.input, gi_imaging_options(imaging)->io, err);
    return status ? status : move(image, &found, imaging, item, err);
}

void gi_stack_align_free(struct gi_stack_align *align)
{
    gi_image_free(&align->reference);
}
