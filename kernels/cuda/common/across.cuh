/* What all lanes of a warp give, put together; all lanes get it. GPUs before 8.0 have no such
 * instructions. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_ACROSS_CUH
#define GI_KERNELS_CUDA_ACROSS_CUH

#include "kernels/cuda/common/arch.cuh"
#include "kernels/cuda/common/measure.h"

static __device__ inline uint32_t sum_across(uint32_t v)
{
#if GI_CUDA_ARCH >= 800
    return __reduce_add_sync(ALL_LANES, v);
#else
    for (int step = WARP / 2; step > 0; step /= 2)
        v += __shfl_xor_sync(ALL_LANES, v, step);
    return v;
#endif
}

static __device__ inline uint32_t max_across(uint32_t v)
{
#if GI_CUDA_ARCH >= 800
    return __reduce_max_sync(ALL_LANES, v);
#else
    for (int step = WARP / 2; step > 0; step /= 2)
        v = max(v, __shfl_xor_sync(ALL_LANES, v, step));
    return v;
#endif
}

static __device__ inline int min_across(int v)
{
#if GI_CUDA_ARCH >= 800
    return __reduce_min_sync(ALL_LANES, v);
#else
    for (int step = WARP / 2; step > 0; step /= 2)
        v = min(v, __shfl_xor_sync(ALL_LANES, v, step));
    return v;
#endif
}

static __device__ inline int max_across(int v)
{
#if GI_CUDA_ARCH >= 800
    return __reduce_max_sync(ALL_LANES, v);
#else
    for (int step = WARP / 2; step > 0; step /= 2)
        v = max(v, __shfl_xor_sync(ALL_LANES, v, step));
    return v;
#endif
}

static __device__ inline uint32_t or_across(uint32_t v)
{
#if GI_CUDA_ARCH >= 800
    return __reduce_or_sync(ALL_LANES, v);
#else
    for (int step = WARP / 2; step > 0; step /= 2)
        v |= __shfl_xor_sync(ALL_LANES, v, step);
    return v;
#endif
}

/* Of numbers below 2^43. */
static __device__ inline uint64_t sum_across(uint64_t v)
{
    return sum_across((uint32_t)v & 0xffff) + ((uint64_t)sum_across((uint32_t)(v >> 16)) << 16);
}

#endif
