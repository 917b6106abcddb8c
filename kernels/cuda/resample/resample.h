/* What the ways of resampling share: their tables in device memory.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_RESAMPLE_H
#define GI_KERNELS_CUDA_RESAMPLE_H

#include "kernels/cuda/cuda.h"

/* A struct gi_resample_side in device memory. */
struct device_side {
    int n, taps, origin;
    const int32_t *first, *phase, *integers;
    const float *weights, *sums;
};

/* Both sides, and `nbytes` more behind them, in the queue's scratch. */
enum gi_status gi_cuda_resample_tables(struct gi_cuda_queue *cu, struct device_side *row,
                                       struct device_side *col, void **more, size_t nbytes,
                                       const struct gi_resample *spec, struct gi_err *err);

#endif
