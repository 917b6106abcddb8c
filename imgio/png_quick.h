/* The quick way through the pixels of ordinary PNG files.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_PNG_QUICK_H
#define GI_IMGIO_PNG_QUICK_H

#include "imgio/image.h"

/* Fills `image` (8 or 16 bits, shaped as the file's pixels) from a file that is not interlaced, has
 * no palette and no transparent colour. `at` is the offset of the first IDAT chunk's data. False
 * where anything at all is unusual or wrong, here or in the chunks up to the file's end: libpng
 * then says what. */
bool gi_png_quick(struct gi_image *image, const unsigned char *bytes, size_t nbytes, size_t at);

/* Undoes filter `kind` (0 to 4) on one row of `n` bytes in place; `above` is the row before it
 * (zeros for the first), `bpp` the bytes of a pixel, 1 to 8. */
void gi_png_unfilter_row(uint8_t *row, const uint8_t *above, size_t n, size_t bpp, int kind);

#endif
