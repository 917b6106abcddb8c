/* Contracts of the family rank: rank filters, among them the median, and the mode filter.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_RANK_H
#define GI_KERNELS_RANK_H

#include "kernels/footprint.h"
#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rank filter in a rectangle, each channel separately: the sample at index `rank` of src(y + j -
 * height / 2, x + i - width / 2), 0 <= i < width, 0 <= j < height, in ascending order. With `runs`
 * only samples in these count; they are inside that rectangle, y never descending. Floats are
 * ordered as by gi_float_key(), so -0 is below +0, and NaN is above all, in its canonical form.
 * Border values are rounded to integers (half to even, saturated) first.
 *
 * With `opaque`, which requires `runs` and has no effect if there is no alpha or alpha is not
 * copied, only samples of pixels with alpha > 0 count: if n of them do, the result is the sample at
 * gi_rank_place(percent, n); if none does, the pixel's own sample, bit for bit. */
struct gi_median {
    int width, height; /* 1 to GI_MEDIAN_MAX */
    int rank;          /* 0 to the number of samples - 1; half of that number: the median */
    bool alpha_too;    /* alpha is a channel like the others; else it is copied */
    struct gi_border_spec border;
    const struct gi_footprint_run *runs; /* as in gi_min_max */
    int nruns;
    bool opaque;
    double percent; /* 0 to 100 */
};

/* Returns the rank among n samples, 1 or more, below which `percent` of them are; at most n - 1. */
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

/* Returns whether it is the median of k x k samples. */
static inline bool gi_median_is(const struct gi_median *spec, int k)
{
    return spec->width == k && spec->height == k && spec->rank == k * k / 2 && !spec->runs;
}

/* mode: the most frequent sample of the neighbourhood of a gi_median, the smallest on a tie;
 * spec->rank says nothing. */

#ifdef __cplusplus
}
#endif

#endif
