/* Declares resampling to two, three and four times the size (resample_enlarge.cu).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_RESAMPLE_ENLARGE_H
#define GI_KERNELS_CUDA_RESAMPLE_ENLARGE_H

#include "kernels/cuda/cuda.h"
#include "kernels/geometry.h"

bool gi_cuda_enlarge_takes(const struct gi_image *src, const struct gi_resample *spec);
gi_resample_fn gi_cuda_enlarge;

#endif
