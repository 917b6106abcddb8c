/* Shared by the resampling kernels: tables of weights in device memory, Kahan sums over blocks of
 * taps.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_RESAMPLE_H
#define GI_KERNELS_CUDA_RESAMPLE_H

#include "kernels/cuda/cuda.h"
#include "kernels/geometry.h"

/* A struct gi_resample_side in device memory. */
struct device_side {
    int n, taps, origin;
    const int32_t *first, *phase, *integers;
    const float *weights, *sums;
};

/* Copies the tables of both sides to scratch memory, which has `nbytes` further bytes after
 * them. */
enum gi_status gi_cuda_resample_tables(struct gi_cuda_queue *cu, struct device_side *row,
                                       struct device_side *col, void **more, size_t nbytes,
                                       const struct gi_resample *spec, struct gi_err *err);

/* Adds the sum of one block of taps to a sum with carry over many taps, which struct gi_separable
 * defines. */
static __device__ __forceinline__ void add_block(float *s, float *carry, float block)
{
    float y = __fsub_rn(block, *carry), t = __fadd_rn(*s, y);
    float e = __fsub_rn(__fsub_rn(t, *s), y);
    *carry = fabsf(e) < INFINITY ? e : 0.0f;
    *s = t;
}

#endif
