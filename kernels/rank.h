/* Contracts of the family rank: rank filters, among them the median, and the mode filter.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_RANK_H
#define GI_KERNELS_RANK_H

#include "kernels/footprint.h"
#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rank filter in a rectangle, of each channel separately: the samples src(y + j - height / 2, x + i
 * - width / 2), 0 <= i < width, 0 <= j < height, are put in ascending order, and the sample at
 * index `rank` is the result. If there are `runs`, only samples in these runs count. Runs are
 * inside that rectangle and ordered by y. Floats are ordered as by gi_float_key(), so -0 is below
 * +0, and NaN is above all. A NaN as the result is canonical. Border values are first rounded to
 * integers (half to even, saturated).
 *
 * With `opaque` only samples of pixels with alpha > 0 count. If n samples count, the result is the
 * sample at index gi_rank_place(percent, n). If none counts, the result is the pixel's own sample,
 * bit for bit. `opaque` requires `runs`. It has no effect without alpha or if alpha is filtered
 * too. */
struct gi_median {
    int width, height; /* 1 to GI_MEDIAN_MAX */
    int rank;          /* 0 to number of samples - 1; the median is number / 2 */
    bool alpha_too;    /* true: alpha is filtered like the colours; false: copied */
    struct gi_border_spec border;
    const struct gi_footprint_run *runs; /* as in gi_min_max */
    int nruns;
    bool opaque;
    double percent; /* 0 to 100 */
};

/* Returns the index, in ascending order, of the sample below which `percent` percent of n samples
 * are: n * percent / 100, rounded down, but at most n - 1. n is 1 or more. */
GI_HOST_DEVICE static inline int gi_rank_place(double percent, int n)
{
    int place = (int)(n * percent / 100);
    return place < n ? place : n - 1;
}

/* Returns whether some samples are ignored. */
static inline bool gi_median_hides(const struct gi_median *spec, const struct gi_image *src)
{
    return spec->opaque && gi_has_alpha(src) && !spec->alpha_too;
}

/* Returns whether the filter is a median of k x k samples. */
static inline bool gi_median_is(const struct gi_median *spec, int k)
{
    return spec->width == k && spec->height == k && spec->rank == k * k / 2 && !spec->runs;
}

/* mode: the result is the most frequent sample of the neighbourhood, or the smallest of them on a
 * tie. A gi_median defines the neighbourhood; its `rank` is ignored. */

#ifdef __cplusplus
}
#endif

#endif
