/* Sliding histograms (Huang et al., see median.cu). Every lane of a warp has a histogram of one
 * digit (8 bits) of its window's samples, in a shared-memory bank of its own, so that there are no
 * bank conflicts. The rows that enter and leave the windows are staged in shared memory for the
 * whole warp.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_SLIDING_HISTOGRAM_CUH
#define GI_KERNELS_CUDA_SLIDING_HISTOGRAM_CUH

#include "kernels/cuda/rank/median.cuh"

enum {
    BINS = 256,
    BLOCK = 8,       /* bins that are examined together */
    CHUNK = 32,      /* columns of windows that are staged in shared memory at a time */
    AHEAD = 8,       /* and in registers */
    ROWS_MAX = 32768 /* of a grid */
};

/* Histogram of one lane. With NARROW a word holds two 16-bit counts, for windows of fewer than 2^16
 * samples. */
template <bool NARROW> struct bins {
    enum { WORDS = NARROW ? BINS / 2 : BINS, NBYTES = WORDS * WARP * 4 };

    static __device__ __forceinline__ void add(unsigned *at, unsigned bin, unsigned one)
    {
        at[NARROW ? bin / 2 * WARP : bin * WARP] += NARROW ? one << 16 * (bin & 1) : one;
    }

    static __device__ __forceinline__ unsigned block(unsigned *counts, const unsigned *at,
                                                     int block)
    {
        unsigned sum = 0;
#pragma unroll
        for (int i = 0; i < BLOCK; i += NARROW ? 2 : 1) {
            unsigned word = at[(block * BLOCK + i) / (NARROW ? 2 : 1) * WARP];
            counts[i] = NARROW ? word & 0xffff : word;
            if (NARROW)
                counts[i + 1] = word >> 16;
            sum += NARROW ? counts[i] + counts[i + 1] : counts[i];
        }
        return sum;
    }
};

/* State of a search: a block of bins, and the number of samples in the bins before that block. */
struct place {
    int block;
    unsigned below;
};

/* Returns the bin that contains the sample at index *rank in ascending order; *rank becomes its
 * index within the bin. */
template <bool NARROW>
static __device__ __forceinline__ unsigned find(struct place *place, const unsigned *at,
                                                unsigned *rank)
{
    unsigned counts[BLOCK], sum = bins<NARROW>::block(counts, at, place->block);
    while (place->below > *rank || place->below + sum <= *rank) {
        bool back = place->below > *rank;
        place->below += back ? 0 : sum;
        place->block += back ? -1 : 1;
        sum = bins<NARROW>::block(counts, at, place->block);
        place->below -= back ? sum : 0;
    }
    unsigned bin = (unsigned)place->block * BLOCK, left = *rank - place->below;
    bool beyond = true;
#pragma unroll
    for (int i = 0; i < BLOCK - 1; i++) {
        beyond = beyond && counts[i] <= left;
        left -= beyond ? counts[i] : 0;
        bin += beyond;
    }
    *rank = left;
    return bin;
}

enum { SPAN = WARP + (CHUNK - 1) * GI_MAX_CHANNELS };

/* The samples of a warp: neighbouring samples of a row. */
struct strip {
    const struct median_args *args;
    int first;         /* index in a row */
    unsigned *keys[2]; /* SPAN keys each, in shared memory */
};

/* Stages the keys of row y for n window columns, from column i on. y may be outside the image. */
template <typename T>
static __device__ __forceinline__ void stage(unsigned *keys, const struct strip *strip, int y,
                                             int i, int n)
{
    const struct median_args *args = strip->args;
    int channels = args->src.channels, lane = (int)threadIdx.x;
    int count = WARP + (n - 1) * channels, first = strip->first + (i - args->width / 2) * channels;
    int row = y;
    if ((unsigned)y >= (unsigned)args->src.height)
        row = gi_border_index(y, args->src.height, args->src.border);
    if (!args->hides && row >= 0 && first >= 0 && first + count <= args->src.width * channels) {
        const T *from = (const T *)(args->src.data + (size_t)row * args->src.stride) + first + lane;
        T v[SPAN / WARP + 1];
#pragma unroll
        for (int m = 0; m <= SPAN / WARP; m++)
            if (lane + WARP * m < count)
                v[m] = from[WARP * m];
#pragma unroll
        for (int m = 0; m <= SPAN / WARP; m++)
            if (lane + WARP * m < count)
                keys[lane + WARP * m] = key_of<T>(v[m]);
        return;
    }
    for (int m = lane; m < count; m += WARP) {
        int at = first + m, before = at < 0 ? (channels - 1 - at) / channels : 0;
        at += before * channels;
        int x = at / channels - before;
        if (args->hides && !(value_at<T>(args, x, y, channels - 1) > 0))
            keys[m] = no_key<T>();
        else
            keys[m] = key_of<T>(value_at<T>(args, x, y, at % channels));
    }
}

