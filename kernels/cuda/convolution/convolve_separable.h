/* Implementations of separable convolution other than the sliding window in registers
 * (sliding_window.cuh). SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CONVOLVE_SEPARABLE_H
#define GI_KERNELS_CUDA_CONVOLVE_SEPARABLE_H

#include "kernels/cuda/cuda.h"
#include "kernels/convolution.h"

/* Any number of taps. */
gi_convolve_separable_fn gi_cuda_separable_rows;

/* Sliding window in shared memory: up to 61 taps of gray (8 and 16 bits), and of 8-bit RGB and RGBA
 * with premultiplied colour. It requires finite sums, row taps that raw samples can represent
 * (sliding_window_raw.cuh), quotients by alpha within sliding_divides(), and border values of the
 * image's type. */
gi_convolve_separable_takes_fn gi_cuda_sliding_shared_takes;
gi_convolve_separable_fn gi_cuda_sliding_shared;

#endif
