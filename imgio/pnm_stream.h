/* Streams of PBM, PGM, PPM and PAM: images one behind the other, as netpbm's manual has them.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_PNM_STREAM_H
#define GI_IMGIO_PNM_STREAM_H

#include "imgio/buffer.h"
#include "imgio/imgio.h"
#include "imgio/reader.h"

/* Takes the next image, head and raster as gi_load_memory() wants them, into `buffer`; *end instead
 * where the stream is over: after an image nothing but white space may follow. The bytes of an
 * image that breaks off are those there were, and decoding them says so. What `limits` refuse is
 * not taken. Errors: GI_E_IO, GI_E_FORMAT (a damaged head; bytes that are no image), GI_E_LIMIT,
 * GI_E_UNSUPPORTED, GI_E_MEMORY; all but GI_E_MEMORY's start with the input's name. */
enum gi_status gi_pnm_next(struct gi_buffer *buffer, bool *end, struct gi_reader *reader,
                           const struct gi_limits *limits, struct gi_err *err);

/* Takes the white space that comes next; *over where there is nothing behind it. Errors: GI_E_IO.
 */
enum gi_status gi_pnm_is_over(bool *over, struct gi_reader *reader, struct gi_err *err);

/* Of a file: whether anything but white space, an image or not, stands behind the image that comes
 * next. Nothing is taken. Errors: GI_E_IO. */
enum gi_status gi_pnm_has_more(bool *more, struct gi_reader *reader, struct gi_err *err);

#endif
