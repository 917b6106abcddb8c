/* Contracts of the family arithmetic: images that are made from two images by arithmetic, by layers
 * with alpha, or by a mask. That of calc is in kernels/calc.h.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_ARITHMETIC_H
#define GI_KERNELS_ARITHMETIC_H

#include <math.h>

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operations before LAYER compute f per sample: a is the sample of `src`, b is the sample of
 * `other`, and d is the sample of `dark` (0 without `dark`). LAYER and MASK work on whole
 * pixels. */
enum gi_arithmetic_op {
    GI_ARITHMETIC_ADD,        /* a + b */
    GI_ARITHMETIC_SUBTRACT,   /* a - b */
    GI_ARITHMETIC_MULTIPLY,   /* a * b */
    GI_ARITHMETIC_DIVIDE,     /* (a - d) / (b - d) */
    GI_ARITHMETIC_DIFFERENCE, /* |a - b| */
    GI_ARITHMETIC_BLEND,      /* fmaf(t, b, fmaf(-t, a, a)): exactly a (t = 0) or b (t = 1) */
    GI_ARITHMETIC_MIDDLE,     /* fmaf(1/2, b, 1/2 * a): no NaN for infinities */
    GI_ARITHMETIC_MINIMUM,    /* b where a > b, else a; NaN where either is NaN */
    GI_ARITHMETIC_MAXIMUM,    /* b where b > a, else a; NaN where either is NaN */
    GI_ARITHMETIC_OUTLIER,    /* b where |a - b| > t, else a; t is 0 or more, in sample units */
    GI_ARITHMETIC_LAYER,
    GI_ARITHMETIC_MASK,
};

/* The blend function B, which is the colour of the result where both layers are opaque. s is the
 * upper colour and b the lower colour, both in sample units. W3C, Compositing and Blending 1,
 * 10.1. */
enum gi_arithmetic_layer_mode {
    GI_BLEND_NORMAL,     /* s */
    GI_BLEND_MULTIPLY,   /* b * s / full scale */
    GI_BLEND_SCREEN,     /* b + s - b * s / full scale */
    GI_BLEND_DARKEN,     /* the lesser one */
    GI_BLEND_LIGHTEN,    /* the greater one */
    GI_BLEND_DIFFERENCE, /* |b - s| */
};

/* Samples of `other` and `dark` are first scaled to the units of `src`: they are multiplied by the
 * full scale of `src` / the full scale of their own type, in float. If `other` or `dark` is gray,
 * its sample is used for all colours. Without alpha `other` is opaque, and the alpha of `dark` is
 * 0.
 *
 * Arithmetic: the result is fmaf(factor, f, offset), where the operation defines f, and each
 * channel has a factor and an offset of its own. gi_settle() and the last step follow, also for
 * LAYER and MASK. With `plain` the result is f, and factor and offset are ignored. Plain results of
 * integers are exact, except those of BLEND and MIDDLE; MULTIPLY is then a * b / full scale,
 * rounded. `plain` requires an `other` with the type and channels of `src`, and no `dark`. Without
 * `alpha_too` the result has the alpha of `src`; with `alpha_too` an image without alpha is opaque.
 * `dst` has the shape of `src`; `other` and `dark` have its size.
 *
 * LAYER: composites `other` (colour s, alpha as) over `src` (colour b, alpha ab). Both alphas are
 * scaled so that full scale becomes 1: ab is the sample times (float)(1 / full scale), as is the
 * sample times (float)(opacity / full scale). In an image without alpha the sample is full scale.
 * Outside `other` as is 0. With
 *   fa = fmaf(above[1], ab, above[0]);  fb = fmaf(below[1], as, below[0]);
 *   p = as * fa;  q = ab * fb;  A = p + q, at most 1;  w = p / A;
 *   mix(x, y, t) = fmaf(t, y, fmaf(-t, x, x)); B = the blend function of b and s:
 * alpha becomes A * full scale. Colour becomes mix(b, mix(s, B, ab), w), or with `plus` fmaf(w, s,
 * q / A * b). Colour is 0 if A is not > 0 or if the alpha stored in `dst` is 0. Source: T. Porter
 * and T. Duff, "Compositing digital images", SIGGRAPH 1984, in the form of W3C's Level 1, with
 * straight alpha. If `src` or `other` is gray, its gray is used for all colours; `dst` has any
 * number of channels, and without alpha it is opaque.
 *
 * MASK: as LAYER, but with s = `value`, p = (1 - m) * the alpha of `value`, and q = m * ab; with
 * `set` q is m. w is p / A, as in LAYER. m is the luma of `other` (as gi_luma_fn computes it) times
 * (float)(1 / full scale), times the alpha of `other`, limited to 0 to 1. With `invert` 1 - m is
 * used instead of m. `opacity` is 1. */
struct gi_arithmetic {
    enum gi_arithmetic_op op;
    const struct gi_image *other;  /* on the backend; if NULL, all its pixels are `value` */
    const struct gi_image *dark;   /* DIVIDE only; NULL: none */
    float value[GI_MAX_CHANNELS];  /* red, green, blue (gray: all three equal), alpha */
    bool plain;                    /* arithmetic: f itself */
    float factor[GI_MAX_CHANNELS]; /* arithmetic; red, green, blue, alpha */
    float offset, t;
    bool alpha_too;
    int64_t x, y; /* position in `src` of the first pixel of `other` */
    bool tile;    /* and again on all its sides */
    float opacity;
    float above[2], below[2];
    enum gi_arithmetic_layer_mode blend;
    bool plus, set, invert;
};

