/* Fuses the images of a stack, by runs of the operation stack on one image each.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/stack_fusion.h"

/* Runs a part of the fusion on an image. *made, which others[0] or others[1] may be, is replaced.
 */
static enum gi_status run(struct gi_image *made, const struct gi_image *image,
                          const struct gi_image *others, int nothers,
                          const struct gi_stack_params *params, struct gi_imaging *imaging,
                          struct gi_line *line, struct gi_err *err)
{
    const struct gi_step step = {
        .filter = &gi_filter_stack, .params = params, .others = others, .nothers = nothers};
    struct gi_image next;
    enum gi_status status = gi_imaging_step(imaging, line, &next, image, &step, NULL, err);
    if (status)
        return status;
    gi_image_free(made);
    *made = next;
    return GI_OK;
}

enum gi_status gi_stack_fusion_take(struct gi_stack_fusion *fusion,
                                    const struct gi_stack_params *params,
                                    const struct gi_image *image, int number,
                                    struct gi_imaging *imaging, struct gi_line *line,
                                    struct gi_err *err)
{
    struct gi_stack_params weigh = *params;
    weigh.fuse = GI_STACK_FUSE_WEIGH;
    weigh.images = 1;
    weigh.number = number;
    return run(&fusion->state, image, &fusion->state, number > 0, &weigh, imaging, line, err);
}

enum gi_status gi_stack_fusion_finish(struct gi_stack_fusion *fusion, struct gi_image *result,
                                      const struct gi_stack_params *params,
                                      struct gi_stack_strip *strip, const struct gi_image *shape,
                                      struct gi_imaging *imaging, struct gi_line *line,
                                      struct gi_err *err)
{
    struct gi_stack_params part = *params;
    struct gi_image image, sum = {0};
    enum gi_status status =
        gi_image_alloc(&image, shape->width, shape->height, shape->channels, shape->type, err);
    if (status)
        return status;
    part.images = 1;
    part.fuse = GI_STACK_FUSE_ADD;
    for (int k = 0; k < gi_stack_strip_images(strip) && !status; k++) {
        const struct gi_image others[] = {fusion->state, sum};
        part.number = k;
        status = gi_stack_strip_get(strip, &image, k, err);
        if (!status)
            status = run(&sum, &image, others, k ? 2 : 1, &part, imaging, line, err);
    }
    gi_image_free(&image);
    gi_image_free(&fusion->state);
    part.fuse = GI_STACK_FUSE_FINISH;
    part.fused = *shape;
    if (!status)
        status = run(result, &sum, NULL, 0, &part, imaging, line, err);
    gi_image_free(&sum);
    return status;
}

void gi_stack_fusion_free(struct gi_stack_fusion *fusion)
{
    gi_image_free(&fusion->state);
}
