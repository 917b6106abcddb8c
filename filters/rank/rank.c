/* Rank filter: the sample of a neighbourhood at a given percentile (percentile filter).
 * SPDX-License-Identifier: MIT */
#include "filters/rank/rank_plan.h"

static const struct gi_option options[] = {
    {GI_OPTION("percent", REAL, struct gi_rank_params, percent), .letter = 'p',
     .default_text = "50", .min = 0, .max = 100, .unit = "%",
     .help = "The percentile: the place in the sorted list of the sample that is taken"},
    GI_FOOTPRINT_SHAPE_OPTIONS,
    GI_RANK_OPTIONS,
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_rank_params *p = plan->params;
    return gi_rank_plan(plan, p->percent, err);
}

const struct gi_filter gi_filter_rank = {
    .name = "rank",
    .group = GI_GROUP_FILTERS,
    .summary = "Rank filter: a percentile of k x k pixels",
    .examples = "gpuimg rank in.png out.png --percent 25\n"
                "gpuimg rank page.png paper.png --percent 90 --k 31\n"
                "gpuimg rank scan.png out.png --percent 10 --size 9x1 --border mirror",
    .manual =
        "A rank filter sorts the n samples around each pixel, channel by channel, and takes the "
        "sample at --percent of the sorted list: 0 is the minimum, 50 the median and 100 the "
        "maximum. In between it takes the sample at index n * percent / 100, rounded down and "
        "counted from 0. For the minimum and the maximum, gpuimg erode and gpuimg dilate are "
        "faster.\n\n"
        "gpuimg help median describes the structuring element (--k, --size, --shape, --mask), "
        "the treatment of NaN and the speed.\n\n" GI_OPACITY_ALPHA_MANUAL ".\n\n"
        "The results are those of scipy's percentile_filter().",
    .options = options,
    .params_nbytes = sizeof(struct gi_rank_params),
    .check = gi_footprint_check,
    .plan = plan,
    .run = gi_rank_run,
    .measure = gi_opacity_measure,
};
