/* The ways of separable convolution beside the march.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CONVOLVE_SEPARABLE_H
#define GI_KERNELS_CUDA_CONVOLVE_SEPARABLE_H

#include "kernels/cuda/cuda.h"

/* Any number of taps. */
gi_convolve_separable_fn gi_cuda_separable_rows;

/* The ribbon: up to 61 taps of gray, and of bytes of RGB and of RGBA with colour taken times alpha;
 * where sums stay finite, row taps go in raw (march_raw.cuh), quotients by alpha are within
 * march_divides() and border values are of the image's type. */
bool gi_cuda_ribbon_takes(const struct gi_image *src, const struct gi_separable *spec);
enum gi_status gi_cuda_ribbon(struct gi_cuda_queue *cu, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_separable *spec,
                              struct gi_err *err);

#endif
