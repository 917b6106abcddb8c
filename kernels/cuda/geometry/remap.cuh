/* Geometric transforms: the kernel arguments, the conversion of samples, and the storing of
 * results. Shared by remap_plain.cu, remap_texture.cu and remap_tile.cuh.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_REMAP_CUH
#define GI_KERNELS_CUDA_REMAP_CUH

#include "kernels/cuda/common/sample.cuh"
#include "kernels/geometry.h"

enum {
    REMAP_ACROSS = 4, /* neighbouring pixels per thread */
    REMAP_WIDE = 8,   /* threads per block: a tile of 32 x 32 pixels */
    REMAP_TALL = 32,
    REMAP_FOURS_MAX = 1 << 17, /* maximum width and height of the result if `fours` */
};

struct remap_args {
    struct source src; /* rows of the band */
    int height, src_y; /* height of the whole source; first row of the band */
    struct target dst;
    int dst_width, dst_height, dst_y;
    enum gi_border of_rows;
    bool weigh;
    struct gi_cubic cubic;
    float background[GI_MAX_CHANNELS];
    struct gi_map map; /* its tables are in device memory; field[] replaces its images */
    struct gi_image field[2];
    int ahead;  /* rows, or 0; see remap_spots_fours() */
    bool fours; /* FIELD maps: remap_spots_fours() applies */
};

static __device__ __forceinline__ int remap_whole(int64_t place)
{
    return (int)(place >> GI_PLACE_BITS);
}

/* Returns v, an integer below 2^23 or a float, as float. An integer v placed in the mantissa of
 * 2^23 gives 2^23 + v; then 2^23 is subtracted. */
template <typename T> static __device__ __forceinline__ float remap_float(T v)
{
    if constexpr (sizeof(T) == 4)
        return v;
    else
        return __uint_as_float(0x4b000000u | v) - SAMPLE_2_23;
}

/* Interpolates between a and b. Floats may be infinite, so taps of weight 0 must be skipped. For
 * integers, skipping them would not change the result. */
template <typename T> static __device__ __forceinline__ float remap_lerp(float a, float b, float t)
{
    float f = __fmaf_rn(t, __fsub_rn(b, a), a);
    return sizeof(T) == 4 && t == 0 ? a : f;
}

template <typename T> static __device__ __forceinline__ float remap_tap(float w, float v, float sum)
{
    float f = __fmaf_rn(w, v, sum);
    return sizeof(T) == 4 && w == 0 ? sum : f;
}

template <int WORDS>
static __device__ __forceinline__ void texel_words(unsigned *words, const uint8_t *at, int nbytes)
{
    if (nbytes == 1) {
        words[0] = *at;
    } else if (nbytes == 2) {
        words[0] = *(const uint16_t *)at;
    } else if (WORDS == 1) {
        words[0] = *(const unsigned *)at;
    } else if (WORDS == 2) {
        uint2 v = *(const uint2 *)at;
        words[0] = v.x;
        words[WORDS - 1] = v.y;
    } else {
        uint4 v = *(const uint4 *)at;
        words[0] = v.x;
        words[WORDS / 4] = v.y;
        words[WORDS / 2] = v.z;
        words[WORDS - 1] = v.w;
    }
}

/* Stores WORDS words with the widest stores that the alignment of the address allows. */
template <int WORDS>
static __device__ __forceinline__ void store_words(uint8_t *out, const unsigned *words)
{
    enum { VECTOR = WORDS % 4 == 0 ? 4 : WORDS % 2 == 0 ? 2 : 1 };
#pragma unroll
    for (int i = 0; i < WORDS; i += VECTOR)
        words_store<VECTOR>(out + 4 * i, words + i);
}

/* Stores pixels x to x + REMAP_ACROSS - 1 of row y, except those that are outside the result. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void remap_store(const struct remap_args *args, int x, int y,
                                                   const float *f)
{
    T *out = (T *)(args->dst.data + (size_t)y * args->dst.stride) + (size_t)x * CHANNELS;
    constexpr int PER = 4 / (int)sizeof(T); /* samples per word */
    if (x + REMAP_ACROSS <= args->dst_width) {
        constexpr int WORDS = REMAP_ACROSS * CHANNELS / PER;
        unsigned words[WORDS];
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            words[i] = sample_pack<T>(f + i * PER);
        store_words<WORDS>((uint8_t *)out, words);
        return;
    }
#pragma unroll
    for (int i = 0; i < REMAP_ACROSS; i++)
        for (int c = 0; c < CHANNELS && x + i < args->dst_width; c++)
            sample_store(out + i * CHANNELS + c, f[i * CHANNELS + c]);
}

#endif
