/* Declares resampling with a sliding window of column sums (resample_slide.cu).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_RESAMPLE_SLIDE_H
#define GI_KERNELS_CUDA_RESAMPLE_SLIDE_H

#include "kernels/cuda/cuda.h"
#include "kernels/geometry.h"

bool gi_cuda_slide_takes(const struct gi_image *src, const struct gi_resample *spec);
gi_resample_fn gi_cuda_slide;

#endif
