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

/* The least sample of a window, or where `greatest` the greatest, each channel by itself:
 * f(y, x) = that of src(y + j - anchor_y, x + i - anchor_x), 0 <= j < height, 0 <= i < width. With
 * `runs` only samples in one of these count, which lie in that rectangle, y never descending.
 * Floats are ordered as by gi_float_key(), so -0 is below +0; a window that has a NaN gives NaN,
 * stored as everywhere. Border values are rounded to integers (half to even, saturated) first. */
struct gi_extreme {
    int width, height;      /* 1 to GI_TAPS_MAX */
    int anchor_x, anchor_y; /* 0 <= anchor < width, height */
    bool greatest;
    bool alpha_too; /* alpha is a channel like the others; else it is copied */
    struct gi_edge edge;
    const struct gi_run *runs; /* host memory, read before the primitive returns; NULL: none */
    int nruns;                 /* 1 to GI_RUNS_MAX */
};

/* The sample of a rank in a rectangle, each channel by itself: of src(y + j - height / 2, x + i -
 * width / 2), 0 <= i < width, 0 <= j < height, in ascending order the one at place `rank`. With
 * `runs` of the samples in these, which lie in that rectangle, y never descending. Floats are
 * ordered as by gi_float_key(), so -0 is below +0, and NaN is above all, stored as everywhere.
 * Border values are rounded to integers (half to even, saturated) first. */
struct gi_median {
    int width, height; /* 1 to GI_MEDIAN_MAX */
    int rank;          /* 0 to the samples less 1; half of them: the median */
    bool alpha_too;    /* alpha is a channel like the others; else it is copied */
    struct gi_edge edge;
    const struct gi_run *runs; /* as in gi_extreme */
    int nruns;
};

/* The most frequent sample of a rectangle that lies as gi_median's, of equals the least, each
 * channel by itself; GI_U8 and GI_U16 only. Border values are rounded to integers (half to even,
 * saturated) first. */
struct gi_mode {
    int width, height; /* 1 to GI_MEDIAN_MAX */
    bool alpha_too;    /* alpha is a channel like the others; else it is copied */
    struct gi_edge edge;
};

/* Is it the median of k x k samples? */
static inline bool gi_median_is(const struct gi_median *spec, int k)
{
    return spec->width == k && spec->height == k && spec->rank == k * k / 2 && !spec->runs;
}

typedef enum gi_status gi_extreme_fn(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_image *src, const struct gi_extreme *spec,
                                     struct gi_err *err);
typedef enum gi_status gi_median_fn(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_median *spec,
                                    struct gi_err *err);
typedef enum gi_status gi_mode_fn(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_mode *spec,
                                  struct gi_err *err);

#ifdef __cplusplus
}
#endif
#endif
