/* Declares the implementations of flips and transpositions, and has a macro that chooses the
 * template by pixel size.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_LAYOUT_CUH
#define GI_KERNELS_CUDA_LAYOUT_CUH

#include "kernels/cuda/cuda.h"

/* Flips, which do not have GI_LAYOUT_TRANSPOSE. gi_cuda_layout_mirror is for flips with
 * GI_LAYOUT_MIRROR_X, and gi_cuda_layout_rows is for flips without it. */
gi_layout_fn gi_cuda_layout_mirror, gi_cuda_layout_rows;

#define LAYOUT_PIXEL(nbytes, ...)                                                                  \
    case nbytes: {                                                                                 \
        constexpr int PIXEL = nbytes;                                                              \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }

/* Executes a statement with the constant PIXEL, the bytes per pixel of the image. */
#define LAYOUT_PIXELS(image, ...)                                                                  \
    switch ((image)->channels * (int)gi_type_nbytes((image)->type)) {                              \
        LAYOUT_PIXEL(1, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(2, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(3, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(4, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(6, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(8, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(12, __VA_ARGS__)                                                              \
        LAYOUT_PIXEL(16, __VA_ARGS__)                                                              \
    }

#endif
