/* Declares the implementations of dense convolution that have files of their own.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CONVOLVE_2D_H
#define GI_KERNELS_CUDA_CONVOLVE_2D_H

#include "kernels/cuda/cuda.h"

/* Both accept everything that convolve_2d accepts. */
gi_convolve_2d_fn gi_cuda_dense_tiles, gi_cuda_textbook;

#endif
