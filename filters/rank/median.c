/* Median: the sample in the middle of those about a pixel.
 * SPDX-License-Identifier: MIT */
#include "filters/rank/rank.h"

static const struct gi_option options[] = {GI_RANK_OPTIONS};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    return gi_rank_plan(plan, 50, err);
}

const struct gi_filter gi_filter_median = {
    .name = "median",
    .summary = "Remove specks: the median of k x k pixels",
    .examples = "gpuimg median in.png out.png\n"
                "gpuimg median scan.png clean.png --k 5\n"
                "gpuimg median frame.tif background.tif --size 101x31 --border mirror",
    .manual =
        "Each sample becomes the one in the middle of those in a rectangle around it in ascending "
        "order, each channel by itself: specks smaller than half of it go, edges stay. Of an even "
        "number it is the later one of the two in the middle, as in scipy. "
        "It is one of the samples, nothing is rounded; the results are those of scipy's "
        "median_filter() and, with --border clamp, of OpenCV's medianBlur().\n\n"
        "Alpha stays as it is, and colour counts however transparent it is; --alpha filters alpha "
        "like a colour. In float images NaN is above all numbers, so that the result is NaN where "
        "more than half of the samples are; -0 is less than 0.\n\n"
        "Squares of 3 and 5 are sorted in part by comparing pairs of vectors (A. Adams, Fast "
        "median filters using separable sorting networks, 2021). For larger ones histograms "
        "slide: in 8 bits of columns, which costs the same for any square to 255 (S. Perreault "
        "and P. Hebert, Median filtering in constant time, 2007), else of the square (T. Huang, "
        "1979).",
    .options = options,
    .params_nbytes = sizeof(struct gi_rank_params),
    .check = gi_window_check,
    .plan = plan,
    .run = gi_rank_run,
};
