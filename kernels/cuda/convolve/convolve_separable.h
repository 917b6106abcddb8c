/* The ways of separable convolution beside the march.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CONVOLVE_SEPARABLE_H
#define GI_KERNELS_CUDA_CONVOLVE_SEPARABLE_H

#include "kernels/cuda/cuda.h"

/* Any number of taps. */
gi_convolve_separable_fn gi_cuda_separable_rows;

enum { GI_RIBBON_TAPS = 61 };

/* The same for gray of GI_U8, at most GI_RIBBON_TAPS each way, where sums stay finite, row taps go
 * in raw (march_raw.cuh) and border values are of the image's type. */
enum gi_status gi_cuda_ribbon(struct gi_cuda_queue *cu, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_separable *spec,
                              struct gi_err *err);

#endif
