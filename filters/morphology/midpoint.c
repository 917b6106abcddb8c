/* Midpoint filter: the mean of the local minimum and the local maximum under a structuring element
 * (R. Gonzalez and R. Woods, Digital Image Processing, 5.3).
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/flat.h"

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    enum gi_status status = gi_flat_plan_one(plan, err);
    plan->cost.other *= 2;
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_flat *flat = plan->tables;
    /* The neighbourhood is that of `erode`, because that of `dilate` is reflected. */
    struct gi_flat_filter greatest = flat->erode;
    greatest.flat.greatest = true;
    return gi_flat_pair(plan, queue, work, &greatest, &flat->erode, GI_ARITHMETIC_MIDDLE, true,
                        err);
}

const struct gi_filter gi_filter_midpoint = {
    .name = "midpoint",
    .group = GI_GROUP_FILTERS,
    .summary = "Midpoint filter: mean of local minimum and maximum",
    .examples = "gpuimg midpoint in.png out.png\n"
                "gpuimg midpoint scan.png level.png --k 15\n"
                "gpuimg midpoint frame.tif out.tif --size 9x3 --border mirror",
    .manual = "Each sample becomes (minimum + maximum) / 2 of the samples under the structuring "
              "element, channel by channel. This is the best estimate if the noise is uniformly "
              "distributed.\n\n"
              "gpuimg help erode describes the structuring element and the treatment of alpha "
              "and NaN.\n\n"
              "The result is rounded once; a tie is rounded to the even number. Source: R. C. "
              "Gonzalez, R. E. Woods, Digital Image Processing, section 5.3.",
    GI_FLAT_ROW(gi_flat_midpoint_options, plan),
};
