/* Warp collectives: sum, minimum, maximum and bitwise or over the 32 lanes of a warp. Every lane
 * gets the result. GPUs of compute capability 8.0 and later have an instruction for each operation.
 * Older GPUs exchange values by shuffles in five butterfly steps.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_WARP_COLLECTIVES_CUH
#define GI_KERNELS_CUDA_WARP_COLLECTIVES_CUH

#include "kernels/cuda/common/arch.cuh"
#include "kernels/cuda/common/measure.h"

/* Defines NAME(v), which applies INSTRUCTION to the values v of all lanes. On older GPUs STEP
 * combines v with w, the value of another lane. */
#if GI_CUDA_ARCH >= 800
#define WARP_COLLECTIVE(TYPE, NAME, INSTRUCTION, STEP)                                             \
    static __device__ inline TYPE NAME(TYPE v)                                                     \
    {                                                                                              \
        return INSTRUCTION(ALL_LANES, v);                                                          \
    }
#else
#define WARP_COLLECTIVE(TYPE, NAME, INSTRUCTION, STEP)                                             \
    static __device__ inline TYPE NAME(TYPE v)                                                     \
    {                                                                                              \
        for (int step = WARP / 2; step > 0; step /= 2) {                                           \
            TYPE w = __shfl_xor_sync(ALL_LANES, v, step);                                          \
            v = STEP;                                                                              \
        }                                                                                          \
        return v;                                                                                  \
    }
#endif

WARP_COLLECTIVE(uint32_t, warp_reduce_sum, __reduce_add_sync, v + w)
WARP_COLLECTIVE(uint32_t, warp_reduce_max, __reduce_max_sync, max(v, w))
WARP_COLLECTIVE(uint32_t, warp_reduce_or, __reduce_or_sync, v | w)
WARP_COLLECTIVE(int, warp_reduce_min, __reduce_min_sync, min(v, w))
WARP_COLLECTIVE(int, warp_reduce_max, __reduce_max_sync, max(v, w))

/* Returns the sum of numbers below 2^43. It adds a 32-bit sum of their lower 16 bits and a 32-bit
 * sum of their upper 27 bits. */
static __device__ inline uint64_t warp_reduce_sum(uint64_t v)
{
    return warp_reduce_sum((uint32_t)v & 0xffff) +
           ((uint64_t)warp_reduce_sum((uint32_t)(v >> 16)) << 16);
}

#endif
