/* Applies PNG's row filters, for writing.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_PNG_FILTER_H
#define GI_IMGIO_PNG_FILTER_H

#include <stddef.h>
#include <stdint.h>

/* Filters one row of `nbytes` bytes (big-endian samples, `bpp` bytes per pixel) into out[0] (the
 * filter's number) and out[1..nbytes]. `above` is the previous row, zeros for the first. Uses the
 * filter with the minimum sum of absolute values of its bytes, taken as signed (PNG 1.2, 9.6).
 * `scratch` holds nbytes. */
void gi_png_filter_row(uint8_t *out, const uint8_t *row, const uint8_t *above, size_t nbytes,
                       size_t bpp, uint8_t *scratch);

#endif
