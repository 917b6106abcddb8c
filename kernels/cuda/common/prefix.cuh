/* Exclusive prefix sum (scan) of an array in shared memory by one block. Every thread sums a
 * contiguous part; warp shuffles scan the sums of the threads.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_PREFIX_CUH
#define GI_KERNELS_CUDA_PREFIX_CUH

#include "kernels/cuda/cuda.h"

/* Replaces v[i] by the sum of the entries before it, for 0 <= i < n; v[n] becomes the sum of all n
 * entries. v is in shared memory and has n + 1 entries. All THREADS threads of the block call it.
 * The number of entries per thread is odd, so that accesses are free of bank conflicts.
 * Synchronises the block before and after. */
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
