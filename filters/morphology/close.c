/* Morphological closing: a dilation followed by an erosion with the same structuring element (J.
 * Serra, 1982).
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/flat.h"

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_flat *flat = plan->tables;
    return gi_flat_both(plan, queue, work, &flat->dilate, &flat->erode, err);
}

const struct gi_filter gi_filter_close = {
    .name = "close",
    .group = GI_GROUP_MORPHOLOGY,
    .summary = "Morphological closing: dilate, then erode; fills dark spots",
    .examples = "gpuimg close in.png out.png\n"
                "gpuimg close mask.png whole.png --k 7\n"
                "gpuimg close scan.png paper.png --k 51",
    .manual =
        "A closing is a dilation, followed by an erosion with the same structuring element. Dark "
        "spots that are too small for the structuring element are filled, and larger ones nearly "
        "keep their shape.\n\n"
        "gpuimg help erode describes the structuring element and the treatment of alpha and NaN. "
        "The dilation applies --border to the input, and the erosion applies --border to the "
        "image that it receives, as in scipy.\n\n"
        "The results are those of scipy's grey_closing() and OpenCV's MORPH_CLOSE (J. Serra, "
        "Image Analysis and Mathematical Morphology, 1982). " GI_FLAT_PEERS,
    GI_FLAT_ROW(gi_flat_options, gi_flat_plan_both),
};
