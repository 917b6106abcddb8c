/* Closing: a dilation followed by an erosion.
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
    .manual = "close = erode(dilate(in)): what is dark and holds no rectangle of this size goes, "
              "all else keeps its shape, as scipy's grey_closing() and OpenCV's MORPH_CLOSE have "
              "it (J. Serra, Image Analysis and Mathematical Morphology, 1982).\n\n"
              "The rectangle and what it does to alpha, NaN and borders are those of erode and "
              "dilate: help of those says which. " GI_FLAT_PEERS
              " Each of the two sees beside the image what "
              "--border makes of the image that it gets, as in scipy.",
    .options = gi_flat_options,
    .params_nbytes = sizeof(struct gi_flat_params),
    .check = gi_window_check,
    .plan = gi_flat_plan_both,
    .run = run,
    .measure = gi_opacity_measure,
};
