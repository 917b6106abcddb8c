/* Parts of a BMP that are neither pixels nor metadata.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

/* Offsets of the parts of a BMP, in bytes. */
struct gi_bmp_layout {
    size_t head_nbytes; /* of the header after the file header */
    size_t palette_end; /* end of the header, of masks and of the palette */
    size_t pixels_at;
    uint64_t pixels_end;              /* 0 if unknown */
    uint64_t profile_at, profile_end; /* equal if there is no embedded ICC profile */
};

/* Adds fields of the header that are not read, and the bytes of the file that no part uses. */
void gi_bmp_add_parts(struct gi_decode *decode, const struct gi_bmp_layout *given);
