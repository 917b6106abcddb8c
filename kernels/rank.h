/* Samples of a window by their order: the least, the greatest, the median, the most frequent.
 * Included by kernels/kernels.h, whose rules hold here too. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_RANK_H
#define GI_KERNELS_RANK_H

#include "imgio/image.h"
#include "kernels/border.h"
#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GI_RUNS_MAX = 4001,   /* of a window: as many as its rows, GI_TAPS_MAX */
    GI_BALL_MAX = 250,    /* radius of a ball, pixels: rows that it reaches stay in a cache */
    GI_MEDIAN_MAX = 1001, /* side of a median's: copies of the CPU's tiles stay small */
};

/* Pixels x + first to x + last of row y + `y`, seen from the pixel (x, y). */
struct gi_run {
    int16_t y, first, last;
};

static inline int gi_runs_pixels(const struct gi_run *runs, int n)
{
    int pixels = 0;
    for (int i = 0; i < n; i++)
        pixels += runs[i].last - runs[i].first + 1;
    return pixels;
}

/* Minimum filter, or with `greatest` maximum filter, each channel separately: f(y, x) = the minimum
 * of src(y + j - anchor_y, x + i - anchor_x), 0 <= j < height, 0 <= i < width. With `runs` only
 * samples in these count; they are inside that rectangle, y never descending. Floats are ordered as
 * by gi_float_key(), so -0 is below +0; a neighbourhood with a NaN gives NaN, in its canonical
 * form. Border values are rounded to integers (half to even, saturated) first. */
struct gi_extreme {
    int width, height;      /* 1 to GI_TAPS_MAX */
    int anchor_x, anchor_y; /* 0 <= anchor < width, height */
    bool greatest;
    bool alpha_too; /* alpha is a channel like the others; else it is copied */
    struct gi_edge edge;
    const struct gi_run *runs; /* host memory, read before the primitive returns; NULL: none */
    int nruns;                 /* 1 to GI_RUNS_MAX */
};

/* Rolling ball below the samples of a channel, with radius r in pixels: f(y, x) = the minimum of
 * src(y + j, x + i) + heights[|j| * (r + 1) + |i|], -r <= i, j <= r; a sum that is not less than
 * the minimum so far, NaN included, is skipped, and the initial minimum is infinity. The result is
 * f if `keep`, else src(y, x) - f. Alpha is copied. Border values are rounded to integers (half to
 * even, saturated) first. */
struct gi_ball {
    int radius; /* 0 to GI_BALL_MAX */
    /* Host memory, read before the primitive returns: (r + 1)^2, 0 or more, infinity outside the
     * ball; heights[0] is 0. */
    const float *heights;
    bool keep;
    struct gi_edge edge;
};

/* The last i of row j of the ball, -1 where it has none. */
static inline int gi_ball_reach(const struct gi_ball *spec, int j)
{
    int n = spec->radius + 1, i = n - 1;
    while (i >= 0 && spec->heights[j * n + i] > 3e38f)
        i--;
    return i;
}

/* Rank filter in a rectangle, each channel separately: of src(y + j - height / 2, x + i - width /
 * 2), 0 <= i < width, 0 <= j < height, in ascending order the sample at index `rank`. With `runs`,
 * of the samples in these, which are inside that rectangle, y never descending. Floats are ordered
 * as by gi_float_key(), so -0 is below +0, and NaN is above all, in its canonical form. Border
 * values are rounded to integers (half to even, saturated) first.
 *
 * With `opaque`, which requires `runs` and has no effect if there is no alpha or alpha is not
 * copied, only samples of pixels with alpha > 0 count: if n of them do, the result is the sample at
 * gi_rank_place(percent, n); if none does, the pixel's own sample, bit for bit. */
struct gi_median {
    int width, height; /* 1 to GI_MEDIAN_MAX */
    int rank;          /* 0 to the samples less 1; half of them: the median */
    bool alpha_too;    /* alpha is a channel like the others; else it is copied */
    struct gi_edge edge;
    const struct gi_run *runs; /* as in gi_extreme */
    int nruns;
    bool opaque;
    double percent; /* 0 to 100 */
};

/* The place of n samples, 1 or more, below which `percent` of them are; at most the last. */
GI_HOST_DEVICE static inline int gi_rank_place(double percent, int n)
{
    int place = (int)(n * percent / 100);
    return place < n ? place : n - 1;
}

/* Are there samples that do not count? */
static inline bool gi_median_hides(const struct gi_median *spec, const struct gi_image *src)
{
    return spec->opaque && gi_has_alpha(src) && !spec->alpha_too;
}

/* Is it the median of k x k samples? */
static inline bool gi_median_is(const struct gi_median *spec, int k)
{
    return spec->width == k && spec->height == k && spec->rank == k * k / 2 && !spec->runs;
}

typedef enum gi_status gi_extreme_fn(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_image *src, const struct gi_extreme *spec,
                                     struct gi_err *err);
typedef enum gi_status gi_ball_fn(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_ball *spec,
                                  struct gi_err *err);
typedef enum gi_status gi_median_fn(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_median *spec,
                                    struct gi_err *err);
/* The most frequent sample of the same window, of equals the least; spec->rank says nothing. GI_U8
 * and GI_U16 only. */
typedef enum gi_status gi_mode_fn(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_median *spec,
                                  struct gi_err *err);

#ifdef __cplusplus
}
#endif
#endif
