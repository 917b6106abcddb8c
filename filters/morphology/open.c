/* Morphological opening: an erosion followed by a dilation with the same structuring element (J.
 * Serra, 1982).
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/flat.h"

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_flat *flat = plan->tables;
    return gi_flat_both(plan, queue, work, &flat->erode, &flat->dilate, err);
}

const struct gi_filter gi_filter_open = {
    .name = "open",
    .group = GI_GROUP_MORPHOLOGY,
    .summary = "Morphological opening: erode, then dilate; removes bright spots",
    .examples = "gpuimg open in.png out.png\n"
                "gpuimg open mask.png clean.png --k 7\n"
                "gpuimg open scan.png out.png --size 25x1",
    .manual =
        "An opening is an erosion, followed by a dilation with the same structuring element. "
        "Bright spots that are too small for the structuring element are removed, and larger "
        "ones nearly keep their shape.\n\n"
        "gpuimg help erode describes the structuring element and the treatment of alpha and NaN. "
        "The erosion applies --border to the input, and the dilation applies --border to the "
        "image that it receives, as in scipy.\n\n"
        "The results are those of scipy's grey_opening() and OpenCV's MORPH_OPEN (J. Serra, "
        "Image Analysis and Mathematical Morphology, 1982). " GI_FLAT_PEERS,
    GI_FLAT_ROW(gi_flat_options, gi_flat_plan_both),
};
