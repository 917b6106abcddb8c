/* Float prefilter for local thresholds of bytes that depend on the standard deviation (Niblack,
 * Sauvola and others): decides in float32 whether a sample is above its threshold, with an error
 * bound; only undecided samples are computed in double precision.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_LOCAL_QUICK_CUH
#define GI_KERNELS_CUDA_LOCAL_QUICK_CUH

#include "kernels/cuda/cuda.h"
#include "kernels/tone.h"

/* kernels/tone.h defines the test A > t * sqrt(D). With the sample v, s for S, and q for the sum
 * of squares of samples minus 128, so that D = N * q - (S - 128 * N)^2, N = k * k, the float
 * computation is
 *   a = fma(n, v + 2^15, fma(part, s, shift)), t = fma(slope, s, level), z = s - middle,
 *   d = fma(-z, z, N * q), h = fma(t, sqrt(d), -a),
 *   and, added to h, 2^fma(decay, s, decay_at) * fma(swell, s, swell_at),
 * with a and t divided by E. If |h| is at least 1, h < 0 means above and h > 0 means below. With u
 * = 2^-24, M = 255 * N, P = (1 + |part|) * M + |shift| and T = |slope| * M + |level|, in terms of
 * spec, the errors are:
 * - a: `shift` and the inner sum, at most P + 2^15 * N, are rounded; s, the factors and a itself
 *   add less than 3 * u * P. In total 4 * u * 2^15 * N + 7 * u * P.
 * - t: 3 * u * T.
 * - d: 3 * u * 2^14 * N^2 for q, N * q and the sum, none of which exceeds 2^14 * N^2; from M = 2^24
 *   on the error of s is u * M and that of z half as much more, which gives 6 * u * 2^14 * N^2. The
 *   root of |d| is off by at most the root of all that, c * N.
 * - if spec has a swell, the exponential times it, with X = |decay| * (M + |base|), is at most G =
 *   swell * (M + |base|) * e^X, or without e^X if it only decreases; its argument is off by
 *   4 * u * X, the rest by 8 * u.
 * - sqrt(D) is at most M / 2 and its rounding 2 * u of that; the rounding of h is u * (P + T * M /
 *   2).
 *
 * So E = T * c * N + 4 * u * 2^15 * N + 8 * u * (P + T * M) + u * G * (8 * X + 16). If S is 0,
 * hence D and the sample too, and shift, level and base are 0, then h is 0. */
struct local_quick {
    float n, part, shift, slope, level, middle, squares; /* the last is N */
    float decay, decay_at, swell, swell_at;
    float sure;   /* 0 or 1: h is decisive if |h| >= min(S + sure, 1) */
    unsigned top; /* bits of the float 2^15 */
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
    if (!(error < 0x1p90)) /* h is always 0 */
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

/* Returns sample j of a word plus 2^15; `top` is in a register: the permutation needs no
 * constant. */
static __device__ __forceinline__ float quick_sample(unsigned word, unsigned top, int j)
{
    return __uint_as_float(__byte_perm(word, top, 0x7404u | (unsigned)j << 4));
}

/* h for v + 2^15; SWELL: spec has one. */
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

/* Returns whether h is not decisive. `sum` is S + sure, or any number >= 1 if that is. */
static __device__ __forceinline__ bool quick_doubts(float h, float sum)
{
    return !(fabsf(h) >= __saturatef(sum));
}

#endif
