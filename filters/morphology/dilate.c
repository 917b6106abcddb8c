/* Dilation: the maximum filter with the reflected structuring element, by the primitive `min_max`.
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
    .manual = "Each sample becomes the maximum of the samples under the structuring element, "
              "channel by channel. Bright areas grow and dark areas shrink. The time does not "
              "depend on the size of a rectangle.\n\n" GI_FOOTPRINT_SHAPE_MANUAL
              "\n\n" GI_FOOTPRINT_ORIGIN_MANUAL "\n\n" GI_FLAT_HEIGHTS_MANUAL
              "\n\n" GI_OPACITY_ALPHA_MANUAL ", so that a cut-out grows.\n\n"
              "In float images the result is NaN if the "
              "structuring element covers a NaN, and -0 is less "
              "than 0, but equal to 0 with --heights.\n\n"
              "At pixel (x, y) a rectangle of w x h pixels covers "
              "the columns x - (w - 1) / 2 to x + w / 2 and the "
              "rows y - (h - 1) / 2 to y + h / 2, in integer "
              "division. The results are those of scipy's "
              "grey_dilation(). " GI_FLAT_PEERS
              " OpenCV by default counts only pixels inside the image; --border clamp gives the "
              "same, except with --mask.",
    GI_FLAT_ROW(gi_flat_options, gi_flat_plan_one),
};
