/* Min/max filters (erosion and dilation): all implementations compute minima of unsigned keys.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MIN_MAX_CUH
#define GI_KERNELS_CUDA_MIN_MAX_CUH

#include "kernels/cuda/convolution/box.cuh"

/* Returns the key of a sample. Floats become integers of the same order, with NaN as the smallest
 * key. `turn` is all ones for a maximum, because it is the complement of the minimum of
 * complements; it is 0 for a minimum. */
static __device__ __forceinline__ unsigned min_max_key(unsigned bits, unsigned turn)
{
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0 : gi_float_key(bits) ^ turn;
}

static __device__ __forceinline__ unsigned min_max_bits(unsigned key, unsigned turn)
{
    return key == 0 ? 0x7fc00000u : gi_float_key_bits(key ^ turn);
}

/* min_max_number() returns the key of a sample of type T; min_max_sample() returns the sample. */
template <typename T> static __device__ __forceinline__ unsigned min_max_number(T v, unsigned turn)
{
    if (sizeof(T) == 4)
        return min_max_key(__float_as_uint((float)v), turn);
    return (unsigned)v ^ turn;
}

template <typename T>
static __device__ __forceinline__ T min_max_sample(unsigned number, unsigned turn)
{
    if (sizeof(T) == 4)
        return (T)__uint_as_float(min_max_bits(number, turn));
    return (T)(number ^ turn);
}

enum {
    MIN_MAX_THREADS = 256,
    MIN_MAX_ROWS = 32768, /* of a grid */
};

static inline dim3 min_max_grid(long long n, long long rows)
{
    return dim3(ceil_div(n, MIN_MAX_THREADS),
                rows < MIN_MAX_ROWS ? (unsigned)rows : (unsigned)MIN_MAX_ROWS);
}

/* Returns the border mode, with its values rounded to samples. */
static inline struct gi_border_spec min_max_border(const struct gi_image *src,
                                                   const struct gi_border_spec *border)
{
    return src->type == GI_F32 ? *border : box_border(src, border);
}

/* Returns the bits of word j that are alpha, in words that begin with a pixel of PIXEL bytes. */
template <typename T, int PIXEL> static __device__ __forceinline__ unsigned alpha_bits(int j)
{
    unsigned bits = 0;
    for (int i = 0; i < 4; i++)
        if ((4 * j + i) % PIXEL >= PIXEL - (int)sizeof(T))
            bits |= 255u << 8 * i;
    return bits;
}

/* Stores a 16-byte chunk to row y, but at most the n samples that remain in the image row. */
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

gi_min_max_takes_fn gi_cuda_min_max_strips_takes, gi_cuda_min_max_levels_takes,
    gi_cuda_min_max_runs_takes;
gi_min_max_fn gi_cuda_min_max_strips, gi_cuda_min_max_levels, gi_cuda_min_max_runs;

#endif
