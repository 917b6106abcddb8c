/* What the ways to local thresholds share. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_LOCAL_CUH
#define GI_KERNELS_CUDA_LOCAL_CUH

#include "kernels/cuda/cuda.h"

/* The way of means of windows that reach 16 bytes (box/box_near.cu), and that of gray integers
 * whose sums fit in 32 bits. */
gi_local_threshold_takes_fn gi_cuda_local_near_takes, gi_cuda_local_strips_takes;
gi_local_threshold_fn gi_cuda_local_near, gi_cuda_local_strips;

#endif