/* arithmetic: with `plain`, `dst` may be `src` or `other` itself, with the same data and stride.
 * Errors: see kernels/rules.h. */

/* ---- the definition, for both backends ---- */

GI_HOST_DEVICE static inline float gi_arithmetic_blend(float x, float y, float t)
{
    return fmaf(t, y, fmaf(-t, x, x));
}

/* Returns a * b / full scale of n-bit integers, rounded; ties do not occur, because full scale is
 * odd. With p = a b + 2^(n - 1) the result is (p + floor(p / 2^n)) / 2^n. J. Blinn, "Three wrongs
 * make a right", IEEE CG&A 15(6), 1995. Neither sum needs more than 2 n bits. */
GI_HOST_DEVICE static inline uint32_t gi_arithmetic_product(uint32_t a, uint32_t b, int n)
{
    uint32_t p = a * b + (1u << (n - 1));
    return (p + (p >> n)) >> n;
}

/* One sample, before factor and offset. */
GI_HOST_DEVICE static inline float gi_arithmetic_sample(enum gi_arithmetic_op op, float a, float b,
                                                        float d, float t)
{
    switch (op) {
    case GI_ARITHMETIC_ADD:
        return a + b;
    case GI_ARITHMETIC_SUBTRACT:
        return a - b;
    case GI_ARITHMETIC_MULTIPLY:
        return a * b;
    case GI_ARITHMETIC_DIFFERENCE:
        return fabsf(a - b);
    case GI_ARITHMETIC_BLEND:
        return gi_arithmetic_blend(a, b, t);
    case GI_ARITHMETIC_MIDDLE:
        return fmaf(0.5f, b, 0.5f * a);
    case GI_ARITHMETIC_MINIMUM:
        return b != b || a > b ? b : a;
    case GI_ARITHMETIC_MAXIMUM:
        return b != b || b > a ? b : a;
    case GI_ARITHMETIC_OUTLIER:
        return fabsf(a - b) > t ? b : a;
    default:
        return (a - d) / (b - d);
    }
}

/* One sample where it is plain. */
GI_HOST_DEVICE static inline float gi_arithmetic_plain(enum gi_arithmetic_op op, enum gi_type type,
                                                       float a, float b, float t)
{
    if (op == GI_ARITHMETIC_MULTIPLY && type != GI_F32)
        return (float)gi_arithmetic_product((uint32_t)a, (uint32_t)b, type == GI_U8 ? 8 : 16);
    return gi_arithmetic_sample(op, a, b, 0, t);
}

GI_HOST_DEVICE static inline float gi_arithmetic_blended(enum gi_arithmetic_layer_mode blend,
                                                         float b, float s, float inverse)
{
    switch (blend) {
    case GI_BLEND_MULTIPLY:
        return b * s * inverse;
    case GI_BLEND_SCREEN:
        return fmaf(-(b * s), inverse, b + s);
    case GI_BLEND_DARKEN:
        return b < s ? b : s;
    case GI_BLEND_LIGHTEN:
        return b > s ? b : s;
    case GI_BLEND_DIFFERENCE:
        return fabsf(b - s);
    default:
        return s;
    }
}

/* Weights of two layers whose shares are p and q (see LAYER): w = p / A, v = q / A, alpha = A. */
struct gi_arithmetic_weights {
    float w, v, alpha;
};

GI_HOST_DEVICE static inline struct gi_arithmetic_weights gi_arithmetic_parts(float p, float q)
{
    struct gi_arithmetic_weights weights;
    float sum = p + q;
    weights.alpha = sum > 1 ? 1.0f : sum;
    weights.w = p / weights.alpha;
    weights.v = q / weights.alpha;
    return weights;
}

GI_HOST_DEVICE static inline struct gi_arithmetic_weights
gi_arithmetic_layers(const float above[2], const float below[2], float as, float ab)
{
    float fa = fmaf(above[1], ab, above[0]), fb = fmaf(below[1], as, below[0]);
    return gi_arithmetic_parts(as * fa, ab * fb);
}

/* Returns m of MASK from the luma and the alpha of the mask, both scaled to 0 to 1. */
GI_HOST_DEVICE static inline float gi_arithmetic_share(float luma, float alpha, bool invert)
{
    float m = luma * alpha;
    m = m > 0 ? m : 0.0f;
    m = m < 1 ? m : 1.0f;
    return invert ? 1.0f - m : m;
}

/* Returns the largest A * full scale that is stored as 0 in the alpha of `dst`. */
static inline float gi_arithmetic_hidden(const struct gi_image *dst)
{
    return gi_has_alpha(dst) && dst->type != GI_F32 ? 0.5f : 0.0f;
}

GI_HOST_DEVICE static inline float gi_arithmetic_color(struct gi_arithmetic_weights weights,
                                                       bool plus, float b, float s, float full,
                                                       float hidden, enum gi_type type)
{
    float c = plus ? fmaf(weights.w, s, weights.v * b) : gi_arithmetic_blend(b, s, weights.w);
    return gi_settle(weights.alpha * full, type) > hidden ? gi_settle(c, type) : 0.0f;
}

#ifdef __cplusplus
}
#endif

#endif
