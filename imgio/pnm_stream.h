/* Streams of PBM, PGM, PPM and PAM: concatenated images, as netpbm's manual describes them.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_PNM_STREAM_H
#define GI_IMGIO_PNM_STREAM_H

#include "imgio/buffer.h"
#include "imgio/imgio.h"
#include "imgio/reader.h"

/* Reads the next image, header and raster, into `buffer`, for gi_load_memory(). Sets *end instead
 * if only white space is left. A truncated image gives the bytes that exist; decoding them reports
 * it. An image beyond `limits` is not read. Errors: GI_E_IO, GI_E_FORMAT (a damaged header, or
 * bytes that are not an image), GI_E_LIMIT, GI_E_UNSUPPORTED, GI_E_MEMORY; all texts except the
 * last one's start with the input's name. */
enum gi_status gi_pnm_next(struct gi_buffer *buffer, bool *end, struct gi_reader *reader,
                           const struct gi_limits *limits, struct gi_err *err);

/* Skips white space, and sets *over to true if nothing follows it. Errors: GI_E_IO. */
enum gi_status gi_pnm_is_over(bool *over, struct gi_reader *reader, struct gi_err *err);

/* For files: sets *more to whether anything except white space, image or not, follows the next
 * image. Consumes nothing. Errors: GI_E_IO. */
enum gi_status gi_pnm_has_more(bool *more, struct gi_reader *reader, struct gi_err *err);

#endif
