/* Declares downscaling by the factor 2, and, for 8-bit images, by 4 and 8 (resample_ratio.cu).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_RESAMPLE_RATIO_H
#define GI_KERNELS_CUDA_RESAMPLE_RATIO_H

#include "kernels/cuda/cuda.h"
#include "kernels/geometry.h"

bool gi_cuda_ratio_takes(const struct gi_image *src, const struct gi_resample *spec);
gi_resample_fn gi_cuda_ratio;

#endif
