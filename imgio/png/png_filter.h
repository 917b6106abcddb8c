/* Applies PNG's row filters, for writing.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the processor has AVX2 and BMI2. */
bool gi_png_has_avx2(void);

/* Filters a row of `nbytes` bytes (big-endian samples, `bpp` bytes per pixel). out[0] becomes the
 * number of the filter, and out[1..nbytes] become the filtered bytes. `above` is the row above
 * (zeros for the first row). The filter whose output has the minimum sum of absolute values of
 * signed bytes (PNG 1.2, 9.6) is used, and among equal ones the filter with the highest number.
 * `avx2` allows these instructions and does not change the bytes. */
void gi_png_filter_row(uint8_t *out, const uint8_t *row, const uint8_t *above, size_t nbytes,
                       size_t bpp, bool avx2);
