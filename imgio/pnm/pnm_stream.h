/* Streams of PBM, PGM, PPM and PAM, which are concatenated images, as netpbm's manual describes.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/buffer.h"
#include "imgio/image_next.h"
#include "imgio/imgio.h"
#include "imgio/reader.h"

/* Reads the header and raster of the next image into `buffer`, for gi_load_memory(). If only white
 * space is left, sets *end instead. If an image is truncated, the bytes that exist are returned,
 * and decoding reports the truncation. An image beyond `limits` is not read. Errors: GI_E_IO,
 * GI_E_FORMAT (a damaged header, or bytes that are not an image), GI_E_LIMIT, GI_E_UNSUPPORTED,
 * GI_E_MEMORY. All error texts except that of GI_E_MEMORY start with the input's name. */
enum gi_status gi_pnm_next(struct gi_buffer *buffer, bool *end, struct gi_reader *reader,
                           const struct gi_limits *limits, struct gi_err *err);

/* Skips white space, and sets *over to whether the input then is at its end. Errors: GI_E_IO. */
enum gi_status gi_pnm_is_over(bool *over, struct gi_reader *reader, struct gi_err *err);

/* For files: sets *more to whether anything except white space follows the next image, whether that
 * is an image or not. Consumes nothing. Errors: GI_E_IO. */
enum gi_status gi_pnm_has_more(bool *more, struct gi_reader *reader, struct gi_err *err);

/* Sets *end to the offset behind the raster of the image that begins at offset `at`, even if the
 * file ends before, or to 0 if its header is damaged. Errors: GI_E_IO. */
enum gi_status gi_pnm_find_end(uint64_t *end, const struct gi_file_bytes *file, uint64_t at,
                               struct gi_err *err);
