/* Float prefilter for local thresholds of bytes that depend on the standard deviation (Niblack,
 * Sauvola and others): computes in float32, with an error bound, whether a sample is above its
 * threshold. Only samples that this cannot decide are computed in double precision.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_LOCAL_QUICK_CUH
#define GI_KERNELS_CUDA_LOCAL_QUICK_CUH

#include "kernels/cuda/cuda.h"
#include "kernels/tone.h"

/* kernels/tone.h defines the test A > t * sqrt(D). Here a float h, about t * sqrt(D) - A, is
 * divided by a bound E of its error. If |h| is at least 1, h < 0 means above and h > 0 means below.
 *
 * Symbols, in terms of the members of spec:
 * - v is the sample, s is S, N = k * k, z = s - 128 * N, and u = 2^-24.
 * - q is the sum of the squares of samples minus 128, so that D = N * q - z^2.
 * - M = 255 * N is the maximum of S.
 * - P = (1 + |part|) * M + |shift| and T = |slope| * M + |level| are bounds of |A| and |t|.
 * - X = |decay| * (M + |base|) is a bound of the argument of the exponential. G = |swell| *
 *   (M + |base|) * e^X is a bound of the swell term, without e^X if the exponential only decreases.
 *
 * Steps, with the members of struct local_quick, which include the division by E, and in which
 * multiples of 128 * N are added so that they are functions of z:
 *   a = fma(n, v + 2^15, fma(part, z, shift));  t = fma(slope, z, level);
 *   d = fma(-z, z, N * q);  h = fma(t, sqrt(|d|), -a);
 *   if spec has a swell, h = fma(2^fma(decay, z, decay_at), fma(swell, z, swell_at), h).
 *
 * Errors, before the division by E:
 * - a: `shift` and the inner sum, which are at most P + 2^15 * N, are rounded. z, the factors and a
 *   itself add less than 3 * u * P. Together these are 4 * u * 2^15 * N + 7 * u * P.
 * - t: 3 * u * T, because z is at most M / 2 * 256 / 255.
 * - d: q, N * q and d are rounded. None of them exceeds 2^14 * N^2, so their error is at most
 *   3 * u * 2^14 * N^2. If 128 * N is 2^24 or more, z is off by u * 128 * N, which adds
 *   2 * u * 2^14 * N^2; 6 times is assumed.
 * - sqrt(|d|): off by at most the root of the error of d, which is c * N. sqrt(|d|) is at most
 *   M / 2, and its rounding adds 2 * u times this bound.
 * - swell term: the argument of the exponential is off by 4 * u * X, and all other factors together
 *   by 8 * u, relative to G.
 * - h: its rounding adds u * (P + T * M / 2).
 *
 * E is a bound of the sum of these errors: E = T * c * N + 4 * u * 2^15 * N + 8 * u * (P + T * M) +
 * u * G * (8 * X + 16). */
struct local_quick {
    float n, part, shift, slope, level, squares; /* the last is N */
    float decay, decay_at, swell, swell_at;
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
    quick.top = 0x47000000;
    if (!(error < 0x1p90)) /* h is always 0 */
        return quick;
    quick.n = (float)(n / error);
    quick.part = (float)((spec->part - 1) / error);
    double middle = 128 * n;
    quick.shift = (float)((spec->shift + (spec->part - 1) * middle) / error - 0x1p15 * quick.n);
    quick.slope = (float)(spec->slope / error);
    quick.level = (float)((spec->level + spec->slope * middle) / error);
    quick.squares = (float)n;
    quick.decay = (float)(-spec->decay * log2e);
    quick.decay_at = (float)(spec->decay * (spec->base - middle) * log2e);
    quick.swell = (float)(spec->swell / error);
    quick.swell_at = (float)(spec->swell * (middle - spec->base) / error);
    return quick;
}

/* Returns sample j of a word plus 2^15. `top` is in a register, so that the permutation needs no
 * constant. */
static __device__ __forceinline__ float quick_sample(unsigned word, unsigned top, int j)
{
    return __uint_as_float(__byte_perm(word, top, 0x7404u | (unsigned)j << 4));
}

/* Returns h. v includes the 2^15. SWELL: spec has a swell. */
template <bool SWELL>
static __device__ __forceinline__ float quick_side(const struct local_quick *quick, float v,
                                                   float z, float q)
{
    float a = __fmaf_rn(quick->n, v, __fmaf_rn(quick->part, z, quick->shift)), root;
    float t = __fmaf_rn(quick->slope, z, quick->level), d = __fmaf_rn(-z, z, quick->squares * q);
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fabsf(d)));
    float h = __fmaf_rn(t, root, -a);
    if (!SWELL)
        return h;
    float power, x = __fmaf_rn(quick->decay, z, quick->decay_at);
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return __fmaf_rn(power, __fmaf_rn(quick->swell, z, quick->swell_at), h);
}

/* Returns whether h is not decisive. */
static __device__ __forceinline__ bool quick_doubts(float h)
{
    return !(fabsf(h) >= 1);
}

#endif
