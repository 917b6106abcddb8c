/* Declares resampling by any ratio in one pass (resample_fused.cu).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_RESAMPLE_FUSED_H
#define GI_KERNELS_CUDA_RESAMPLE_FUSED_H

#include "kernels/cuda/cuda.h"
#include "kernels/geometry.h"

bool gi_cuda_fused_takes(const struct gi_image *src, const struct gi_resample *spec);
gi_resample_fn gi_cuda_fused;

#endif
