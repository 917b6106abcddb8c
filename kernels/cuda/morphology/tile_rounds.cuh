/* Rounds over the tiles of an image, for filters in which a tile that changes makes its neighbours
 * change: a launch per round processes the tiles on a list and puts neighbours on the list of the
 * next launch, until the list is empty. Blocks may read pixels of tiles that other blocks are
 * changing: whoever changes them lists the reader again.
 *
 * Example: 8192 x 8192 pixels in tiles of 64 x 64: the first list has 16384 tiles, each further
 * list those that changes have reached. The host reads the length of the list after every ROUNDS
 * launches.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_TILE_ROUNDS_CUH
#define GI_KERNELS_CUDA_TILE_ROUNDS_CUH

#include "kernels/cuda/cuda.h"

enum { ROUNDS = 8 /* launches between two looks of the host */ };

struct tile_rounds {
    int across, down;    /* tiles per row and column of an image */
    unsigned ntiles;     /* of all images; the tiles of an image follow each other */
    unsigned *counts;    /* of three lists, used in rotation */
    unsigned *lists[2];  /* tiles, used in rotation; the first list is all tiles, and not stored */
    unsigned *listed[2]; /* whether a tile is on the list */
};

/* Returns the number of tiles of a round. */
static __device__ __forceinline__ unsigned round_count(const struct tile_rounds &t, unsigned round)
{
    unsigned n = round ? t.counts[round % 3] : t.ntiles;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        t.counts[(round + 2) % 3] = 0;
    return n;
}

/* Returns the i-th tile of a round and takes it from the list. */
static __device__ __forceinline__ unsigned round_tile(const struct tile_rounds &t, unsigned round,
                                                      unsigned i)
{
    unsigned tile = round ? t.lists[round % 2][i] : i;
    if (threadIdx.x == 0)
        t.listed[round % 2][tile] = 0;
    return tile;
}

/* Puts neighbours of a tile on the list of the next round: those in whose direction `changed` is
 * not 0, which has an entry (dy + 1) * 3 + dx + 1 per direction. */
static __device__ __forceinline__ void round_list(const struct tile_rounds &t, unsigned round,
                                                  unsigned tile, const unsigned *changed,
                                                  bool eight)
{
    unsigned at = tile % ((unsigned)t.across * (unsigned)t.down);
    int k = (int)threadIdx.x, dx = k % 3 - 1, dy = k / 3 - 1;
    int x = (int)(at % (unsigned)t.across) + dx, y = (int)(at / (unsigned)t.across) + dy;
    if (k >= 9 || k == 4 || (dx && dy && !eight) || !changed[k])
        return;
    if (x < 0 || y < 0 || x >= t.across || y >= t.down)
        return;
    unsigned other = tile + (unsigned)(dy * t.across + dx), next = (round + 1) % 2;
    if (atomicExch(&t.listed[next][other], 1u) == 0)
        t.lists[next][atomicAdd(&t.counts[(round + 1) % 3], 1u)] = other;
}

static inline size_t tile_rounds_nbytes(size_t ntiles)
{
    return (4 + 4 * ntiles) * sizeof(unsigned);
}

/* Sets `t` up in memory of tile_rounds_nbytes() bytes. */
static inline enum gi_status tile_rounds_start(struct tile_rounds *t, struct gi_cuda_queue *cu,
                                               void *memory, struct gi_err *err)
{
    size_t ntiles = t->ntiles;
    t->counts = (unsigned *)memory;
    for (int i = 0; i < 2; i++) {
        t->listed[i] = t->counts + 4 + i * ntiles;
        t->lists[i] = t->counts + 4 + (2 + i) * ntiles;
    }
    GI_CUDA_TRY(cudaMemsetAsync(memory, 0, (4 + 2 * ntiles) * sizeof(unsigned), cu->stream));
    return GI_OK;
}

/* Launches rounds until a list is empty. `launch` launches one, with at most `blocks` blocks. */
static inline enum gi_status
tile_rounds_run(const struct tile_rounds *t, struct gi_cuda_queue *cu, unsigned blocks,
                void (*launch)(struct gi_cuda_queue *, const void *, unsigned, unsigned),
                const void *args, struct gi_err *err)
{
    unsigned left = 1, round = 0;
    blocks = t->ntiles < blocks ? t->ntiles : blocks;
    while (left) {
        for (int i = 0; i < ROUNDS; i++)
            launch(cu, args, blocks, round++);
        GI_CUDA_LAUNCHED();
        enum gi_status status = gi_cuda_copy_to_host(cu, &left, sizeof left, &t->counts[round % 3],
                                                     sizeof left, sizeof left, 1, err);
        if (status)
            return status;
        round = round % 6 + 6; /* the same remainders, and not 0 */
    }
    return GI_OK;
}

#endif
