/* Tiles: what a warp of a histogram counts at a time.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_TILES_CUH
#define GI_KERNELS_CUDA_TILES_CUH

#include "kernels/cuda/common/measure.h"

/* One block a multiprocessor: few blocks are few tables to merge. */
enum { THREADS = 1024, WARPS = THREADS / WARP };

/* WIDE pieces of N samples, 16 bytes, a lane; neighbouring lanes hold neighbouring pieces. With
 * three channels a tile is a whole number of pixels too. */
template <typename T, int CHANNELS> struct tile {
    enum { N = 16 / (int)sizeof(T), STEP = WARP * N, WIDE = CHANNELS == 3 ? 3 : 4 };
    const T *samples; /* the lane's first piece; piece i begins i * STEP further on */
    unsigned y, index;
    unsigned first; /* sample of the row that the lane begins with */
    int left;       /* samples of the row from there on; 0 below the last row */
};

template <typename T, int CHANNELS>
static __device__ inline void tile_find(struct tile<T, CHANNELS> *tile, const struct gi_image &src)
{
    tile->first = tile->index * (tile->WIDE * tile->STEP) + threadIdx.x % WARP * tile->N;
    tile->samples =
        (const T *)((const char *)src.data + (size_t)tile->y * src.stride) + tile->first;
    tile->left = tile->y < (unsigned)src.height ? src.width * CHANNELS - (int)tile->first : 0;
}

template <typename T, int CHANNELS>
static __device__ inline bool piece_is_whole(const struct tile<T, CHANNELS> &tile, int i)
{
    return tile.left >= i * tile.STEP + tile.N;
}

/* The lane's pieces that are whole. */
template <typename T, int CHANNELS>
static __device__ inline void pieces_load(uint4 *pieces, const struct tile<T, CHANNELS> &tile)
{
#pragma unroll
    for (int i = 0; i < tile.WIDE; i++)
        if (piece_is_whole(tile, i))
            pieces[i] = ((const uint4 *)tile.samples)[i * WARP];
}

/* Of the lane's pieces one may not be whole: samples *from to the result - 1 of the tile. */
template <typename T, int CHANNELS>
static __device__ inline int tile_rest(const struct tile<T, CHANNELS> &tile, int *from)
{
    *from = tile.left - tile.left % tile.STEP;
    return *from < tile.WIDE * tile.STEP && tile.left < *from + tile.N ? tile.left : *from;
}

/* Counts the tiles of `warp`, whose first one's pieces are here; the next one's are asked for
 * before these are counted. A counter says by piece_count() and sample_count() how. */
template <typename T, int CHANNELS, class C>
static __device__ inline void tiles_count(const C &counter, struct tile<T, CHANNELS> here,
                                          uint4 *pieces, const struct gi_image &src,
                                          const struct walk &walk)
{
    while (here.y < (unsigned)src.height) {
        struct tile<T, CHANNELS> next = here;
        uint4 ahead[here.WIDE];
        walk_next(walk, &next.y, &next.index);
        tile_find(&next, src);
        pieces_load(ahead, next);
#pragma unroll
        for (int i = 0; i < here.WIDE; i++)
            if (piece_is_whole(here, i))
                piece_count(counter, pieces[i], i * here.STEP);
        int k, end = tile_rest(here, &k);
#pragma unroll 1
        for (; k < end; k++)
            sample_count(counter, here.samples[k], (here.first + k) % CHANNELS);
#pragma unroll
        for (int i = 0; i < here.WIDE; i++)
            pieces[i] = ahead[i];
        here = next;
    }
    __syncthreads();
}

/* A whole number of uint4. */
static __device__ inline void table_clear(unsigned *table, unsigned size)
{
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < size / 4; i += THREADS)
        ((uint4 *)table)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
}

#endif
