/* Text chunks and colour chunks of a PNG.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/metadata.h"

/* Keeps the texts, XMP and colour chunks of the whole file, wherever the chunks are. Chunks with a
 * wrong checksum are skipped. */
void gi_png_read_texts(struct gi_decode *decode);

/* Write the colour chunks, which must directly follow IHDR, and the chunks of texts and XMP.
 * Errors: the sink's, GI_E_MEMORY. */
enum gi_status gi_png_write_colour(struct gi_sink *sink, const struct gi_metadata *metadata,
                                   struct gi_err *err);
enum gi_status gi_png_write_texts(struct gi_sink *sink, const struct gi_metadata *metadata,
                                  struct gi_err *err);
