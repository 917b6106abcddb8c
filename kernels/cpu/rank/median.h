/* Shared by the implementations of median and rank filters.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/convolution/padded_rows.h"

#include <string.h>

gi_median_takes_fn GI_CPU(median_network_takes), GI_CPU(median_columns_takes);
gi_median_fn GI_CPU(median_network), GI_CPU(median_columns);

/* Convert floats to integers of the same order, with NaN above all, and back. */
static inline uint32_t median_key(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u ? UINT32_MAX : gi_float_key(bits);
}

static inline uint32_t median_bits(uint32_t key)
{
    return key == UINT32_MAX ? 0x7fc00000u : gi_float_key_bits(key);
}

/* Copies the alpha of row y of the tile from the source. */
static inline void median_keep_alpha(struct gi_image *dst, const struct gi_image *src,
                                     const struct gi_tile *tile, int y)
{
    size_t nbytes = gi_type_nbytes(src->type), pixel = nbytes * (size_t)src->channels;
    for (size_t x = (size_t)tile->x0 + 1; x <= (size_t)tile->x1; x++)
        memcpy((char *)gi_row(dst, y) + x * pixel - nbytes,
               (const char *)gi_row(src, y) + x * pixel - nbytes, nbytes);
}
