/* Masks as bits: 32 pixels of a row are a word, whose lowest bit is the leftmost pixel.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_BIT_IMAGE_CUH
#define GI_KERNELS_CUDA_BIT_IMAGE_CUH

#include "kernels/cuda/common/sample.cuh"

enum {
    WORD_PIXELS = 32,
    BITS_THREADS = 256,
    BITS_BYTES = 16,       /* of samples per thread and row */
    BITS_GRID_ROWS = 2048, /* rows of a grid; a thread processes every BITS_GRID_ROWS-th row */
};

struct bit_image {
    uint32_t *words; /* word 0 of row 0 */
    int pitch;       /* words from a row to the next */
};

static __device__ __forceinline__ uint32_t *bits_row(const struct bit_image &image, int y)
{
    return image.words + (ptrdiff_t)y * image.pitch;
}

/* The grid of kernels that call bits_pack() and bits_unpack() with BITS_THREADS threads. */
static inline dim3 bits_grid(const struct gi_image *image)
{
    long long words = ceil_div(image->width, WORD_PIXELS);
    long long threads = words * WORD_PIXELS * (long long)gi_type_nbytes(image->type) / BITS_BYTES;
    return dim3((unsigned)ceil_div(threads, BITS_THREADS),
                (unsigned)(image->height < BITS_GRID_ROWS ? image->height : BITS_GRID_ROWS));
}

/* A level to compare samples of a type with: for integers the largest integer that is not above
 * it. */
static __device__ __forceinline__ float level_of(float above, float)
{
    return above;
}

static __device__ __forceinline__ int level_of(float above, int)
{
    return __float2int_rd(above);
}

/* Neighbouring samples that are loaded and stored at once. */
template <typename T> union bits_samples {
    uint4 words;
    T v[BITS_BYTES / sizeof(T)];
};

/* Sets the bits of the pixels of `src`, which has one channel, that are > above. Lanes that have
 * samples of the same word combine their bits. The padding of rows is read, too. */
template <typename T>
static __device__ __forceinline__ void bits_pack(const struct bit_image &bits,
                                                 const struct gi_image &src, float above)
{
    enum { EACH = BITS_BYTES / sizeof(T), LANES = WORD_PIXELS / EACH };
    const int x = (int)(blockIdx.x * BITS_THREADS + threadIdx.x) * EACH;
    const auto level = level_of(above, (T)0);
    const int inside = min(src.width - x, (int)EACH); /* pixels */
    for (int y = (int)blockIdx.y; y < src.height; y += (int)gridDim.y) {
        union bits_samples<T> samples = {
        };
        uint32_t made = 0;
        if (inside > 0)
            samples.words = *(const uint4 *)((const char *)src.data + (size_t)y * src.stride +
                                             (size_t)x * sizeof(T));
#pragma unroll
        for (int i = 0; i < EACH; i++)
            made |= samples.v[i] > level && i < inside ? 1u << i : 0;
        made <<= EACH * ((int)threadIdx.x % LANES);
#pragma unroll
        for (int step = 1; step < LANES; step *= 2)
            made |= __shfl_xor_sync(~0u, made, step);
        if (inside > 0 && threadIdx.x % LANES == 0)
            bits_row(bits, y)[x / WORD_PIXELS] = made;
    }
}

/* Sets `dst` to full scale where a bit is set, else to 0. The padding of rows is written, too. */
template <typename T>
static __device__ __forceinline__ void bits_unpack(const struct gi_image &dst,
                                                   const struct bit_image &bits)
{
    enum { EACH = BITS_BYTES / sizeof(T) };
    const int x = (int)(blockIdx.x * BITS_THREADS + threadIdx.x) * EACH;
    const T full = sizeof(T) == 1 ? (T)255 : sizeof(T) == 2 ? (T)65535 : (T)1;
    if (x >= dst.width)
        return;
    for (int y = (int)blockIdx.y; y < dst.height; y += (int)gridDim.y) {
        uint32_t word = bits_row(bits, y)[x / WORD_PIXELS] >> x % WORD_PIXELS;
        union bits_samples<T> samples;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            samples.v[i] = word >> i & 1 ? full : (T)0;
        *(uint4 *)((char *)dst.data + (size_t)y * dst.stride + (size_t)x * sizeof(T)) =
            samples.words;
    }
}

#endif
