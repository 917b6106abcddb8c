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
    GI_NLMEANS_ONE = 32768,    /* maximum weight: 441 weights times 255 fit in 32 bits */
    GI_NLMEANS_STEPS = 1023,   /* maximum patch difference; larger differences become this */
    GI_RANGE_ENTRIES = 1024,   /* maximum entries of a range table, for differences of 3 bytes */
};

/* The bilateral filter: a weighted mean of k x k pixels, h = k / 2. For pixel p and each neighbour
 * q = (y + j, x + i), -h <= i, j <= h, with colour samples p[c] and q[c] as floats:
 *   d = |q[0] - p[0]|, then d = d + |q[c] - p[c]| for further colours, ascending;  t = d * scale;
 *   q is skipped if its entry of `space` is 0 or if t < n - 1/2 is false (as for a NaN);
 *   e = t rounded half to even;
 *   w = fmaf(t - e, slope[e], value[e]) * space[|j| * (h + 1) + |i|], with alpha times that of q.
 * The sums s[c] = fmaf(w, q[c], s[c]) and a = a + w start at +0 in each row, with i ascending; the
 * sums of the rows are added from +0 with j ascending. If the sum of w is > 0, colour c becomes
 * s[c] / a, else it is unchanged. The last step follows. Alpha is copied. Border values are first
 * rounded to samples. Weights are at least 0.
 *
 * With a guide, d is the difference of the guide's colours at the two positions. q is then also
 * skipped if one of its own colours is not finite. */
struct gi_bilateral {
    int k;       /* odd, 1 to GI_BILATERAL_MAX */
    int n;       /* entries, 1 to GI_RANGE_ENTRIES */
    float scale; /* table entries per sample unit */
    /* Host memory, read before the primitive returns. `space` has (h + 1)^2 entries, which are 0
     * outside the disk of radius h. `value` and `slope` have n entries. `slope` is NULL if every
     * distance has an entry of its own. Then t = e = d, and `scale` is 1. */
    const float *space, *value, *slope;
    struct gi_border_spec border;
    const struct gi_image *guide;       /* image on the backend, as large as `src`, or NULL */
    float guide_value[GI_MAX_CHANNELS]; /* outside the guide, with GI_BORDER_VALUE */
};

/* Non-local means: each pixel becomes the mean of pixels (y + j, x + i), |i|, |j| <= search / 2,
 * weighted by the similarity of their patches to the patch at (y, x).
 *
 * Patches are compared in integers q(sample). For GI_U8 q is the sample itself. For other types q
 * is sample * scale in float, rounded half to even and limited to -2^29 .. 2^29, or 0 if the sample
 * is not finite. D is the sum of the squared differences of q at (y + v, x + u) and (y + j + v, x +
 * i + u), over all colours and |u|, |v| <= patch / 2, at most GI_NLMEANS_STEPS. The weight w is
 * weights[D >> shift], or 0 beyond the table, times the neighbour's alpha if there is alpha. In
 * GI_F32 w is 0 if a sample of the neighbour is not finite.
 *
 * Let S be the sum of w times the colour and A the sum of w. An integer becomes (2 S + A) / (2 A)
 * rounded down. A float becomes S / A with S = fmaf(w, colour, S) and A = A + w from +0 in raster
 * order; colours that are not finite count as 0. If A is not > 0, the colour is unchanged. Alpha is
 * copied. Border values are rounded to samples; `border` also defines the patches outside the
 * image. */
struct gi_nlmeans {
    int patch, search;       /* odd; at most GI_NLMEANS_PATCH_MAX and GI_NLMEANS_SEARCH_MAX */
    float scale;             /* steps per sample unit; GI_U8: unused */
    int shift;               /* 0 to 31 */
    int n;                   /* entries, 1 to GI_NLMEANS_ENTRIES */
    const uint16_t *weights; /* n entries, at most GI_NLMEANS_ONE; host, read before return */
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
