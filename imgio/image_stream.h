/* Streams of images one behind the other, as ffmpeg's image2pipe writes them: PNG, JPEG and WebP,
 * whose ends their own structure tells, and PNM and PAM. SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_IMAGE_STREAM_H
#define GI_IMGIO_IMAGE_STREAM_H

#include "imgio/buffer.h"
#include "imgio/imgio.h"
#include "imgio/reader.h"

/* Whether the bytes begin a PNG, JPEG or WebP. */
bool gi_image_stream_starts(const unsigned char *bytes, size_t nbytes);

/* As gi_reader_peek() of as many bytes as tell whether an image begins: a live pipe of tiny images
 * is not waited for longer. */
enum gi_status gi_image_stream_peek(struct gi_reader *reader, const unsigned char **bytes,
                                    size_t *nbytes, struct gi_err *err);

/* *image becomes true if what follows begins an image of any of the formats. Errors: GI_E_IO. */
enum gi_status gi_image_stream_goes_on(bool *image, struct gi_reader *reader, struct gi_err *err);

/* Reads the next image of a stream into `buffer`, as gi_pnm_next() does of PNM and PAM; *end
 * instead at the end. A truncated or damaged image gives the bytes up to the damage, and decoding
 * them reports it. Errors: as gi_pnm_next(), and GI_E_LIMIT for an image of more bytes than
 * limits->max_bytes. */
enum gi_status gi_image_stream_next(struct gi_buffer *buffer, bool *end, struct gi_reader *reader,
                                    const struct gi_limits *limits, struct gi_err *err);

/* Whether the JPEG in memory has an index of further images that belong to it (CIPA DC-007,
 * multi-picture format): gain maps and previews, which are no images of a stream. */
bool gi_image_stream_has_index(const unsigned char *bytes, size_t nbytes);

#endif
