/* Declares the plain arithmetic of two images (words.cu).
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_WORDS_H
#define GI_KERNELS_CUDA_WORDS_H

#include "kernels/cuda/cuda.h"

gi_arithmetic_takes_fn gi_cuda_arithmetic_words_takes;
gi_arithmetic_fn gi_cuda_arithmetic_words;

#endif
