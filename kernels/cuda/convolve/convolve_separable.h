/* Separable convolution of any size, beside the march.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CONVOLVE_SEPARABLE_H
#define GI_KERNELS_CUDA_CONVOLVE_SEPARABLE_H

#include "kernels/cuda/cuda.h"

/* As convolve_separable: rows into a float scratch, columns out of it. */
enum gi_status gi_cuda_two_passes(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_separable *spec,
                                  struct gi_err *err);

/* The same in one kernel, where the device holds rows enough in shared memory: `done` says so. */
enum gi_status gi_cuda_fused(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_separable *spec,
                             bool *done, struct gi_err *err);

enum { GI_RIBBON_TAPS = 61 };

/* The same for gray of GI_U8, at most GI_RIBBON_TAPS each way, where sums stay finite, row taps go
 * in raw (march_raw.cuh) and border values are of the image's type. */
enum gi_status gi_cuda_ribbon(struct gi_cuda_queue *cu, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_separable *spec,
                              struct gi_err *err);

#endif
