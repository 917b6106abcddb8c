/* Prefix sums of a block. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_PREFIX_CUH
#define GI_KERNELS_CUDA_PREFIX_CUH

#include "kernels/cuda/cuda.h"

/* v[i] becomes the sum of the entries before it, for n entries in shared memory and the one after
 * them. All threads of a block of so many; each adds up an odd number of neighbours, so that banks
 * don't collide. Waits for the block before and after. */
template <int THREADS, typename A> static __device__ void prefix_of_block(A *v, int n)
{
    __shared__ A warps[THREADS / 32];
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    __syncthreads();
    int each = ((n + THREADS - 1) / THREADS) | 1;
    int first = min((int)threadIdx.x * each, n), end = min(first + each, n);
    A mine = 0;
    for (int i = first; i < end; i++)
        mine += v[i];
    A before = mine;
    for (int d = 1; d < 32; d *= 2) {
        A other = __shfl_up_sync(~0u, before, d);
        before += lane >= d ? other : 0;
    }
    if (lane == 31)
        warps[warp] = before;
    __syncthreads();
    before -= mine;
    for (int i = 0; i < warp; i++)
        before += warps[i];
    for (int i = first; i < end; i++) {
        A old = v[i];
        v[i] = before;
        before += old;
    }
    if (first < n && end == n)
        v[n] = before;
    __syncthreads();
}

#endif
