/* Contracts of the family morphology: minimum and maximum over a structuring element, flat or with
 * heights, transparent pixels that are ignored, morphological reconstruction, hysteresis, and
 * thinning.
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

/* Non-flat morphology: erosion of each channel separately with a structuring element that has
 * heights, f(y, x) = the minimum of src(y + j, x + i) - height over the pixels (j, i) of the runs,
 * or dilation with `greatest`, f(y, x) = the maximum of src(y + j, x + i) + height. A result -0
 * becomes +0. If the structuring element covers a NaN, f is NaN; with `ignore_nan` NaNs do not
 * count, and f is infinity, or -infinity with `greatest`, if nothing counts. The result is f, or
 * src(y, x) - f with `difference`. Then the last step. Border values are first rounded to integers
 * (half to even, saturated).
 *
 * With `opaque` only pixels with alpha > 0 count. If none counts, the result is the pixel's own
 * sample, bit for bit. `opaque` has no effect without alpha or if alpha is filtered too. */
struct gi_nonflat {
    const struct gi_footprint_run *runs; /* ordered by y; host memory, like `heights` read before
                                            the primitive returns */
    int nruns;                           /* 1 to GI_RUNS_MAX */
    const float *heights; /* finite, in sample units, one for each pixel of the runs, in order */
    bool greatest, difference, ignore_nan;
    bool alpha_too; /* true: alpha is filtered like the colours; false: copied */
    bool opaque;
    struct gi_border_spec border;
};

/* Returns whether some pixels are ignored. */
static inline bool gi_nonflat_hides(const struct gi_nonflat *spec, const struct gi_image *src)
{
    return spec->opaque && gi_has_alpha(src) && !spec->alpha_too;
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

/* hysteresis: a sample becomes full scale if it is > low and 8-connected by samples > low with one
 * that is > high, else 0. NaN is not > any level. The images have one channel. */
struct gi_hysteresis {
    float low, high; /* sample units; low <= high */
};

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
