/* The ways of dense convolution that have a file of their own. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CONVOLVE_2D_H
#define GI_KERNELS_CUDA_CONVOLVE_2D_H

#include "kernels/cuda/cuda.h"

/* Each does all that convolve_2d does. */
gi_convolve_2d_fn gi_cuda_dense_tiles, gi_cuda_textbook;

#endif
