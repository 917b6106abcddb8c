/* Contracts of the family morphology: minimum and maximum over a structuring element, the rolling
 * ball, transparent pixels that are ignored, morphological reconstruction, and thinning.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_MORPHOLOGY_H
#define GI_KERNELS_MORPHOLOGY_H

#include "kernels/footprint.h"
#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Minimum filter (erosion) of each channel separately, or maximum filter (dilation) with
 * `greatest`: f(y, x) = the minimum of src(y + j - anchor_y, x + i - anchor_x), 0 <= j < height, 0
 * <= i < width. If there are `runs`, only samples in these runs count. Runs are inside that
 * rectangle and ordered by y. Floats are ordered as by gi_float_key(), so -0 is below +0. If a NaN
 * is in the neighbourhood, the result is the canonical NaN. Border values are first rounded to
 * integers (half to even, saturated). */
struct gi_min_max {
    int width, height;      /* 1 to GI_TAPS_MAX */
    int anchor_x, anchor_y; /* 0 <= anchor < width, height */
    bool greatest;
    bool alpha_too; /* true: alpha is filtered like the colours; false: copied */
    struct gi_border_spec border;
    const struct gi_footprint_run
        *runs; /* host memory, read before the primitive returns; NULL for a rectangle */
    int nruns; /* 1 to GI_RUNS_MAX */
};

/* Rolling ball of radius r pixels below the samples of each channel: f(y, x) = the minimum of src(y
 * + j, x + i) + heights[|j| * (r + 1) + |i|], -r <= i, j <= r. The minimum starts at infinity, and
 * a sum replaces it only if the sum is less (never if the sum is NaN). The result is f if `keep`,
 * else src(y, x) - f. Alpha is copied. Border values are first rounded to integers (half to even,
 * saturated). */
struct gi_rolling_ball {
    int radius; /* 0 to GI_ROLLING_BALL_MAX */
    /* Host memory, read before the primitive returns. There are (r + 1)^2 numbers of 0 or more,
     * which are infinity outside the ball. heights[0] is 0. */
    const float *heights;
    bool keep;
    struct gi_border_spec border;
};

/* Returns the last column offset i inside the ball in row offset j, or -1 if there is none. */
static inline int gi_rolling_ball_reach(const struct gi_rolling_ball *spec, int j)
{
    int n = spec->radius + 1, i = n - 1;
    while (i >= 0 && spec->heights[j * n + i] > 3e38f)
        i--;
    return i;
}

/* ignore_transparent: makes min/max and rank filters ignore transparent pixels. A pixel counts if
 * its alpha is > 0. The primitive is called before and after the filter.
 *
 * Before the filter `picked` is NULL. All samples of a pixel that does not count become `hidden`.
 * The alpha of a pixel that counts becomes `shown`, and its colour is unchanged. `hidden` must be
 * the sample that the filter chooses last. If the filter filters alpha too, the filtered alpha is
 * `hidden` exactly where no pixel of the neighbourhood counts.
 *
 * After the filter `picked` is the filtered image. The result has the alpha of `src`. Where the
 * alpha of `picked` is `hidden`, the result has the colour of `src`, elsewhere the colour of
 * `picked`. */
struct gi_ignore_transparent {
    const struct gi_image *picked; /* on the backend, shaped as `src`; NULL before the filter */
    float hidden, shown;           /* two different samples of the type, no NaN */
};

/* ignore_transparent: `src` has alpha; `dst` may be spec->picked. Samples are copied bit for
 * bit. */

/* Morphological reconstruction of `seed` by dilation under `src`, of each colour channel separately
 * (L. Vincent, Morphological grayscale reconstruction in image analysis, IEEE Trans. Image
 * Processing 2(2), 1993). f is at first the minimum of seed and src. Then f becomes the minimum of
 * src and the maximum of f over the pixel and its 4 or 8 neighbours, again and again, until it no
 * longer changes. This limit does not depend on the order of the steps. -0 counts as +0 and becomes
 * +0. Where seed or src is NaN, the result is the canonical NaN, and other pixels do not have this
 * pixel as a neighbour. Alpha is copied from `src`. */
struct gi_reconstruct {
    const struct gi_image *seed; /* on the backend, shaped as `src` */
    int connectivity;            /* 4 or 8 */
};

/* reconstruct: `dst` may be spec->seed. */

enum { GI_THIN_PASSES_MAX = 4 };

/* Thinning of a mask by lookup tables. The foreground is at first the pixels that are > 0. A pass
 * removes every foreground pixel whose code is marked in the table of the pass, all at once. The
 * code has bit i set if neighbour i is foreground; the neighbours are numbered from 0 to 7 in
 * raster order, and pixels outside the image are background. A cycle is npasses passes with the
 * tables in order. Cycles follow until one removes nothing, or until there were `cycles` of them,
 * if that is not 0. The result is full scale in the foreground, else 0. */
struct gi_thin {
    /* Bit code % 32 of word code / 32. */
    uint32_t removes[GI_THIN_PASSES_MAX][8];
    int npasses, cycles;
};

/* thin: the images have one channel. */

#ifdef __cplusplus
}
#endif

#endif
