/* The ways to a mean of k x k. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_BOX_H
#define GI_KERNELS_CUDA_BOX_H

#include "kernels/cuda/sample.cuh"

/* In one pass over strips of the image, where their sums fit in 32 bits and a strip with its
 * neighbours fits in a block; elsewhere *fits becomes false and nothing is done. The edge's values
 * are samples. */
enum gi_status gi_cuda_box_strips(struct gi_cuda_context *cu, bool *fits, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_edge *edge,
                                  const struct gi_box *spec, struct gi_err *err);

/* (2 * sum + n) / (2 * n) rounded down, 0 where n is 0. A quotient of at most 16 bits by floats is
 * at most one off, which the exact rest shows. */
static __device__ __forceinline__ unsigned box_quotient(unsigned sum, unsigned n)
{
    unsigned q = __float2uint_rn(__fdividef((float)sum, (float)n));
    int rest = (int)(sum - q * n), whole = (int)n;
    return n == 0 ? 0 : 2 * rest >= whole ? q + 1 : 2 * rest < -whole ? q - 1 : q;
}

#endif
