/* Streams of concatenated images, as ffmpeg's image2pipe writes them. The images may be PNG, JPEG
 * and WebP, whose structure shows where they end, and PNM and PAM.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/buffer.h"
#include "imgio/imgio.h"
#include "imgio/reader.h"

/* Returns whether the bytes begin a PNG, JPEG or WebP. */
bool gi_image_stream_starts(const unsigned char *bytes, size_t nbytes);

/* As gi_reader_peek(), but only for the bytes that show whether an image begins. A wait for more
 * bytes could block on a live pipe whose images are tiny. */
enum gi_status gi_image_stream_peek(struct gi_reader *reader, const unsigned char **bytes,
                                    size_t *nbytes, struct gi_err *err);

/* Sets *image to whether an image of any of these formats begins next. Errors: GI_E_IO. */
enum gi_status gi_image_stream_goes_on(bool *image, struct gi_reader *reader, struct gi_err *err);

/* Reads the next image of a stream into `buffer`, or sets *end at the end of the stream, as
 * gi_pnm_next() does for PNM and PAM. If an image is truncated or damaged, its bytes up to the
 * damage are returned, and decoding reports the damage. Errors: those of gi_pnm_next(), and
 * GI_E_LIMIT for an image of more than limits->max_bytes bytes. */
enum gi_status gi_image_stream_next(struct gi_buffer *buffer, bool *end, struct gi_reader *reader,
                                    const struct gi_limits *limits, struct gi_err *err);

/* Returns whether the PNG, JPEG or WebP that gi_image_stream_next() has read ends as its format
 * says, and not where it is damaged. */
bool gi_image_stream_is_whole(const unsigned char *bytes, size_t nbytes);

/* Returns whether the JPEG in memory has an index of further images that belong to that JPEG, such
 * as gain maps and previews (CIPA DC-007, multi-picture format). Those are not images of the
 * stream. */
bool gi_image_stream_has_index(const unsigned char *bytes, size_t nbytes);
