/* Declares template matching on tensor cores (correlate_tensor.cu).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CORRELATE_TENSOR_H
#define GI_KERNELS_CUDA_CORRELATE_TENSOR_H

#include "kernels/correlate.h"
#include "kernels/cuda/cuda.h"

gi_correlate_takes_fn gi_cuda_correlate_tensor_takes;
gi_correlate_fn gi_cuda_correlate_tensor;

#endif
