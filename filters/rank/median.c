/* Median filter: the middle sample of a neighbourhood.
 * SPDX-License-Identifier: MIT */
#include "filters/rank/rank.h"
#include "filters/tone/otsu.h"

static const struct gi_option options[] = {
    {.name = "threshold",
     .letter = 't',
     .type = GI_OPT_LEVEL,
     .offset = offsetof(struct gi_rank_params, threshold),
     .amount = true,
     .help = "Only samples that differ from the median by more become it: a number of sample "
             "values, or a per cent of full scale"},
    GI_SHAPE_OPTIONS,
    GI_RANK_OPTIONS,
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_level *threshold = &((struct gi_rank_params *)params)->threshold;
    enum gi_status status = gi_window_check(params, err);
    if (status || threshold->kind == GI_LEVEL_UNSET)
        return status;
    if (threshold->value < 0)
        return gi_fail(err, GI_E_USAGE, "--threshold %g: want 0 or more", threshold->value);
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_rank_plan(plan, 50, err);
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_rank_params *p = plan->params;
    enum gi_status status = gi_rank_run(plan, queue, work, err);
    if (status || p->threshold.kind == GI_LEVEL_UNSET)
        return status;
    struct gi_point outlier = {.op = GI_POINT_OUTLIER, .alpha_too = p->alpha};
    outlier.t = (float)gi_level_number(&p->threshold, work->dst->type, 0);
    return queue->k->pointwise(queue, work->dst, work->srcs, work->dst, &outlier, err);
}

const struct gi_filter gi_filter_median = {
    .name = "median",
    .group = GI_GROUP_FILTERS,
    .summary = "Median filter: remove salt-and-pepper noise",
    .examples = "gpuimg median in.png out.png\n"
                "gpuimg median scan.png clean.png --k 5 --threshold 10%\n"
                "gpuimg median frame.tif background.tif --k 31 --shape disk --border mirror",
    .manual =
        "Each sample becomes the one in the middle of those in a rectangle around it in ascending "
        "order, each channel by itself: specks smaller than half of it go, edges stay. Of an even "
        "number it is the later one of the two in the middle, as in scipy. "
        "It is one of the samples, nothing is rounded; the results are those of scipy's "
        "median_filter() and, with --border clamp, of OpenCV's medianBlur().\n\n"
        "With --threshold only specks change: a sample becomes the median where it differs from "
        "that by more, and stays as it is everywhere else, where it is NaN too.\n\n" GI_SHAPE_MANUAL
        "\n\n" GI_OPACITY_ALPHA_MANUAL
        ". In float images NaN is above all numbers, so that the result is NaN where "
        "more than half of the samples are; -0 is less than 0.\n\n"
        "Squares of 3 and 5 are sorted in part by comparing pairs of vectors (A. Adams, Fast "
        "median filters using separable sorting networks, 2021). For larger ones histograms "
        "slide: in 8 bits of columns, which costs the same for any square to 255 (S. Perreault "
        "and P. Hebert, Median filtering in constant time, 2007), else of the square (T. Huang, "
        "1979). Windows of other shapes, and all windows of an image that has fully transparent "
        "pixels, are taken row by row: a sample costs as much as the window has rows on a CPU, and "
        "pixels on a GPU. --device auto chooses before it can know of such pixels, and reckons "
        "without them: where there are some and the window is large, --device cpu may be sooner.",
    .options = options,
    .params_nbytes = sizeof(struct gi_rank_params),
    .check = check,
    .plan = plan,
    .run = run,
    .measure = gi_opacity_measure,
};
