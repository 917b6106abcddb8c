/* White top-hat: the image minus its opening (F. Meyer, 1979).
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/flat.h"

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_flat *flat = plan->tables;
    enum gi_status status = gi_flat_both(plan, queue, work, &flat->erode, &flat->dilate, err);
    return status ? status : gi_flat_subtract(queue, work->dst, work->srcs, work->dst, err);
}

const struct gi_filter gi_filter_tophat = {
    .name = "tophat",
    .group = GI_GROUP_MORPHOLOGY,
    .planes = GI_PLANES_LUMA,
    .summary = "White top-hat: the image minus its opening",
    .examples = "gpuimg tophat in.png out.png --k 15\n"
                "gpuimg tophat stars.tif spots.png --k 9\n"
                "gpuimg tophat scan.png out.png --size 51x51 --border mirror",
    .manual = "The white top-hat is in - open(in): it keeps the bright spots that are smaller "
              "than the structuring element and removes the background.\n\n"
              "gpuimg help erode describes the structuring element and the treatment of "
              "NaN. " GI_FLAT_DIFFERENCE_ALPHA
              " With --border border the difference can be negative. It is then 0 in 8- and "
              "16-bit images, and stays negative in float images.\n\n"
              "The results are those of scipy's white_tophat() and OpenCV's MORPH_TOPHAT (F. "
              "Meyer, Iterative image transformations for an automatic screening of cervical "
              "smears, 1979). " GI_FLAT_PEERS,
    GI_FLAT_ROW(gi_flat_difference_options, gi_flat_plan_both),
};
