/* Contracts of the family arithmetic: two images made one by arithmetic, by layers with alpha, or
 * by a mask. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_ARITHMETIC_H
#define GI_KERNELS_ARITHMETIC_H

#include <math.h>

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first ones make each sample from the sample a of `src`, b of `other` and, where there is one,
 * d of `dark`, else 0; LAYER and MASK make whole pixels. */
enum gi_arithmetic_op {
    GI_ARITHMETIC_ADD,        /* a + b */
    GI_ARITHMETIC_SUBTRACT,   /* a - b */
    GI_ARITHMETIC_MULTIPLY,   /* a * b */
    GI_ARITHMETIC_DIVIDE,     /* (a - d) / (b - d) */
    GI_ARITHMETIC_DIFFERENCE, /* |a - b| */
    GI_ARITHMETIC_BLEND,      /* fmaf(t, b, fmaf(-t, a, a)): of finite samples a at 0 and b at 1 */
    GI_ARITHMETIC_MIDDLE,     /* fmaf(1/2, b, 1/2 * a), which infinities have too */
    GI_ARITHMETIC_MINIMUM,    /* b where a > b, else a; NaN where either is NaN */
    GI_ARITHMETIC_MAXIMUM,    /* b where b > a, else a; NaN where either is NaN */
    GI_ARITHMETIC_OUTLIER,    /* b where |a - b| > t, else a; t is 0 or more, in sample units */
    GI_ARITHMETIC_LAYER,
    GI_ARITHMETIC_MASK,
};

/* What a colour becomes where both layers are opaque: s above, b below, both in sample units. W3C,
 * Compositing and Blending Level 1, 10.1. */
enum gi_arithmetic_layer_mode {
    GI_BLEND_NORMAL,     /* s */
    GI_BLEND_MULTIPLY,   /* b * s / full scale */
    GI_BLEND_SCREEN,     /* b + s - b * s / full scale */
    GI_BLEND_DARKEN,     /* the lesser one */
    GI_BLEND_LIGHTEN,    /* the greater one */
    GI_BLEND_DIFFERENCE, /* |b - s| */
};

/* A sample of `other` or `dark` is taken times full scale of `src` / its own full scale, rounded to
 * float once, whatever its type; its only colour stands for all of them. Without alpha it is
 * opaque, `dark` has 0 there.
 *
 * Arithmetic: fmaf(factor, f, offset) of the operation's f and the channel's factor, then the last
 * step. Where it is `plain`, factor and offset are not looked at and the result is f itself, which
 * of integers is exact, except for BLEND and MIDDLE: MULTIPLY is a * b / full scale, rounded.
 * `other` is then an image of the type and channels of `src`, and `dark` is NULL. Without
 * `alpha_too` the result has the alpha of `src`; with it an image without alpha is opaque. `dst` is
 * shaped as `src`, `other` and `dark` have its size.
 *
 * LAYER: pixels of colour s and alpha as, those of `other`, over such of colour b and alpha ab,
 * those of `src`. Alphas are samples, full scale where there are none, times (float)(1 / full
 * scale), of `other` (float)(opacity / full scale), which makes full scale 1 or the opacity. Where
 * `other` does not reach as is 0. With
 *   fa = fmaf(above[1], ab, above[0]);  fb = fmaf(below[1], as, below[0]);
 *   p = as * fa;  q = ab * fb;  A = p + q, 1 at most
 * alpha becomes A * full scale, and colour, 0 where A is not > 0 or its sample in `dst` is 0, with
 * w = p / A
 *   mix(b, mix(s, B, ab), w), or with `plus` fmaf(w, s, q / A * b),
 * B the blend of both and mix(x, y, t) = fmaf(t, y, fmaf(-t, x, x)). T. Porter and T. Duff,
 * "Compositing digital images", SIGGRAPH 1984, as W3C's Level 1 has it, in straight alpha. The
 * colour of a gray image is gray; `dst` has any number of channels, and without alpha is opaque.
 *
 * MASK: as LAYER with w = p / A, s = value, p = (1 - m) * its alpha, q = m * ab or with `set` m; m
 * is the luma of `other`, as gi_luma_fn has it, times (float)(1 / full scale), times its alpha, 0
 * at least and 1 at most; with `invert` 1 - m. `opacity` is 1. */
struct gi_arithmetic {
    enum gi_arithmetic_op op;
    const struct gi_image *other;  /* on the backend; NULL: every pixel of it is `value` */
    const struct gi_image *dark;   /* DIVIDE only; NULL: none */
    float value[GI_MAX_CHANNELS];  /* red, green, blue or gray thrice, alpha; in units of `src` */
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

/* arithmetic: where it is `plain`, `dst` may be `src` or `other` itself, the same samples at the
 * same stride. Errors: as all. */

/* ---- the definition, for both backends ---- */

GI_HOST_DEVICE static inline float gi_arithmetic_blend(float x, float y, float t)
{
    return fmaf(t, y, fmaf(-t, x, x));
}

/* a * b / full scale of integers of n bits, rounded; there are no ties, because full scale is odd.
 * With p = a b + 2^(n - 1) it is (p + floor(p / 2^n)) / 2^n. J. Blinn, "Three wrongs make a right",
 * IEEE CG&A 15(6), 1995. Neither sum exceeds 2 n bits. */
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

/* p and q of two layers become w, q / A and A. */
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

/* m of a mask's luma and alpha, both 0 to 1. */
GI_HOST_DEVICE static inline float gi_arithmetic_share(float luma, float alpha, bool invert)
{
    float m = luma * alpha;
    m = m > 0 ? m : 0.0f;
    m = m < 1 ? m : 1.0f;
    return invert ? 1.0f - m : m;
}

GI_HOST_DEVICE static inline float gi_arithmetic_luma(float r, float g, float b)
{
    return fmaf(0.0722f, b, fmaf(0.7152f, g, 0.2126f * r));
}

/* The largest A * full scale that is 0 as a sample of `dst`, by rounding half to even. */
static inline float gi_arithmetic_hidden(const struct gi_image *dst)
{
    return gi_has_alpha(dst) && dst->type != GI_F32 ? 0.5f : 0.0f;
}

GI_HOST_DEVICE static inline float gi_arithmetic_colour(struct gi_arithmetic_weights weights,
                                                        bool plus, float b, float s, float full,
                                                        float hidden)
{
    float c = plus ? fmaf(weights.w, s, weights.v * b) : gi_arithmetic_blend(b, s, weights.w);
    return weights.alpha * full > hidden ? c : 0.0f;
}

#ifdef __cplusplus
}
#endif

#endif
