/* Chunks of a PNG that are neither pixels nor metadata.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

/* Where a chunk is: gi_part.place. */
enum gi_png_place { GI_PNG_BEFORE_PALETTE, GI_PNG_BEFORE_PIXELS, GI_PNG_AFTER_PIXELS };

/* Lists the chunks of the whole file that no other function keeps (gi_format.parts), and reads its
 * texts. */
void gi_png_parts(struct gi_decode *decode);

/* Returns whether a PNG holds the part (gi_format.holds): chunks that are safe to copy, sBIT and
 * bKGD. */
enum gi_holding gi_png_holds(const struct gi_part *part, const struct gi_image *written);

/* Writes the chunks that are before the pixels, or those after them. `image` is the image that the
 * file holds, with `depth` bits per sample. */
enum gi_status gi_png_write_parts(struct gi_sink *sink, const struct gi_metadata *metadata,
                                  const struct gi_image *image, int depth, bool after,
                                  struct gi_err *err);
