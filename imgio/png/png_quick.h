/* Fast reading of the pixels of ordinary PNG files.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/coded.h"

/* The IDAT chunks of a file. */
struct gi_png_stream {
    size_t at, after; /* offsets of the first chunk, and of the chunk behind the last one */
    size_t nbytes;    /* of the data of all these chunks */
    size_t nchunks;
};

/* Finds the IDAT chunks, the first of which is at offset `at`. Returns false if a chunk from there
 * to IEND is damaged, or if chunks other than text and time follow the pixels. libpng must then
 * read the file. The checksums of IDAT chunks are compared only if `checks_pixels`; otherwise
 * the data of these chunks are not read. */
bool gi_png_find_stream(struct gi_png_stream *stream, const unsigned char *bytes, size_t nbytes,
                        size_t at, bool checks_pixels);
/* Returns whether the data may be long enough to be inflated to raw_nbytes. */
bool gi_png_is_enough(const struct gi_png_stream *stream, size_t raw_nbytes);
/* Returns the number of bytes of the filtered rows, SIZE_MAX if they are too many. */
size_t gi_png_raw_nbytes(const struct gi_png_frame *frame);

/* Fills `image` from a file that is not interlaced, and whose pixels are as `frame` says. With a
 * palette the image has the colours. `at` is the offset of the data of the first IDAT chunk.
 * Returns false if anything is unusual or wrong in the pixels or in the chunks up to the end of the
 * file. libpng must then read the file. */
bool gi_png_quick(struct gi_image *image, const unsigned char *bytes, size_t nbytes, size_t at,
                  const struct gi_png_frame *frame);

/* Undoes the filters of `rows` rows. In `src` each row consists of a filter byte and `n` bytes. In
 * `dst`, which must not overlap `src`, rows are `stride` bytes apart. `above` is the row above the
 * first row (zeros if there is none), and `bpp` is the number of bytes per pixel, 1 to 8. Returns
 * false for an unknown filter. */
bool gi_png_unfilter(uint8_t *dst, size_t stride, const uint8_t *src, int rows, size_t n,
                     size_t bpp, const uint8_t *above);
