/* Exclusive prefix sums (scans) of unsigned integers A: over the lanes of a warp, over the threads
 * of a block, and of an array in shared memory.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_PREFIX_CUH
#define GI_KERNELS_CUDA_PREFIX_CUH

#include "kernels/cuda/cuda.h"

enum { WARP = 32 };
static const unsigned ALL_LANES = 0xffffffffu;

/* Returns the sum of `v` over all lower lanes of the warp. *total is the sum over all lanes. */
template <typename A> static __device__ inline A warp_before(A v, A *total)
{
    unsigned lane = threadIdx.x % WARP;
    A sum = v;
    for (unsigned step = 1; step < WARP; step *= 2) {
        A other = __shfl_up_sync(ALL_LANES, sum, step);
        sum += lane >= step ? other : 0;
    }
    *total = __shfl_sync(ALL_LANES, sum, WARP - 1);
    return sum - v;
}

/* Returns the sum of `v` over all lower threads of the block. *total is the sum over all threads.
 * Synchronises the block once; the caller does so between two calls. */
template <unsigned WARPS, typename A> static __device__ inline A block_before(A v, A *total)
{
    __shared__ A warps[WARPS];
    A all, before = warp_before(v, &all);
    unsigned lane = threadIdx.x % WARP;
    if (lane == 0)
        warps[threadIdx.x / WARP] = all;
    __syncthreads();
    A sums = warp_before(lane < WARPS ? warps[lane] : 0, total);
    return before + __shfl_sync(ALL_LANES, sums, threadIdx.x / WARP);
}

/* Replaces v[i] by the sum of the entries before it, for 0 <= i < n; v[n] becomes the sum of all n
 * entries. v is in shared memory and has n + 1 entries. All THREADS threads of the block call it.
 * Every thread sums a contiguous part. The number of entries per thread is odd, so that accesses
 * are free of bank conflicts. Synchronises the block before and after. */
template <int THREADS, typename A> static __device__ void prefix_of_block(A *v, int n)
{
    __syncthreads();
    int each = ((n + THREADS - 1) / THREADS) | 1;
    int first = min((int)threadIdx.x * each, n), end = min(first + each, n);
    A mine = 0, all;
    for (int i = first; i < end; i++)
        mine += v[i];
    A before = block_before<THREADS / WARP>(mine, &all);
    for (int i = first; i < end; i++) {
        A old = v[i];
        v[i] = before;
        before += old;
    }
    if (threadIdx.x == 0)
        v[n] = all;
    __syncthreads();
}

#endif
