/* Fast reading of the pixels of ordinary PNG files.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

/* Fills `image`, which has the shape of the file's pixels and 8 or 16 bits, from a file that is not
 * interlaced and has neither a palette nor a transparent colour. `at` is the offset of the data of
 * the first IDAT chunk. Returns false if anything is unusual or wrong in the pixels or in the
 * chunks up to the end of the file. libpng must then read the file. */
bool gi_png_quick(struct gi_image *image, const unsigned char *bytes, size_t nbytes, size_t at);

/* Undoes the filters of `rows` rows. In `src` each row consists of a filter byte and `n` bytes. In
 * `dst`, which must not overlap `src`, rows are `stride` bytes apart. `above` is the row above the
 * first row (zeros if there is none), and `bpp` is the number of bytes per pixel, 1 to 8. Returns
 * false for an unknown filter. */
bool gi_png_unfilter(uint8_t *dst, size_t stride, const uint8_t *src, int rows, size_t n,
                     size_t bpp, const uint8_t *above);
