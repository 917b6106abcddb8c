/* Pixels as bytes, for operations that copy them unchanged.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/cpu.h"

#include <string.h>

static inline size_t pixel_nbytes(const struct gi_image *image)
{
    return (size_t)image->channels * gi_type_nbytes(image->type);
}

/* Writes the pixel at `from` n times to `to`; `from` may be the first pixel of `to`. */
static inline void repeat_pixel(char *to, const char *from, size_t pixel, size_t n)
{
    size_t have = 1;
    if (n == 0)
        return;
    memmove(to, from, pixel);
    for (; have < n; have *= 2)
        memcpy(to + have * pixel, to, (have < n - have ? have : n - have) * pixel);
}