/* Adds row `in` to the histograms of the upper digits and, if `both`, subtracts row `out`. */
template <typename T, bool NARROW>
static __device__ __forceinline__ void slide(const struct strip *strip, unsigned *at,
                                             struct place *place, int in, int out, bool both)
{
    enum { SHIFT = 8 * (int)sizeof(T) - 8 };
    int width = strip->args->width, channels = strip->args->src.channels;
    for (int i = 0; i < width; i += CHUNK) {
        int n = min(width - i, (int)CHUNK);
        __syncwarp();
        stage<T>(strip->keys[0], strip, in, i, n);
        if (both)
            stage<T>(strip->keys[1], strip, out, i, n);
        __syncwarp();
        for (int j = 0; j < n; j += AHEAD) {
            unsigned bin[2][AHEAD];
#pragma unroll
            for (int m = 0; m < AHEAD; m++) {
                int place_of = (int)threadIdx.x + min(j + m, n - 1) * channels;
                bin[0][m] = strip->keys[0][place_of] >> SHIFT;
                bin[1][m] = both ? strip->keys[1][place_of] >> SHIFT : 0;
            }
#pragma unroll
            for (int m = 0; m < AHEAD; m++) {
                if (j + m >= n)
                    continue;
                bins<NARROW>::add(at, bin[0][m], 1);
                place->below += (int)bin[0][m] < place->block * BLOCK ? 1 : 0;
                if (both) {
                    bins<NARROW>::add(at, bin[1][m], ~0u);
                    place->below -= (int)bin[1][m] < place->block * BLOCK ? 1 : 0;
                }
            }
        }
    }
}

/* Counts the next digit of keys that begin with `digits`, in the window whose first row is y. */
template <typename T, bool NARROW>
static __device__ __forceinline__ void count_digits(const struct strip *strip, unsigned *at, int y,
                                                    unsigned digits, int shift)
{
    int width = strip->args->width, channels = strip->args->src.channels;
    for (int i = 0; i < bins<NARROW>::WORDS; i++)
        at[i * WARP] = 0;
    for (int row = y; row < y + strip->args->height; row++)
        for (int i = 0; i < width; i += CHUNK) {
            int n = min(width - i, (int)CHUNK);
            __syncwarp();
            stage<T>(strip->keys[0], strip, row, i, n);
            __syncwarp();
#pragma unroll 8
            for (int j = 0; j < n; j++) {
                unsigned key = strip->keys[0][(int)threadIdx.x + j * channels] >> shift;
                if (key >> 8 == digits)
                    bins<NARROW>::add(at, key & 255, 1);
            }
        }
}

/* Launches a kernel whose warps move down bands of `band` rows; each warp has `nbytes` bytes of
 * bins. */
typedef void sliding_kernel(const struct median_args args, int band);
static inline enum gi_status sliding_launch(struct gi_cuda_queue *cu,
                                            const struct median_args *args, sliding_kernel *kernel,
                                            int nbytes, struct gi_err *err)
{
    int blocks = 1;
    GI_CUDA_ALLOW_SHARED(cu, kernel);
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, WARP, (size_t)nbytes));
    int across = ceil_div((long long)args->src.width * args->src.channels, WARP);
    int bands = blocks * cu->units / across; /* one wave */
    bands = bands < 1 ? 1 : bands > ROWS_MAX ? (int)ROWS_MAX : bands;
    int band = ceil_div(args->src.height, bands);
    dim3 grid((unsigned)across, (unsigned)ceil_div(args->src.height, band));
    kernel<<<grid, WARP, (size_t)nbytes, cu->stream>>>(*args, band);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

#endif
