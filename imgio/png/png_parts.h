/* Chunks of a PNG that are neither pixels nor metadata.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"
#include "imgio/png/png_palette.h"

/* Where a chunk is: gi_part.place. */
enum gi_png_place { GI_PNG_BEFORE_PALETTE, GI_PNG_BEFORE_PIXELS, GI_PNG_AFTER_PIXELS };

/* Lists the chunks of the whole file that no other function keeps (gi_format.parts), and reads its
 * texts. */
void gi_png_parts(struct gi_decode *decode);

/* Returns whether a PNG holds the part (gi_format.holds): chunks that are safe to copy, sBIT, bKGD,
 * IPTC and Photoshop's resources. */
enum gi_holding gi_png_holds(const struct gi_part *part, const struct gi_image *written);

/* Writes the chunks that are at `place`. `image` is the image that the file holds, coded as
 * `coding` says. */
enum gi_status gi_png_write_parts(struct gi_sink *sink, const struct gi_metadata *metadata,
                                  const struct gi_image *image, const struct gi_png_coding *coding,
                                  enum gi_png_place place, struct gi_err *err);
