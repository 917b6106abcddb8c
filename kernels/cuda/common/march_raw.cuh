/* Raw samples: how the march takes whole numbers for floats, at no cost.
 *
 * The float whose bits are a whole number v below 2^24 is v * 2^-149. A chain of fmaf over raw
 * samples, its weights times 2^p, therefore is the chain over the samples times 2^(p - 149), every
 * rounding with it, and a factor of 2^(149 - p) in what follows gives the sums themselves. That
 * holds while nothing overflows and no bit falls below 2^-149: see raw_scale_of() and raw_fits().
 * Samples of GI_F32 are their own raw ones. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MARCH_RAW_CUH
#define GI_KERNELS_CUDA_MARCH_RAW_CUH

#include <float.h>
#include <math.h>

#include "kernels/cuda/common/sample.cuh"

/* Powers of two: of what weights are multiplied by, and of what is left to multiply by. */
struct raw_scale {
    int weights, rest;
};

/* That of a chain with these weights: the most that lets them be floats, but nothing to divide by.
 * Sums over up to 2^10 samples below 2^32 then are below 2^21. */
static inline struct raw_scale raw_scale_of(enum gi_type type, const float *weights, int n)
{
    struct raw_scale scale = {0, 0};
    float most = 0;
    for (int i = 0; i < n; i++)
        most = fmaxf(most, fabsf(weights[i]));
    if (type != GI_F32) {
        int room = most > 0 ? 127 - ilogbf(most) : 149;
        scale.weights = room < 149 ? room : 149;
        scale.rest = 149 - scale.weights;
    }
    return scale;
}

/* to = n weights times 2^scale. */
static inline void weights_scale(float *to, const float *weights, int n, int scale)
{
    for (int i = 0; i < n; i++)
        to[i] = ldexpf(weights[i], scale);
}

/* Are the scaled weights multiples of `least`, a power of two? Products with raw samples, and all
 * sums of them, then are multiples of least * 2^-149. */
static inline bool raw_fits(enum gi_type type, const float *weights, int n, double least)
{
    int scale = raw_scale_of(type, weights, n).weights;
    for (int i = 0; i < n; i++)
        if (type != GI_F32 && weights[i] != 0 &&
            ilogbf(weights[i]) + scale < ilogb(least) + FLT_MANT_DIG - 1)
            return false;
    return true;
}

/* Raw sample k of a run that lies in 32-bit words; k a constant after unrolling. */
template <typename T>
static __device__ __forceinline__ float raw_unpack(const unsigned *words, int k)
{
    if constexpr (sizeof(T) == 1)
        return __uint_as_float(__byte_perm(words[k >> 2], 0, 0x4440u | (k & 3)));
    else if constexpr (sizeof(T) == 2)
        return __uint_as_float(__byte_perm(words[k >> 1], 0, k & 1 ? 0x4432u : 0x4410u));
    else
        return __uint_as_float(words[k]);
}

/* The CHANNELS raw samples of pixel p of such a run, colour times alpha: at 8 bits whole numbers
 * below 2^16, at 16 bits rounded where they have more than 24 bits. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void raw_premultiply(float *w, const unsigned *words, int p)
{
    if constexpr (sizeof(T) == 1 && CHANNELS == 4) {
        unsigned word = words[p], a = word >> 24;
        unsigned high = __byte_perm(word, 0, 0x4344u); /* a in the upper half */
        w[0] = __uint_as_float(__dp2a_lo(a, word, 0u));
        w[1] = __uint_as_float(__dp2a_lo(high, word, 0u));
        w[2] = __uint_as_float(__dp2a_hi(a, word, 0u));
        w[3] = __uint_as_float(a);
    } else {
        float a = w[CHANNELS - 1] = raw_unpack<T>(words, p * CHANNELS + CHANNELS - 1);
#pragma unroll
        for (int c = 0; c < CHANNELS - 1; c++) {
            float v = raw_unpack<T>(words, p * CHANNELS + c);
            w[c] = sizeof(T) == 1   ? __uint_as_float(__float_as_uint(v) * __float_as_uint(a))
                   : sizeof(T) == 2 ? __fmul_rn(v, __uint2float_rn(__float_as_uint(a)))
                                    : __fmul_rn(v, a);
        }
    }
}

#endif
