/* Min/max filters (erosion and dilation): samples as unsigned keys whose minimum is wanted, shared
 * by all implementations.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MIN_MAX_CUH
#define GI_KERNELS_CUDA_MIN_MAX_CUH

#include "kernels/cuda/convolution/box.cuh"

/* A maximum is the complement of the minimum of the complements. Floats become integers of the same
 * order, NaN becomes the smallest key. `turn`: all ones for a maximum, 0 for a minimum. */
static __device__ __forceinline__ unsigned min_max_key(unsigned bits, unsigned turn)
{
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0 : gi_float_key(bits) ^ turn;
}

static __device__ __forceinline__ unsigned min_max_bits(unsigned key, unsigned turn)
{
    return key == 0 ? 0x7fc00000u : gi_float_key_bits(key ^ turn);
}

/* Minimum of each of the samples of T in two words. Bytes are compared as the upper bytes of 16-bit
 * halves; the byte below does not change which upper byte results. */
template <typename T> static __device__ __forceinline__ unsigned least(unsigned a, unsigned b)
{
    if (sizeof(T) == 1)
        return __byte_perm(__vminu2(a << 8, b << 8), __vminu2(a, b), 0x7351);
    return sizeof(T) == 2 ? __vminu2(a, b) : min(a, b);
}

/* The border mode with values rounded to samples. */
static inline struct gi_border_spec min_max_border(const struct gi_image *src,
                                                   const struct gi_border_spec *border)
{
    return src->type == GI_F32 ? *border : box_border(src, border);
}

/* The bits of word j that are alpha, in a run of words that begins with a pixel of PIXEL bytes. */
template <typename T, int PIXEL> static __device__ __forceinline__ unsigned alpha_bits(int j)
{
    unsigned bits = 0;
    for (int i = 0; i < 4; i++)
        if ((4 * j + i) % PIXEL >= PIXEL - (int)sizeof(T))
            bits |= 255u << 8 * i;
    return bits;
}

/* Stores a 16-byte chunk to row y, at most n samples of it (the rest of the image row). */
template <typename T>
static __device__ __forceinline__ void min_max_put(const struct target *dst, const unsigned *words,
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

gi_min_max_takes_fn gi_cuda_min_max_near_takes, gi_cuda_min_max_strips_takes,
    gi_cuda_min_max_runs_takes;
gi_min_max_fn gi_cuda_min_max_near, gi_cuda_min_max_strips, gi_cuda_min_max_runs;

#endif
