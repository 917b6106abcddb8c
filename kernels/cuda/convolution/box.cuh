/* Rows with prepared ends, shared by the box filter, min/max filters and local thresholds: with
 * them, kernels can read whole words of 8 or 16 bytes even if a window extends beyond the image.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_BOX_CUH
#define GI_KERNELS_CUDA_BOX_CUH

#include <math.h>

#include "kernels/convolution.h"
#include "kernels/cuda/common/sample.cuh"

/* A row consists of chunks of `unit` samples, one per thread. Chunks that are not completely inside
 * the image are read from `ends`, where the border is applied. For each image row, a row of `ends`
 * has the `halo` samples before the image row, and the unit + halo samples after the last whole
 * chunk of the image row. An additional row of `ends` contains border values. */
struct box_rows {
    struct source src; /* border values are samples */
    const char *ends;
    unsigned ends_stride; /* bytes */
    int unit, halo;       /* halo: a multiple of unit */
    int whole;            /* samples of a row in whole chunks */
    /* Row y above the image is replaced by row `above + step * y`, and row y below the image by row
     * `below + step * y`, if row y is at most the height away from the image. Results below `least`
     * become `least`, which is 0, or -1 if rows outside consist of border values. */
    int above, below, step, least;
};

/* Writes the row ends into scratch memory. If `more` is not NULL, *more becomes another
 * `more_nbytes` bytes of scratch memory. */
enum gi_status gi_cuda_box_rows(struct gi_cuda_queue *cu, struct box_rows *rows,
                                const struct gi_image *src, const struct gi_border_spec *border,
                                int unit, int halo, void **more, size_t more_nbytes,
                                struct gi_err *err);

/* Returns the border mode, with its values rounded to samples of an integer type. */
static inline struct gi_border_spec box_border(const struct gi_image *src,
                                               const struct gi_border_spec *border)
{
    struct gi_border_spec whole = *border;
    float full = gi_type_full_scale(src->type);
    if (src->type == GI_F32)
        return whole;
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        whole.value[c] = border->value[c] > 0 ? fminf(rintf(border->value[c]), full) : 0;
    return whole;
}

/* The single-pass implementation. */
gi_box_takes_fn gi_cuda_box_strips_takes;
gi_box_fn gi_cuda_box_strips;

/* A thread's chunk. In row 0 it begins at `first`, and rows are `stride` bytes apart. */
struct box_chunk {
    const char *first;
    unsigned stride;
    int sample;
    const char *values; /* border values in place of the chunk */
};

static __device__ __forceinline__ struct box_chunk chunk_at(const struct box_rows *rows, int sample,
                                                            int sample_nbytes)
{
    int end = sample < 0 ? sample : min(sample - rows->whole, rows->halo);
    bool inside = sample >= 0 && sample < rows->whole;
    /* Border values are three chunks, one for each channel that a chunk of RGB can begin with. */
    int number = (sample + rows->halo) / rows->unit + 3 - rows->halo / rows->unit % 3;
    struct box_chunk chunk = {rows->src.data + (long long)sample * sample_nbytes,
                              (unsigned)rows->src.stride, sample,
                              rows->ends + (size_t)rows->src.height * rows->ends_stride +
                                  number % 3 * rows->unit * sample_nbytes};
    if (!inside) {
        chunk.first = rows->ends + (end + rows->halo) * sample_nbytes;
        chunk.stride = rows->ends_stride;
    }
    return chunk;
}

/* Returns the address of the chunk in row y. Row y may be outside the image by up to the height of
 * the image; farther outside, an arbitrary row is returned. The function does not branch, so that
 * several loads can be in flight. */
static __device__ __forceinline__ const char *chunk_row(const struct box_rows *rows,
                                                        struct box_chunk chunk, int y)
{
    int height = rows->src.height, outside = rows->step * y + (y < 0 ? rows->above : rows->below);
    int yi = (unsigned)y < (unsigned)height ? y : outside;
    yi = min(max(yi, rows->least), height - 1);
    const char *first = yi < 0 ? chunk.values : chunk.first;
    return first + (size_t)(unsigned)max(yi, 0) * chunk.stride;
}

