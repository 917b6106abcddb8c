/* Decoupled look-back: a prefix sum over the tiles of a launch in one pass. A tile publishes its
 * own sum, adds up the sums of all tiles before it, and publishes the sum up to and including
 * itself. D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
 * NVIDIA, 2016. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_LOOK_BACK_CUH
#define GI_KERNELS_CUDA_LOOK_BACK_CUH

#include "kernels/cuda/common/measure.h"

enum { LOOKS = 2 /* words that a lane reads at once while it looks back */ };

/* State of a tile, in the upper half of a 64-bit word: no sum yet, its own sum, or the sum up to
 * and including the tile. The sum is in the lower half. */
enum { SAID_NOTHING, SAID_OWN, SAID_ALL };

static __device__ inline void tile_publish(volatile device_u64 *tile, device_u64 what, unsigned sum)
{
    *tile = what << 32 | sum;
}

/* Returns the sum of all tiles before `tile`; `count` is the sum of this tile. All lanes of the
 * warp call this function. Tiles are assigned in order, so all earlier tiles run or have ended, and
 * each tile publishes its own sum without waiting for other tiles. */
static __device__ inline unsigned look_back(volatile device_u64 *tiles, unsigned tile,
                                            unsigned count)
{
    const unsigned lane = threadIdx.x % WARP;
    unsigned mine = 0, before;
    bool found = false;
    if (lane == 0)
        tile_publish(&tiles[tile], tile ? SAID_OWN : SAID_ALL, count);
    for (unsigned end = tile; !found;) { /* `mine` includes the tiles from `end` on */
        device_u64 said[LOOKS];
#pragma unroll
        for (unsigned i = 0; i < LOOKS; i++) {
            unsigned back = i * WARP + lane + 1;
            said[i] = back <= end ? tiles[end - back] : (device_u64)SAID_ALL << 32;
        }
#pragma unroll
        for (unsigned i = 0; i < LOOKS && !found; i++, end -= WARP) {
            unsigned all = __ballot_sync(ALL_LANES, said[i] >> 32 == SAID_ALL);
            unsigned nothing = __ballot_sync(ALL_LANES, said[i] >> 32 == SAID_NOTHING);
            unsigned upto = all ^ (all - 1); /* up to the first complete one, or all */
            if (nothing & upto)
                break;
            mine += upto >> lane & 1 ? (unsigned)said[i] : 0;
            found = all;
        }
    }
    warp_before(mine, &before);
    if (lane == 0 && tile)
        tile_publish(&tiles[tile], SAID_ALL, before + count);
    return before;
}

#endif
