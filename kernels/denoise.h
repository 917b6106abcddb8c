/* Contracts of the family denoise: the bilateral filter and non-local means.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_DENOISE_H
#define GI_KERNELS_DENOISE_H

#include <math.h>

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GI_BILATERAL_MAX = 255, /* k */
    GI_NLMEANS_PATCH_MAX = 15,
    GI_NLMEANS_SEARCH_MAX = 41,
    GI_NLMEANS_ENTRIES = 4096, /* maximum entries of a table of distances */
    GI_NLMEANS_ONE = 32768,    /* the maximum weight: 441 of them times 255 fit in 32 bits */
    GI_NLMEANS_STEPS = 1023,   /* the maximum difference: larger ones count as this */
    GI_RANGE_ENTRIES = 1024,   /* maximum entries of such a table; differences of three bytes fit */
};

/* The bilateral mean of k x k pixels, h = k / 2. For pixel p and each q = (y + j, x + i), -h <= i,
 * j <= h, with colour samples p[c], q[c] as floats:
 *   d = |q[0] - p[0]|, then d = d + |q[c] - p[c]| with the colours ascending;  t = d * scale;
 *   q is left out where t < n - 1/2 does not hold (NaN holds nothing), or space is 0; else e = t
 *   rounded half to even, w = fmaf(t - e, slope[e], value[e]) * space[|j| * (h + 1) + |i|], with
 *   alpha times q's.
 * Sums s[c] = fmaf(w, q[c], s[c]) and a = a + w along the row from +0 with i ascending, and those
 * of the rows added from +0 with j ascending. Where the sum of w is > 0 colour c becomes its s[c]
 * divided by it, elsewhere it stays; then the last step. Alpha is copied. Border values are rounded
 * to samples first. Weights are at least 0.
 *
 * With a guide, d is the difference of the guide's colours at both positions, and q is left out
 * also if one of its own colours is not finite. */
struct gi_bilateral {
    int k;       /* odd, 1 to GI_BILATERAL_MAX */
    int n;       /* entries, 1 to GI_RANGE_ENTRIES */
    float scale; /* table entries per sample unit */
    /* Host memory, read before the primitive returns: (h + 1)^2 entries, zeros at the ends of rows;
     * n; n. `slope` is NULL if every distance is an entry: t = e = d, scale 1. */
    const float *space, *value, *slope;
    struct gi_border_spec border;
    const struct gi_image *guide;       /* of the size of `src`, on the backend; NULL: none */
    float guide_value[GI_MAX_CHANNELS]; /* outside the guide, with GI_BORDER_VALUE */
};

/* Non-local means: means of pixels weighted by the similarity of their patches. q(sample) is the
 * sample itself for GI_U8, else sample * scale in float rounded half to even, limited to -2^29 ..
 * 2^29, 0 if the sample is not finite. For pixel (y, x) and each (y + j, x + i), |i|, |j| <= search
 * / 2: D = the sum over the patch, |u|, |v| <= patch / 2, and the colours of the square of the
 * difference of q at (y + v, x + u) and (y + j + v, x + i + u), at most GI_NLMEANS_STEPS; w =
 * weights[D >> shift], 0 beyond the table, times the pixel's own weight: its alpha; 1 without
 * alpha; in GI_F32 0 if one of its samples is not finite. With S the sum of w times the colour and
 * A that of w, an integer becomes (2 S + A) / (2 A) rounded down; a float (non-finite ones count as
 * 0) S / A with S = fmaf(w, colour, S) and A = A + w from +0 in raster order. If A is not > 0 the
 * colour is unchanged. Alpha is copied. Border values are rounded to samples first; `border` also
 * defines the patches outside the image. */
struct gi_nlmeans {
    int patch, search;       /* odd, 1 to GI_NLMEANS_PATCH_MAX and GI_NLMEANS_SEARCH_MAX */
    float scale;             /* steps per sample unit; GI_U8: unused */
    int shift;               /* 0 to 31 */
    int n;                   /* entries, 1 to GI_NLMEANS_ENTRIES */
    const uint16_t *weights; /* n, at most GI_NLMEANS_ONE; host memory, read before it returns */
    struct gi_border_spec border;
};

/* q of a sample as a float. */
GI_HOST_DEVICE static inline int gi_nlmeans_step(float v, float scale)
{
    float t = v * scale, most = 536870912.0f;
    if (!(v - v == 0))
        return 0;
    return (int)rintf(t < -most ? -most : t > most ? most : t);
}

#ifdef __cplusplus
}
#endif

#endif
