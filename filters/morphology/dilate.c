/* Dilation: maximum filter with a structuring element.
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/flat.h"

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_flat *flat = plan->tables;
    return gi_flat_one(plan, queue, work, &flat->dilate, err);
}

const struct gi_filter gi_filter_dilate = {
    .name = "dilate",
    .group = GI_GROUP_MORPHOLOGY,
    .summary = "Dilate: maximum filter with a structuring element",
    .examples = "gpuimg dilate in.png out.png\n"
                "gpuimg dilate mask.png larger.png --k 15\n"
                "gpuimg dilate sprite.png out.png --size 5x3 --alpha",
    .manual =
        "Each sample becomes the greatest of those in a rectangle around it, each channel by "
        "itself:\n"
        "out(y, x) = max of in(y - j, x - i), for i from -(w / 2) to (w - 1) / 2 and j from -(h / "
        "2) to (h - 1) / 2, halves cut off: the window of erode turned round, as scipy's "
        "grey_dilation() has it. " GI_FLAT_PEERS " The time it takes does not depend on the "
        "rectangle. Outside the image --border clamp comes to what OpenCV does by default, but for "
        "a --mask: only what is in the image counts.\n\n" GI_SHAPE_MANUAL
        "\n\n" GI_OPACITY_ALPHA_MANUAL
        ", so that a cut-out grows. In float images NaN spreads: a rectangle that "
        "has one gives NaN; -0 is less than 0.",
    .options = gi_flat_options,
    .params_nbytes = sizeof(struct gi_flat_params),
    .check = gi_window_check,
    .plan = gi_flat_plan_one,
    .run = run,
    .measure = gi_opacity_measure,
};
