/* Warp collectives: sum, minimum, maximum and bitwise or over the 32 lanes of a warp; every lane
 * gets the result. From compute capability 8.0 on they are one instruction each; older GPUs
 * exchange values with shuffles in a butterfly pattern of five steps.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_WARP_COLLECTIVES_CUH
#define GI_KERNELS_CUDA_WARP_COLLECTIVES_CUH

#include "kernels/cuda/common/arch.cuh"
#include "kernels/cuda/common/measure.h"

static __device__ inline uint32_t warp_reduce_sum(uint32_t v)
{
#if GI_CUDA_ARCH >= 800
    return __reduce_add_sync(ALL_LANES, v);
#else
    for (int step = WARP / 2; step > 0; step /= 2)
        v += __shfl_xor_sync(ALL_LANES, v, step);
    return v;
#endif
}

static __device__ inline uint32_t warp_reduce_max(uint32_t v)
{
#if GI_CUDA_ARCH >= 800
    return __reduce_max_sync(ALL_LANES, v);
#else
    for (int step = WARP / 2; step > 0; step /= 2)
        v = max(v, __shfl_xor_sync(ALL_LANES, v, step));
    return v;
#endif
}

static __device__ inline int warp_reduce_min(int v)
{
#if GI_CUDA_ARCH >= 800
    return __reduce_min_sync(ALL_LANES, v);
#else
    for (int step = WARP / 2; step > 0; step /= 2)
        v = min(v, __shfl_xor_sync(ALL_LANES, v, step));
    return v;
#endif
}

static __device__ inline int warp_reduce_max(int v)
{
#if GI_CUDA_ARCH >= 800
    return __reduce_max_sync(ALL_LANES, v);
#else
    for (int step = WARP / 2; step > 0; step /= 2)
        v = max(v, __shfl_xor_sync(ALL_LANES, v, step));
    return v;
#endif
}

static __device__ inline uint32_t warp_reduce_or(uint32_t v)
{
#if GI_CUDA_ARCH >= 800
    return __reduce_or_sync(ALL_LANES, v);
#else
    for (int step = WARP / 2; step > 0; step /= 2)
        v |= __shfl_xor_sync(ALL_LANES, v, step);
    return v;
#endif
}

/* Sum of numbers below 2^43, as two sums that fit in 32 bits each: lower 16 bits, upper 27 bits. */
static __device__ inline uint64_t warp_reduce_sum(uint64_t v)
{
    return warp_reduce_sum((uint32_t)v & 0xffff) +
           ((uint64_t)warp_reduce_sum((uint32_t)(v >> 16)) << 16);
}

#endif
