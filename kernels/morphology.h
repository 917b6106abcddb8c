/* Contracts of the family morphology: minimum and maximum over a structuring element, the rolling
 * ball, and transparent pixels that are ignored. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_MORPHOLOGY_H
#define GI_KERNELS_MORPHOLOGY_H

#include "kernels/footprint.h"
#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Minimum filter, or with `greatest` maximum filter, each channel separately: f(y, x) = the minimum
 * of src(y + j - anchor_y, x + i - anchor_x), 0 <= j < height, 0 <= i < width. With `runs` only
 * samples in these count; they are inside that rectangle, y never descending. Floats are ordered as
 * by gi_float_key(), so -0 is below +0; a neighbourhood with a NaN gives NaN, in its canonical
 * form. Border values are rounded to integers (half to even, saturated) first. */
struct gi_min_max {
    int width, height;      /* 1 to GI_TAPS_MAX */
    int anchor_x, anchor_y; /* 0 <= anchor < width, height */
    bool greatest;
    bool alpha_too; /* alpha is a channel like the others; else it is copied */
    struct gi_border_spec border;
    const struct gi_footprint_run
        *runs; /* host memory, read before the primitive returns; NULL: none */
    int nruns; /* 1 to GI_RUNS_MAX */
};

/* Rolling ball below the samples of a channel, with radius r in pixels: f(y, x) = the minimum of
 * src(y + j, x + i) + heights[|j| * (r + 1) + |i|], -r <= i, j <= r; a sum that is not less than
 * the minimum so far, NaN included, is skipped, and the initial minimum is infinity. The result is
 * f if `keep`, else src(y, x) - f. Alpha is copied. Border values are rounded to integers (half to
 * even, saturated) first. */
struct gi_rolling_ball {
    int radius; /* 0 to GI_ROLLING_BALL_MAX */
    /* Host memory, read before the primitive returns: (r + 1)^2, 0 or more, infinity outside the
     * ball; heights[0] is 0. */
    const float *heights;
    bool keep;
    struct gi_border_spec border;
};

/* Returns the last i of row j of the ball; -1 if the row is empty. */
static inline int gi_rolling_ball_reach(const struct gi_rolling_ball *spec, int j)
{
    int n = spec->radius + 1, i = n - 1;
    while (i >= 0 && spec->heights[j * n + i] > 3e38f)
        i--;
    return i;
}

/* Makes min, max and rank filters ignore transparent pixels: a pixel counts if its alpha is > 0.
 *
 * Without `picked` (before the filter): all samples of a pixel that does not count become `hidden`;
 * of a pixel that counts alpha becomes `shown` and the colour stays. `hidden` must be the sample
 * that the filter chooses last. If alpha is filtered too, it then becomes `hidden` exactly where no
 * pixel of the neighbourhood counts.
 *
 * With `picked`, the filtered image (after the filter): alpha is that of `src`, and so is the
 * colour where the alpha of `picked` is `hidden`; elsewhere the colour is that of `picked`. */
struct gi_ignore_transparent {
    const struct gi_image *picked; /* of the shape of `src`, on the backend; NULL: none yet */
    float hidden, shown;           /* two different samples of the type, no NaN */
};

/* ignore_transparent: `src` has alpha; `dst` may be spec->picked. Samples that stay are copied bit
 * for bit. */

#ifdef __cplusplus
}
#endif

#endif
