/* Tiles of a histogram: the samples that a warp counts at a time. A warp loads the next tile while
 * it counts the current one (double buffering in registers).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_TILES_CUH
#define GI_KERNELS_CUDA_TILES_CUH

#include "kernels/cuda/common/measure.h"

/* One block per multiprocessor, because the table of every block must be merged at the end. */
enum { THREADS = 1024, WARPS = THREADS / WARP };

/* In a tile a lane owns WIDE pieces of 16 bytes, which are N samples each. Neighbouring lanes own
 * neighbouring pieces, so that loads are coalesced. Tiles of three channels are whole numbers of
 * pixels, too. CHANNELS is 4 also for images of 1 or 2 channels if the kernel is the same. */
template <typename T, int CHANNELS> struct tile {
    enum { N = 16 / (int)sizeof(T), STEP = WARP * N, WIDE = CHANNELS == 3 ? 3 : 4 };
    const T *samples; /* the lane's first piece; piece i begins i * STEP samples after it */
    unsigned y, index;
    unsigned first; /* index of the lane's first sample within the row */
    int left;       /* samples from `first` to the end of the row; 0 below the last row */
};

template <typename T, int CHANNELS>
static __device__ inline void tile_find(struct tile<T, CHANNELS> *tile, const struct gi_image &src)
{
    tile->first = tile->index * (tile->WIDE * tile->STEP) + threadIdx.x % WARP * tile->N;
    tile->samples =
        (const T *)((const char *)src.data + (size_t)tile->y * src.stride) + tile->first;
    tile->left = tile->y < (unsigned)src.height ? src.width * src.channels - (int)tile->first : 0;
}

template <typename T, int CHANNELS>
static __device__ inline bool piece_is_whole(const struct tile<T, CHANNELS> &tile, int i)
{
    return tile.left >= i * tile.STEP + tile.N;
}

/* Loads the lane's whole pieces. */
template <typename T, int CHANNELS>
static __device__ inline void pieces_load(uint4 *pieces, const struct tile<T, CHANNELS> &tile)
{
#pragma unroll
    for (int i = 0; i < tile.WIDE; i++)
        if (piece_is_whole(tile, i))
            pieces[i] = ((const uint4 *)tile.samples)[i * WARP];
}

/* If one of the lane's pieces is partial, sets *from to the index within the tile of the first
 * sample of that piece, and returns the index of the end of its samples. A lane has at most one
 * partial piece. */
template <typename T, int CHANNELS>
static __device__ inline int tile_rest(const struct tile<T, CHANNELS> &tile, int *from)
{
    *from = tile.left - tile.left % tile.STEP;
    return *from < tile.WIDE * tile.STEP && tile.left < *from + tile.N ? tile.left : *from;
}

/* Counts all tiles of this warp. `pieces` are the pieces of the first tile. Each further tile is
 * loaded before the tile that precedes it is counted. The counter has piece_count() for whole
 * pieces and sample_count() for single samples. */
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
            sample_count(counter, here.samples[k], (here.first + k) % src.channels);
#pragma unroll
        for (int i = 0; i < here.WIDE; i++)
            pieces[i] = ahead[i];
        here = next;
    }
    __syncthreads();
}

/* Sets a table of `size` entries, a multiple of 4, to 0. */
static __device__ inline void table_clear(unsigned *table, unsigned size)
{
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < size / 4; i += THREADS)
        ((uint4 *)table)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
}

#endif
