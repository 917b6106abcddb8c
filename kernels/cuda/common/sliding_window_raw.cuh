/* Raw samples: integers that are used as floats without a conversion instruction.
 *
 * A float whose bit pattern is an integer v below 2^24 has the value v * 2^-149. If weights are
 * multiplied by 2^p, a chain of fmaf over such raw samples results in 2^(p - 149) times the sum
 * over the samples, and all steps round in the same way. Multiplication by 2^(149 - p) then
 * restores the sum over the samples. This holds as long as nothing overflows and no bit is below
 * 2^-149, which raw_scale_of() and raw_fits() check. Raw samples of GI_F32 are the samples
 * themselves.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_SLIDING_WINDOW_RAW_CUH
#define GI_KERNELS_CUDA_SLIDING_WINDOW_RAW_CUH

#include <float.h>
#include <math.h>

#include "kernels/cuda/common/sample.cuh"

/* Exponents of two scale factors. Weights are multiplied by 2^weights. Sums are multiplied by
 * 2^rest, which makes them sums of samples again. */
struct raw_scale {
    int weights, rest;
};

/* Returns the scale for a chain with these weights. The weights are multiplied by the largest power
 * of 2 that keeps them finite, but by at most 2^149, so that sums are multiplied by at least 1.
 * Sums over up to 2^10 samples below 2^32 are then below 2^21. */
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

/* to[i] = weights[i] * 2^scale. */
static inline void weights_scale(float *to, const float *weights, int n, int scale)
{
    for (int i = 0; i < n; i++)
        to[i] = ldexpf(weights[i], scale);
}

/* Returns whether the scaled weights are multiples of `least`, a power of 2. Products with raw
 * samples, and their sums, are then multiples of least * 2^-149. */
static inline bool raw_fits(enum gi_type type, const float *weights, int n, double least)
{
    int scale = raw_scale_of(type, weights, n).weights;
    for (int i = 0; i < n; i++)
        if (type != GI_F32 && weights[i] != 0 &&
            ilogbf(weights[i]) + scale < ilogb(least) + FLT_MANT_DIG - 1)
            return false;
    return true;
}

/* Returns raw sample k of samples that are packed in 32-bit words. k must be constant after
 * unrolling. */
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

/* Loads the CHANNELS raw samples of pixel p, with colour multiplied by alpha. 8-bit products are
 * integers below 2^16; 16-bit products of more than 24 bits are rounded. */
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
