/* Declares the implementations of local (adaptive) thresholds.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_LOCAL_THRESHOLD_CUH
#define GI_KERNELS_CUDA_LOCAL_THRESHOLD_CUH

#include "kernels/cuda/cuda.h"
#include "kernels/tone.h"

/* The strips kernel (local_strips.cu) takes windows whose sums fit in 32 bits. */
gi_local_threshold_takes_fn gi_cuda_local_strips_takes;
gi_local_threshold_fn gi_cuda_local_strips;

#endif
