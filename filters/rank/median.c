/* Median filter: replaces each sample by the median of its neighbourhood, or only samples that
 * differ from the median by more than a threshold.
 * SPDX-License-Identifier: MIT */
#include "filters/rank/rank_plan.h"
#include "filters/tone/threshold_level.h"
#include "kernels/arithmetic.h"
#include "kernels/kernels.h"

static const struct gi_option options[] = {
    {GI_OPTION("threshold", LEVEL, struct gi_rank_params, threshold), .letter = 't', .amount = true,
     .help = "Change only samples that differ from the median by more than this; without this "
             "option all samples become their median"},
    GI_FOOTPRINT_SHAPE_OPTIONS,
    GI_RANK_OPTIONS,
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_level *threshold = &((struct gi_rank_params *)params)->threshold;
    enum gi_status status = gi_footprint_check(params, err);
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
    struct gi_arithmetic outlier = {
        .op = GI_ARITHMETIC_OUTLIER, .plain = true, .other = work->dst, .alpha_too = p->alpha};
    outlier.t = (float)gi_level_number(&p->threshold, work->dst->type);
    return queue->k->arithmetic(queue, work->dst, work->srcs, &outlier, err);
}

const struct gi_filter gi_filter_median = {
    .name = "median",
    .group = GI_GROUP_FILTERS,
    .summary = "Median filter: remove salt-and-pepper noise",
    .examples = "gpuimg median in.png out.png\n"
                "gpuimg median scan.png clean.png --k 5 --threshold 10%\n"
                "gpuimg median frame.tif background.tif --k 31 --shape disk --border mirror",
    .manual =
        "Each sample becomes the median of the samples around it, channel by channel. Specks "
        "that are smaller than half of the structuring element are removed, and edges stay. If "
        "the number of samples is even, the median is the later one of the two in the middle, as "
        "in scipy.\n\n"
        "With --threshold only specks change: a sample becomes the median if it differs from the "
        "median by more than the threshold. All other samples do not change, and neither does "
        "NaN.\n\n" GI_FOOTPRINT_SHAPE_MANUAL "\n\n" GI_OPACITY_ALPHA_MANUAL ".\n\n"
        "In float images NaN counts as larger than all numbers, so that the result is "
        "NaN if more than half of the samples are NaN; -0 is less than 0. The results "
        "are those of scipy's median_filter() and, with --border clamp, of OpenCV's "
        "medianBlur().\n\n"
        "Speed: for squares in 8-bit images, up to k = 255, the time does not depend on "
        "k; on a GPU it hardly depends on k up to k = 31 in 16-bit and float images too. For "
        "disks, diamonds, masks and images with fully transparent pixels, the "
        "time per sample grows with the number of rows of the structuring element on a "
        "CPU, and with the number of its pixels on a GPU. --device auto does not take "
        "transparent pixels into account: if there are any and k is large, try --device "
        "cpu.\n\n"
        "Sources: sorting networks for k = 3 and k = 5 (A. Adams, Fast median filters "
        "using separable sorting networks, 2021); a histogram per column for larger "
        "squares in 8 bits, up to k = 255 (S. Perreault, P. Hebert, Median filtering in "
        "constant time, 2007); on a GPU, bit planes of sorted tiles (B. Weiss, Fast median and "
        "bilateral filtering, 2006; Y. Moroto, N. Umetani, Constant time median filter using 2D "
        "wavelet matrix, 2022); one sliding histogram for all others (T. Huang, 1979).",
    .options = options,
    .params_nbytes = sizeof(struct gi_rank_params),
    .check = check,
    .plan = plan,
    .run = run,
    .measure = gi_opacity_measure,
};
