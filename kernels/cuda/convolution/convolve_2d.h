/* Declares the implementations of dense convolution that are not in convolve_2d.cu.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CONVOLVE_2D_H
#define GI_KERNELS_CUDA_CONVOLVE_2D_H

#include "kernels/cuda/cuda.h"

/* Both functions accept everything that the primitive convolve_2d accepts. */
gi_convolve_2d_fn gi_cuda_dense_tiles, gi_cuda_textbook;

#endif
