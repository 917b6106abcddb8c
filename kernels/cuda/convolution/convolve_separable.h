/* Declares the implementations of separable convolution besides the sliding window in registers
 * (sliding_window.cuh).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CONVOLVE_SEPARABLE_H
#define GI_KERNELS_CUDA_CONVOLVE_SEPARABLE_H

#include "kernels/cuda/cuda.h"
#include "kernels/convolution.h"

/* Any number of taps. */
gi_convolve_separable_fn gi_cuda_separable_rows;

/* Sliding window in shared memory: up to 61 taps, for gray of 8 and 16 bits, and for 8-bit RGB and
 * RGBA with colour multiplied by alpha. Requires that sums are finite, that row taps can be scaled
 * for raw samples (sliding_window_raw.cuh), that sliding_divides() accepts the quotients by alpha,
 * and that border values are representable as samples. */
gi_convolve_separable_takes_fn gi_cuda_sliding_shared_takes;
gi_convolve_separable_fn gi_cuda_sliding_shared;

#endif
