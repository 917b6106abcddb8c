/* Thresholds that follow the mean and the deviation of a window, or its extremes. Included by
 * kernels/kernels.h, whose rules hold here too. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_LOCAL_H
#define GI_KERNELS_LOCAL_H

#include <math.h>
#include <string.h>

#include "imgio/image.h"
#include "kernels/border.h"
#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GI_LOCAL_LEVELS = 1 << 20 }; /* that floats are taken for */

/* A sample counts as a whole number v, its level: of GI_U8 and GI_U16 itself, of GI_F32 (sample -
 * lo) * scale in double, 0 where that is below 0 or NaN, GI_LOCAL_LEVELS - 1 where it is above, +
 * 0.5, cut off. Border values of GI_U8 and GI_U16 are rounded to integers (half to even, saturated)
 * first.
 *
 * With S the sum of the levels of the k x k samples around one, Q that of their squares, both
 * exact, and N = k * k, a sample is above its threshold where, all in double,
 *   A > 0, A = (N * v - S) + shift, where `mean`; else with
 *   D = N * Q - S * S, 0 or more, exact and then rounded as gi_local_spread() does,
 *   A = fma(part, S, (N * v - S) + shift), and where swell is not 0
 *       A - (swell * E(decay * u)) * u, u = S - base, E as gi_local_fall(),
 *   t = fma(slope, S, level):
 *   A > t * sqrt(D), that is t < 0 ? A > 0 || A * A < t * t * D : A > 0 && A * A > t * t * D. */
struct gi_local {
    int k; /* odd, 1 to GI_TAPS_MAX */
    bool mean, invert;
    double lo, scale; /* GI_F32 */
    double shift, part, slope, level, swell, decay, base;
    int above, below; /* rows at the top and at the bottom that gi_local_spread_fn does not note */
    struct gi_edge edge;
};

/* Colour samples: full scale where (above its threshold) != invert, else 0; alpha is copied. Each
 * channel separately. */
typedef enum gi_status gi_local_threshold_fn(struct gi_queue *queue, struct gi_image *dst,
                                             const struct gi_image *src,
                                             const struct gi_local *spec, struct gi_err *err);

/* *most = the greatest D of the colour samples, but of spec->above rows and spec->below. Waits. */
typedef enum gi_status gi_local_spread_fn(struct gi_queue *queue, double *most,
                                          const struct gi_image *src, const struct gi_local *spec,
                                          struct gi_err *err);

/* With l and g the least and the greatest sample around a sample v, all in double, v is above its
 * threshold where, g - l being less than `contrast`, l + g > full scale, or else 2 * v - (l + g) >
 * `more`; no comparison with NaN holds. */
struct gi_bernsen {
    const struct gi_image *least, *greatest; /* shaped as the source, on the backend */
    double contrast, more;
    bool invert;
};

/* As gi_local_threshold_fn. */
typedef enum gi_status gi_bernsen_fn(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_image *src, const struct gi_bernsen *spec,
                                     struct gi_err *err);

/* The level of a float. */
GI_HOST_DEVICE static inline uint32_t gi_local_float(const struct gi_local *spec, float sample)
{
    double v = ((double)sample - spec->lo) * spec->scale, most = GI_LOCAL_LEVELS - 1;
    v = v > 0 ? v : 0;
    return (uint32_t)((v < most ? v : most) + 0.5);
}

/* Is a sample above its threshold by gi_bernsen? */
GI_HOST_DEVICE static inline bool gi_bernsen_above(const struct gi_bernsen *spec, double full,
                                                   double v, double l, double g)
{
    return g - l < spec->contrast ? l + g > full : 2 * v - (l + g) > spec->more;
}

/* n * squares - sum * sum in 128 bits, then the upper half times 2^64 plus the lower one, each in
 * double. */
GI_HOST_DEVICE static inline double gi_local_spread(uint64_t n, uint64_t sum, uint64_t squares)
{
    __extension__ typedef unsigned __int128 wide;
    wide spread = (wide)n * squares - (wide)sum * sum;
    return (double)(uint64_t)(spread >> 64) * 0x1p64 + (double)(uint64_t)spread;
}

/* About e^-x, x held between -700 and 700: 2^-m times the first 14 terms of the series of e^-r,
 * from the last one on, x = m * ln 2 + r. */
GI_HOST_DEVICE static inline double gi_local_fall(double x)
{
    const double whole = 0x1.8p52; /* added, it leaves no fractions */
    x = x < -700 ? -700 : x > 700 ? 700 : x;
    double m = (x * 0x1.71547652b82fep0 + whole) - whole;
    double r = (x - m * 0x1.62e42fee00000p-1) - m * 0x1.a39ef35793c76p-33;
    double sum = 1;
    for (int i = 13; i > 0; i--)
        sum = 1 - sum * r / i;
    uint64_t bits = (uint64_t)(1023 - (int64_t)m) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* Is a sample above its threshold? Not for `mean`. `rest` is N * v - S, `spread` D. */
GI_HOST_DEVICE static inline bool gi_local_above(const struct gi_local *spec, double rest,
                                                 double sum, double spread)
{
    double a = fma(spec->part, sum, rest + spec->shift), t = fma(spec->slope, sum, spec->level);
    if (spec->swell != 0) {
        double u = sum - spec->base;
        a -= spec->swell * gi_local_fall(spec->decay * u) * u;
    }
    double square = a * a, limit = t * t * spread;
    return ((a > 0) & (square > limit)) | ((t < 0) & ((a > 0) | (square < limit)));
}

#ifdef __cplusplus
}
#endif
#endif
