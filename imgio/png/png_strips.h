/* Writes the pixels of a PNG, and single chunks.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <sys/uio.h>

#include "imgio/imgio.h"

/* Writes one chunk, which consists of length, `type`, data and checksum. `bytes` may be NULL if
 * nbytes is 0. */
enum gi_status gi_png_write_chunk(struct gi_sink *sink, const char *type, const void *bytes,
                                  size_t nbytes, struct gi_err *err);

/* Writes a chunk whose data are n parts, one behind the other. */
enum gi_status gi_png_write_chunk_of(struct gi_sink *sink, const char *type,
                                     const struct iovec *parts, int n, struct gi_err *err);

/* Returns the number of rows per strip of the PNG of an image of this shape. Each strip is
 * compressed on its own. */
int gi_png_strip_rows(const struct gi_image *image);

/* Writes the IDAT chunks of `image` (8 or 16 bits) with options->compression, options->parallel and
 * options->encoded. If `packed` is set, its bytes are indices of a palette or several samples. Rows
 * are not filtered then (PNG, third edition, 12.7). Errors: GI_E_IO, GI_E_PIPE, GI_E_MEMORY. */
enum gi_status gi_png_write_pixels(struct gi_sink *sink, const struct gi_image *image, bool packed,
                                   const struct gi_save_options *options, struct gi_err *err);
