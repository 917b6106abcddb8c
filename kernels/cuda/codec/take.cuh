/* Divides scratch memory into arrays.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_TAKE_CUH
#define GI_KERNELS_CUDA_TAKE_CUH

#include <stddef.h>

enum { TAKE_ALIGN = 512 /* of the arrays, in bytes */ };

/* Gives an array of n elements the next part of the scratch memory from `base` on, of which *used
 * bytes are used. If `base` is NULL, only counts. */
template <typename T> static T *take(char *base, size_t *used, size_t n)
{
    T *array = base ? (T *)(base + *used) : NULL;
    *used += (n * sizeof(T) + TAKE_ALIGN - 1) / TAKE_ALIGN * TAKE_ALIGN;
    return array;
}

#endif
