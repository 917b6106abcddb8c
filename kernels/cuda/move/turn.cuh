/* Implementations of flips and transpositions, and the dispatch to their templates.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_TURN_CUH
#define GI_KERNELS_CUDA_TURN_CUH

#include "kernels/cuda/cuda.h"

/* Flips: gi_cuda_turn() without GI_TURN_TRANSPOSE. */
gi_turn_fn gi_cuda_turn_rows;

#define TURN_PIXEL(nbytes, ...)                                                                    \
    case nbytes: {                                                                                 \
        constexpr int PIXEL = nbytes;                                                              \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }

/* Executes a statement with the constant PIXEL, the bytes per pixel of the image. */
#define TURN_PIXELS(image, ...)                                                                    \
    switch ((image)->channels * (int)gi_type_nbytes((image)->type)) {                              \
        TURN_PIXEL(1, __VA_ARGS__)                                                                 \
        TURN_PIXEL(2, __VA_ARGS__)                                                                 \
        TURN_PIXEL(3, __VA_ARGS__)                                                                 \
        TURN_PIXEL(4, __VA_ARGS__)                                                                 \
        TURN_PIXEL(6, __VA_ARGS__)                                                                 \
        TURN_PIXEL(8, __VA_ARGS__)                                                                 \
        TURN_PIXEL(12, __VA_ARGS__)                                                                \
        TURN_PIXEL(16, __VA_ARGS__)                                                                \
    }

#endif
