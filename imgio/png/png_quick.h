/* Fast reading of the pixels of ordinary PNG files.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_PNG_QUICK_H
#define GI_IMGIO_PNG_QUICK_H

#include "imgio/image.h"

/* Fills `image` (8 or 16 bits, with the shape of the file's pixels) from a file that is not
 * interlaced, has no palette and no transparent colour. `at` is the offset of the first IDAT
 * chunk's data. Returns false if anything is unusual or wrong, here or in the chunks up to the
 * file's end: libpng then reports it. */
bool gi_png_quick(struct gi_image *image, const unsigned char *bytes, size_t nbytes, size_t at);

/* Undoes the filters of `rows` rows, each `n` bytes after a filter byte in `src`, into rows at
 * `dst`, `stride` bytes from one to the next; they don't overlap. `above` is the row before the
 * first (zeros if there is none), `bpp` the bytes of a pixel, 1 to 8. Returns false for an unknown
 * filter. */
bool gi_png_unfilter(uint8_t *dst, size_t stride, const uint8_t *src, int rows, size_t n,
                     size_t bpp, const uint8_t *above);

#endif