/* Loads WORDS words, an even number, from an address that is a multiple of 8 or 16 bytes. */
template <int WORDS>
static __device__ __forceinline__ void words_load(unsigned *words, const char *p)
{
    if constexpr (WORDS % 4 == 0) {
#pragma unroll
        for (int i = 0; i < WORDS; i += 4) {
            uint4 v = ((const uint4 *)p)[i / 4];
            words[i] = v.x, words[i + 1] = v.y, words[i + 2] = v.z, words[i + 3] = v.w;
        }
    } else {
#pragma unroll
        for (int i = 0; i < WORDS; i += 2) {
            uint2 v = ((const uint2 *)p)[i / 2];
            words[i] = v.x, words[i + 1] = v.y;
        }
    }
}

template <typename T, int WORDS>
static __device__ __forceinline__ void chunk_load(unsigned *words, const struct box_rows *rows,
                                                  struct box_chunk chunk, int y)
{
    words_load<WORDS>(words, chunk_row(rows, chunk, y));
}

/* The same for a row inside the image, whose address needs one instruction. */
template <typename T, int WORDS>
static __device__ __forceinline__ void chunk_load_inside(unsigned *words, struct box_chunk chunk,
                                                         int y)
{
    words_load<WORDS>(words, chunk.first + (size_t)(unsigned)y * chunk.stride);
}

/* Stores samples at `out`, but at most n, the number of samples up to the end of the image row. */
template <typename T, int WORDS>
static __device__ __forceinline__ void chunk_store(T *out, const unsigned *words, int n)
{
    enum { PER_WORD = 4 / (int)sizeof(T), WIDE = WORDS % 4 ? 2 : 4 };
    if (n < WORDS * PER_WORD) {
#pragma unroll
        for (int s = 0; s < WORDS * PER_WORD; s++)
            if (s < n && sizeof(T) == 4)
                ((unsigned *)out)[s] = words[s];
            else if (s < n)
                out[s] = (T)(words[s / PER_WORD] >> s % PER_WORD * 8 * (int)sizeof(T));
        return;
    }
#pragma unroll
    for (int i = 0; i < WORDS; i += WIDE)
        words_store<WIDE>((unsigned *)out + i, words + i);
}

/* Returns sum + a.lo * b0 + a.hi * b1. a consists of two unsigned 16-bit values, and b0 and b1 are
 * the two lower bytes of b, which are signed. */
static __device__ __forceinline__ unsigned dot2(unsigned a, unsigned b, unsigned sum)
{
    asm("dp2a.lo.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

/* Returns (2 * sum + n) / (2 * n) rounded down, or 0 if n is 0. The quotient has at most 16 bits.
 * Computed in float, it is wrong by at most 1, and the exact remainder corrects this error. */
static __device__ __forceinline__ unsigned box_quotient(unsigned sum, unsigned n)
{
    unsigned q = __float2uint_rn(__fdividef((float)sum, (float)n));
    int rest = (int)(sum - q * n), whole = (int)n;
    return n == 0 ? 0 : 2 * rest >= whole ? q + 1 : 2 * rest < -whole ? q - 1 : q;
}

/* Likewise, for a sum that needs more than 32 bits. */
static __device__ __forceinline__ unsigned box_quotient(unsigned long long sum,
                                                        unsigned long long n)
{
    unsigned q = __float2uint_rn(__fdividef((float)sum, (float)n));
    long long rest = (long long)(sum - q * n), whole = (long long)n;
    return n == 0 ? 0 : 2 * rest >= whole ? q + 1 : 2 * rest < -whole ? q - 1 : q;
}

/* Selects bytes of a and b as __byte_perm() does. A selector s of 8 or more repeats the sign bit of
 * byte s - 8. */
static __device__ __forceinline__ unsigned signs_perm(unsigned a, unsigned b, unsigned selectors)
{
    unsigned d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selectors));
    return d;
}

/* Computes words of a mask. A sample is full scale (all bits of an integer are 1) if its value in
 * `signs` is negative, else 0; the other way round if `flip` is ~0 instead of 0. */
template <typename T, int WORDS>
static __device__ __forceinline__ void signs_mask(unsigned *words, const unsigned *signs,
                                                  unsigned flip)
{
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        const unsigned *s = signs + i * (4 / (int)sizeof(T));
        if (sizeof(T) == 4) {
            words[i] = (int)(s[0] ^ flip) < 0 ? __float_as_uint(1.0f) : 0;
            continue;
        }
        words[i] = flip ^ (sizeof(T) == 2 ? signs_perm(s[0], s[1], 0xffbb)
                                          : __byte_perm(signs_perm(s[0], s[1], 0xfb),
                                                        signs_perm(s[2], s[3], 0xfb), 0x5410));
    }
}

#endif
