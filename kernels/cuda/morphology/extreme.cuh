/* What the ways to the least or greatest sample of a window share: samples as numbers of which the
 * least is wanted. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_EXTREME_CUH
#define GI_KERNELS_CUDA_EXTREME_CUH

#include "kernels/cuda/box/box.cuh"

/* The greatest is the complement of the least of the complements. Floats become numbers ordered as
 * they are, NaN the least. `turn`: all ones where the greatest is wanted, else 0. */
static __device__ __forceinline__ unsigned extreme_key(unsigned bits, unsigned turn)
{
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0 : gi_float_key(bits) ^ turn;
}

static __device__ __forceinline__ unsigned extreme_bits(unsigned key, unsigned turn)
{
    return key == 0 ? 0x7fc00000u : gi_float_key_bits(key ^ turn);
}

/* The least of each of the samples of T in two words. Of bytes, the upper ones of the halves: what
 * stands below them does not matter. */
template <typename T> static __device__ __forceinline__ unsigned least(unsigned a, unsigned b)
{
    if (sizeof(T) == 1)
        return __byte_perm(__vminu2(a << 8, b << 8), __vminu2(a, b), 0x7351);
    return sizeof(T) == 2 ? __vminu2(a, b) : min(a, b);
}

/* The edge with values that are samples. */
static inline struct gi_edge extreme_edge(const struct gi_image *src, const struct gi_edge *edge)
{
    return src->type == GI_F32 ? *edge : box_edge(src, edge);
}

/* The bits of word j of a pixel-aligned run that are alpha, pixels being PIXEL bytes of T. */
template <typename T, int PIXEL> static __device__ __forceinline__ unsigned alpha_bits(int j)
{
    unsigned bits = 0;
    for (int i = 0; i < 4; i++)
        if ((4 * j + i) % PIXEL >= PIXEL - (int)sizeof(T))
            bits |= 255u << 8 * i;
    return bits;
}

/* A chunk of 16 bytes to row y, of which the image has n samples. */
template <typename T>
static __device__ __forceinline__ void extreme_put(const struct target *dst, const unsigned *words,
                                                   int sample, int y, int n)
{
    char *out = dst->data + (size_t)y * dst->stride + (size_t)sample * sizeof(T);
    if constexpr (sizeof(T) < 4) {
        chunk_store<T, 4>((T *)out, words, n);
    } else if (n >= 4) {
        words_store<4>(out, words);
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (j < n)
                ((unsigned *)out)[j] = words[j];
    }
}

gi_extreme_takes_fn gi_cuda_extreme_near_takes, gi_cuda_extreme_strips_takes,
    gi_cuda_extreme_runs_takes;
gi_extreme_fn gi_cuda_extreme_near, gi_cuda_extreme_strips, gi_cuda_extreme_runs;

#endif
