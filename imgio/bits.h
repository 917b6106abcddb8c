/* Images of one bit per sample.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"
#include "imgio/status.h"

/* Makes *packed, a GI_U8 image of one channel. Each of its bytes holds 8 pixels of a row of
 * `image`, the leftmost pixel in the highest bit, and a bit of 1 is white. The caller frees
 * *packed, also after an error. Errors: GI_E_UNSUPPORTED unless `image` has one channel of GI_U8
 * samples that are all 0 or 255; GI_E_MEMORY. */
enum gi_status gi_bits_pack(struct gi_image *packed, const struct gi_image *image,
                            struct gi_err *err);
