/* Rank filter: the sample of a neighbourhood at a given percentile.
 * SPDX-License-Identifier: MIT */
#include "filters/rank/rank.h"

static const struct gi_option options[] = {
    {.name = "percent",
     .letter = 'p',
     .type = GI_OPT_REAL,
     .offset = offsetof(struct gi_rank_params, percent),
     .default_text = "50",
     .min = 0,
     .max = 100,
     .unit = "%",
     .help = "How many of the samples are passed: none takes the least, all the greatest"},
    GI_SHAPE_OPTIONS,
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
        "Each sample becomes the one at a place of those in a rectangle around it in ascending "
        "order, each channel by itself: with n samples and --percent p the place n * p / 100, cut "
        "off to a whole number, the first being 0; 100 takes the last. It is one of the samples, "
        "nothing is rounded; the results are those of scipy's percentile_filter(). The minimum "
        "and the maximum are sooner made by erode and dilate.\n\n" GI_SHAPE_MANUAL "\n\n"
        "A side that is even has one pixel more before the one in the middle than after "
        "it. " GI_OPACITY_ALPHA_MANUAL ". NaN and what it costs are those of median.",
    .options = options,
    .params_nbytes = sizeof(struct gi_rank_params),
    .check = gi_window_check,
    .plan = plan,
    .run = gi_rank_run,
    .measure = gi_opacity_measure,
};
