/* Parts of a TGA that are neither pixels nor palette.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

/* Adds the image ID, the fields of the extension area, the developer area and other bytes behind
 * the pixels, which end at `end` (0: unknown). Author, comments and software become texts. */
void gi_tga_add_parts(struct gi_decode *decode, uint64_t end);

/* Returns whether a TGA holds the part (gi_format.holds): the image ID of another TGA. */
enum gi_holding gi_tga_holds(const struct gi_part *part, const struct gi_image *written);

/* Returns the image ID of another TGA, at most 255 bytes, or NULL. `metadata` may be NULL. */
const struct gi_part *gi_tga_id(const struct gi_metadata *metadata);
