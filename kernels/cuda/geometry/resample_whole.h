/* Reduction of gray bytes by the ratios 2, 4 and 8 with integer weights (resample_whole.cu).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_RESAMPLE_WHOLE_H
#define GI_KERNELS_CUDA_RESAMPLE_WHOLE_H

#include "kernels/cuda/cuda.h"
#include "kernels/geometry.h"

bool gi_cuda_whole_takes(const struct gi_image *src, const struct gi_resample *spec);
gi_resample_fn gi_cuda_whole;

#endif
