/* Blocks of a GIF that are not frames.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

/* Keeps comments as texts, an ICC profile and XMP, and lists all blocks that are not read
 * (gi_format.parts). */
void gi_gif_parts(struct gi_decode *decode);

/* Writes texts, XMP and the ICC profile as extensions. Errors: the sink's, GI_E_MEMORY. */
enum gi_status gi_gif_write_metadata(struct gi_sink *sink, const struct gi_metadata *metadata,
                                     struct gi_err *err);
/* Returns whether a GIF holds the XMP: a byte 0, as UTF-16 has, would end the extension. */
bool gi_gif_holds_xmp(const struct gi_metadata *metadata);
