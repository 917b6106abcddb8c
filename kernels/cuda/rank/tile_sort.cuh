/* Sorts the samples of a tile and its halo: radix sort of a block, 8 bits per pass.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_TILE_SORT_CUH
#define GI_KERNELS_CUDA_TILE_SORT_CUH

#include "kernels/cuda/rank/median.cuh"

enum {
    THREADS = 512,
    WARPS = THREADS / WARP,
    DIGITS = 256,
    CHUNK = 32,               /* sorted positions that are tested at a time */
    CHUNK_NBYTES = 80,        /* 64, and 16 against bank conflicts */
    SIDE_MAX = 126,           /* of a tile with its halo, so that no sample is at NOWHERE */
    NOWHERE = 127 << 8 | 127, /* position of no sample */
    HIDDEN = 1 << 15, /* added to the position of a transparent pixel while samples are sorted */
};

/* A tile of the result, and its memory. Positions are y << 8 | x, from the halo's corner. */
struct tile {
    int width, height;  /* of the result, multiples of WARP */
    int across;         /* tiles per row of the image */
    int columns, rows;  /* of the samples, with the halo */
    int words;          /* 32-bit words per row of a plane */
    int pitch;          /* words per plane, an odd number against bank conflicts */
    int nchunks, shift; /* a plane has 1 << shift more chunks than the one before */
    int nplanes;        /* without the plane of visible samples */
    bool hides; /* there is one more plane, of all samples of pixels that are not transparent */
    int list_nbytes; /* of a list of positions */
    int nbytes;      /* shared memory */
};

/* Shared memory: a list of positions in ascending order of samples, and behind it what sorting
 * needs, or later the planes. */
struct sorting {
    unsigned *keys;   /* of the samples, row by row */
    uint16_t *ranks;  /* of positions among those of the warp with the same digit */
    uint16_t *counts; /* WARPS x DIGITS */
};

/* Returns the place in a list of the position at index i: a word has the positions i and i + 16 of
 * a chunk. */
static __device__ __forceinline__ int slot(int i)
{
    return i / CHUNK * (CHUNK_NBYTES / 2) + (i % 16 * 2 | i / 16 % 2);
}

/* Loads the keys of channel c, and makes the first list. */
template <typename T>
static __device__ __forceinline__ void load(const struct sorting *sorting, uint16_t *list,
                                            const struct median_args *args, const struct tile *tile,
                                            int x0, int y0, int c)
{
    const struct source *src = &args->src;
    bool inside =
        x0 >= 0 && y0 >= 0 && x0 + tile->columns <= src->width && y0 + tile->rows <= src->height;
    for (int y = (int)threadIdx.x / WARP; y < tile->rows; y += WARPS) {
        const T *row = (const T *)(src->data + (size_t)(inside ? y0 + y : 0) * src->stride) +
                       (size_t)(inside ? x0 : 0) * src->channels + c;
        T v[SIDE_MAX / WARP + 1];
#pragma unroll
        for (int i = 0; i <= SIDE_MAX / WARP; i++) {
            int x = (int)threadIdx.x % WARP + WARP * i;
            if (x < tile->columns)
                v[i] =
                    inside ? row[(size_t)x * src->channels] : value_at<T>(args, x0 + x, y0 + y, c);
        }
#pragma unroll
        for (int i = 0; i <= SIDE_MAX / WARP; i++) {
            int x = (int)threadIdx.x % WARP + WARP * i, at = y * tile->columns + x;
            if (x >= tile->columns)
                continue;
            sorting->keys[at] = key_of<T>(v[i]);
            list[slot(at)] = (uint16_t)(y << 8 | x);
            if (!args->hides)
                continue;
            int last = src->channels - 1;
            T alpha = inside ? row[(size_t)x * src->channels + last - c]
                             : value_at<T>(args, x0 + x, y0 + y, last);
            if (!(alpha > 0))
                list[slot(at)] |= HIDDEN;
        }
    }
}

static __device__ __forceinline__ unsigned
digit_of(const struct sorting *sorting, const struct tile *tile, unsigned position, int shift)
{
    return sorting->keys[(position >> 8 & 127) * tile->columns + (position & 255)] >> shift & 255;
}

/* Counts the digits of the warp's part of a list, and ranks its positions among those with the same
 * digit. */
static __device__ __forceinline__ void rank_digits(const struct sorting *sorting,
                                                   const struct tile *tile, const uint16_t *from,
                                                   uint16_t *counts, int begin, int end, int shift)
{
    unsigned lane = threadIdx.x % WARP;
    for (int i = begin; i < end; i += WARP) {
        int at = i + (int)lane;
        bool is = at < tile->columns * tile->rows;
        unsigned digit = is ? digit_of(sorting, tile, from[slot(at)], shift) : 0;
        unsigned peers = __ballot_sync(ALL_LANES, is);
#pragma unroll
        for (int bit = 0; bit < 8; bit++) {
            unsigned set = __ballot_sync(ALL_LANES, digit >> bit & 1);
            peers &= digit >> bit & 1 ? set : ~set;
        }
        unsigned before = (unsigned)__popc(peers & ((1u << lane) - 1)), first = 0;
        if (is)
            first = counts[digit];
        __syncwarp();
        if (is && !before)
            counts[digit] = (uint16_t)(first + (unsigned)__popc(peers));
        __syncwarp();
        if (is)
            sorting->ranks[at] = (uint16_t)(first + before);
    }
}

/* Replaces the counts of each warp and digit by the number of positions that precede them: all with
 * a lower digit, and those of lower warps with the same digit. */
static __device__ __forceinline__ void scan_digits(uint16_t *counts)
{
    unsigned digit = threadIdx.x, sum = 0, all;
    if (digit < DIGITS) {
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            sum += counts[w * DIGITS + digit];
    }
    unsigned before = block_before<WARPS>(sum, &all);
    if (digit < DIGITS) {
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            unsigned count = counts[w * DIGITS + digit];
            counts[w * DIGITS + digit] = (uint16_t)before;
            before += count;
        }
    }
    __syncthreads();
}

/* Sorts the positions by one digit of their keys. */
static __device__ __forceinline__ void sort_pass(const struct sorting *sorting,
                                                 const struct tile *tile, const uint16_t *from,
                                                 uint16_t *to, int shift)
{
    int n = tile->columns * tile->rows, part = (tile->nchunks + WARPS - 1) / WARPS * CHUNK;
    int begin = (int)threadIdx.x / WARP * part, end = min(begin + part, n);
    uint16_t *counts = sorting->counts + (int)threadIdx.x / WARP * DIGITS;
    for (int i = (int)threadIdx.x % WARP; i < DIGITS; i += WARP)
        counts[i] = 0;
    __syncwarp();
    rank_digits(sorting, tile, from, counts, begin, end, shift);
    __syncthreads();
    scan_digits(sorting->counts);
    for (int i = begin + (int)threadIdx.x % WARP; i < end; i += WARP) {
        unsigned position = from[slot(i)];
        unsigned digit = digit_of(sorting, tile, position, shift);
        to[slot((int)counts[digit] + sorting->ranks[i])] = (uint16_t)position;
    }
    __syncthreads();
}

static __device__ __forceinline__ void swap_lists(uint16_t **one, uint16_t **other)
{
    uint16_t *swap = *one;
    *one = *other;
    *other = swap;
}

#endif
