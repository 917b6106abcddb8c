/* Whether bytes are above a threshold that goes by the deviation, told by floats as far as these
 * can tell it. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_QUICK_CUH
#define GI_KERNELS_CUDA_QUICK_CUH

#include "kernels/cuda/cuda.h"

/* kernels/local.h asks whether A > t * sqrt(D). With the sample v, s for S and q for the sum of the
 * squares of samples less 128, so that D = N * q - (S - 128 * N)^2, N = k * k, floats tell
 *   a = fma(n, v + 2^15, fma(part, s, shift)), t = fma(slope, s, level), z = s - middle,
 *   d = fma(-z, z, N * q), h = fma(t, sqrt(d), -a),
 *   and, to add to that, 2^fma(decay, s, decay_at) * fma(swell, s, swell_at),
 * where a and t are divided by E: where |h| is 1 or more, h < 0 says above and h > 0 below. With u
 * = 2^-24, M = 255 * N, P = (1 + |part|) * M + |shift| and T = |slope| * M + |level|, in terms of
 * spec:
 * - a: `shift` and the inner sum, P + 2^15 * N at most, are rounded; s, factors and a itself come
 *   to less than 3 * u * P: off by 4 * u * 2^15 * N + 7 * u * P.
 * - t: off by 3 * u * T.
 * - d: off by 3 * u * 2^14 * N^2 for q, N * q and the sum, all of no more than 2^14 * N^2; from M =
 *   2^24 on s is off by u * M and z by half that more, which makes 6 * u * 2^14 * N^2. The root of
 *   |d| is off by no more than the root of all that, c * N.
 * - where spec has a swell, the exponential times it, of X = |decay| * (M + |base|), is at most G =
 *   swell * (M + |base|) * e^X, or without e^X where it falls only; its argument is off by
 *   4 * u * X, the rest by 8 * u.
 * - sqrt(D) is at most M / 2, its rounding 2 * u of that; that of h u * (P + T * M / 2).
 * So E = T * c * N + 4 * u * 2^15 * N + 8 * u * (P + T * M) + u * G * (8 * X + 16). Where S is 0,
 * so that D and the sample are, and shift, level and base are 0 too, h is 0. */
struct local_quick {
    float n, part, shift, slope, level, middle, squares; /* the last is N */
    float decay, decay_at, swell, swell_at;
    float sure;   /* h is to be at least S + sure, or 1: 0 or 1 */
    unsigned top; /* 2^15 as a float's bits */
};

static inline struct local_quick local_quick_of(const struct gi_local *spec)
{
    const double u = 0x1p-24, log2e = 0x1.71547652b82fep0;
    double n = (double)spec->k * spec->k, most = 255 * n;
    double p = (1 + fabs(spec->part)) * most + fabs(spec->shift);
    double t = fabs(spec->slope) * most + fabs(spec->level);
    double c = sqrt((most < 0x1p24 ? 3 : 9) * u * 0x1p14);
    double reach = most + fabs(spec->base), fall = fabs(spec->decay) * reach;
    bool falls = spec->base <= 0 && spec->decay >= 0;
    double swell = fabs(spec->swell) * reach * (falls ? 1 : exp(fall));
    double error = t * c * n + 4 * u * 0x1p15 * n + 8 * u * (p + t * most) +
                   u * (spec->swell != 0 ? swell * (8 * fall + 16) : 0);
    struct local_quick quick = {};
    quick.sure = 1;
    quick.top = 0x47000000;
    if (!(error < 0x1p90)) /* h is 0 */
        return quick;
    quick.n = (float)(n / error);
    quick.part = (float)((spec->part - 1) / error);
    quick.shift = (float)(spec->shift / error - 0x1p15 * quick.n);
    quick.slope = (float)(spec->slope / error);
    quick.level = (float)(spec->level / error + 0.0); /* no -0 */
    quick.middle = (float)(128 * n);
    quick.squares = (float)n;
    quick.decay = (float)(-spec->decay * log2e);
    quick.decay_at = (float)(spec->decay * spec->base * log2e);
    quick.swell = (float)(spec->swell / error);
    quick.swell_at = (float)(-spec->swell * spec->base / error);
    quick.sure = spec->shift != 0 || spec->level != 0 || (spec->swell != 0 && spec->base != 0);
    return quick;
}

/* Sample j of a word plus 2^15; `top` is kept in a register, so that the
 * selector needs none.
 */
static __device__ __forceinline__ float quick_sample(unsigned word, unsigned top, int j)
{
    return __uint_as_float(__byte_perm(word, top, 0x7404u | (unsigned)j << 4));
}

/* h, of v + 2^15; SWELL: spec has one. */
template <bool SWELL>
static __device__ __forceinline__ float quick_side(const struct local_quick *quick, float v,
                                                   float s, float q)
{
    float a = __fmaf_rn(quick->n, v, __fmaf_rn(quick->part, s, quick->shift));
    float t = __fmaf_rn(quick->slope, s, quick->level), z = s - quick->middle, root;
    float d = __fmaf_rn(-z, z, quick->squares * q);
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fabsf(d)));
    float h = __fmaf_rn(t, root, -a);
    if (!SWELL)
        return h;
    float power, x = __fmaf_rn(quick->decay, s, quick->decay_at);
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return __fmaf_rn(power, __fmaf_rn(quick->swell, s, quick->swell_at), h);
}

/* Does h not say it? `sum` is S + sure, or 1 or more where that is. */
static __device__ __forceinline__ bool quick_doubts(float h, float sum)
{
    return !(fabsf(h) >= __saturatef(sum));
}

#endif
