/* Chunks of a WebP that are neither pixels nor metadata.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

enum { GI_WEBP_RIFF_HEAD = 12, GI_WEBP_CHUNK_HEAD = 8 };

/* Returns whether the bytes begin like a WebP. */
bool gi_webp_probe(const unsigned char *bytes, size_t nbytes);

/* Lists the chunks of the whole file that the decoder does not use (gi_format.parts). */
void gi_webp_parts(struct gi_decode *decode);

/* Returns whether a WebP holds the part (gi_format.holds): unknown chunks of another WebP. */
enum gi_holding gi_webp_holds(const struct gi_part *part, const struct gi_image *written);

/* Returns the number of bytes that a chunk with `n` bytes of data takes. */
size_t gi_webp_chunk_nbytes(size_t n);

/* Writes one chunk, with padding to an even length. */
enum gi_status gi_webp_put_chunk(struct gi_sink *sink, const char *name, const void *bytes,
                                 size_t n, struct gi_err *err);

/* Returns the number of bytes of the carried chunks in the file. */
size_t gi_webp_parts_nbytes(const struct gi_metadata *metadata);

/* Writes the carried chunks, which are the last ones of the file. */
enum gi_status gi_webp_put_parts(struct gi_sink *sink, const struct gi_metadata *metadata,
                                 struct gi_err *err);
