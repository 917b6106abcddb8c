/* Text chunks and colour chunks of a PNG.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/metadata/metadata.h"

/* Returns whether this type of chunk has a text, XMP or a description of colour. */
bool gi_png_is_text(const void *type);

/* Keeps the text, XMP or description of colour in a chunk of `n` bytes. Returns false if the chunk
 * is damaged, repeats one that is kept once, or is more than is kept. */
bool gi_png_read_text(struct gi_decode *decode, const void *type, const unsigned char *bytes,
                      size_t n);

/* Writes a chunk of `type`, which consists of a header of `n` bytes and of `text`. With `packed`,
 * `text` is deflated. Errors: the sink's, GI_E_MEMORY. */
enum gi_status gi_png_write_packed(struct gi_sink *sink, const char *type, const void *head,
                                   size_t n, const void *text, size_t length, bool packed,
                                   struct gi_err *err);

/* Write the colour chunks, which must directly follow IHDR, and the chunks of texts, XMP and IPTC.
 * Errors: the sink's, GI_E_MEMORY. */
enum gi_status gi_png_write_color(struct gi_sink *sink, const struct gi_metadata *metadata,
                                  struct gi_err *err);
enum gi_status gi_png_write_texts(struct gi_sink *sink, const struct gi_metadata *metadata,
                                  struct gi_err *err);
