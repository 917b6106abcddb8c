/* Contract of the primitive correlate, of the family statistics: how well a pattern fits at each
 * place of an image (template matching).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CORRELATE_H
#define GI_KERNELS_CORRELATE_H

#include <math.h>

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gi_correlate_method {
    GI_CORRELATE_CCOEFF, /* zero-mean normalised cross-correlation, -1 to 1 */
    GI_CORRELATE_NCC,    /* normalised cross-correlation, -1 to 1 */
    GI_CORRELATE_SQDIFF, /* normalised squared differences, 0 (equal) to 1 */
};

/* The width of a pattern, so that the sum of a row of products of bytes fits in 32 bits. */
enum { GI_CORRELATE_WIDTH_MAX = 65535 };

struct gi_correlate {
    enum gi_correlate_method method;
    /* The type of `src`, and its number of colour channels; not larger than `src`, nor wider than
     * GI_CORRELATE_WIDTH_MAX. Only its pixels whose alpha is above 0 count. */
    const struct gi_image *pattern;
};

/* correlate: dst(y, x) is the score of the pattern with its upper left pixel at (x, y) of `src`.
 * `dst` is a gray GI_F32 image of (width - pattern width + 1) x (height - pattern height + 1). The
 * alpha of `src` does not count.
 *
 * For each colour channel, these are sums over the pixels of the pattern that count, of its samples
 * p and of the samples v of `src` below them: n = sum 1, p = sum p, pp = sum p * p, v = sum v,
 * vv = sum v * v, pv = sum p * v. For integers they are exact, in 64 bits. For GI_F32 they are
 * sums in double, row by row and from left to right; a product of two floats is exact in double.
 * gi_correlate_add() and gi_correlate_score() make the score from them. */
struct gi_correlate_integers {
    uint64_t n, p, pp, v, vv, pv;
};
struct gi_correlate_reals {
    double n, p, pp, v, vv, pv;
};

/* What the channels, one after the other, add up to. */
struct gi_correlate_total {
    double top, pattern, window;
};

/* Returns a * b - c * d, computed exactly, as a double: the rounded upper and lower 64 bits of its
 * magnitude are added. */
GI_HOST_DEVICE static inline double gi_correlate_difference(uint64_t a, uint64_t b, uint64_t c,
                                                            uint64_t d)
{
    __extension__ typedef unsigned __int128 wide;
    if ((a | b | c | d) >> 32 == 0) { /* the same by fewer instructions */
        double magnitude = (double)(a * b > c * d ? a * b - c * d : c * d - a * b);
        return a * b < c * d ? -magnitude : magnitude;
    }
    wide ab = (wide)a * b, cd = (wide)c * d;
    wide magnitude = ab > cd ? ab - cd : cd - ab;
    double value = (double)(uint64_t)(magnitude >> 64) * 0x1p64 + (double)(uint64_t)magnitude;
    return ab < cd ? -value : value;
}

GI_HOST_DEVICE static inline void gi_correlate_add_integers(struct gi_correlate_total *total,
                                                            enum gi_correlate_method method,
                                                            const struct gi_correlate_integers *s)
{
    if (method == GI_CORRELATE_CCOEFF) {
        total->top += gi_correlate_difference(s->n, s->pv, s->p, s->v);
        total->pattern += gi_correlate_difference(s->n, s->pp, s->p, s->p);
        total->window += gi_correlate_difference(s->n, s->vv, s->v, s->v);
        return;
    }
    total->top += method == GI_CORRELATE_NCC ? (double)s->pv : (double)(s->pp + s->vv - 2 * s->pv);
    total->pattern += (double)s->pp;
    total->window += (double)s->vv;
}

/* Returns n * squares - sum * sum, or 0 if the samples are equal up to rounding. */
GI_HOST_DEVICE static inline double gi_correlate_spread(double n, double sum, double squares)
{
    double most = n * squares, spread = most - sum * sum;
    return spread > most * 0x1p-36 ? spread : 0;
}

GI_HOST_DEVICE static inline void gi_correlate_add_reals(struct gi_correlate_total *total,
                                                         enum gi_correlate_method method,
                                                         const struct gi_correlate_reals *s)
{
    if (method == GI_CORRELATE_CCOEFF) {
        double pattern = gi_correlate_spread(s->n, s->p, s->pp);
        double window = gi_correlate_spread(s->n, s->v, s->vv);
        total->top += pattern > 0 && window > 0 ? s->n * s->pv - s->p * s->v : 0;
        total->pattern += pattern;
        total->window += window;
        return;
    }
    double difference = s->pp + s->vv - 2 * s->pv;
    total->top += method == GI_CORRELATE_NCC ? s->pv : difference < 0 ? 0 : difference;
    total->pattern += s->pp;
    total->window += s->vv;
}

/* Returns top / (sqrt(pattern) * sqrt(window)), at most 1 and at least -1. If that is no number, as
 * where the pattern or the window is constant, the score is 0, but under SQDIFF 1 unless top is
 * 0. */
GI_HOST_DEVICE static inline float gi_correlate_score(const struct gi_correlate_total *total,
                                                      enum gi_correlate_method method)
{
    double norm = sqrt(total->pattern) * sqrt(total->window), score = total->top / norm;
    if (norm > 0 && score == score)
        return (float)(score > 1 ? 1 : score < -1 ? -1 : score);
    return method == GI_CORRELATE_SQDIFF && !(total->top == 0) ? 1.0f : 0.0f;
}

#ifdef __cplusplus
}
#endif
#endif
