/* Images of one bit per sample.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_BITS_H
#define GI_IMGIO_BITS_H

#include "imgio/image.h"
#include "imgio/status.h"

/* Makes *packed, freed by the caller also after an error: a GI_U8 image of one channel whose bytes
 * hold 8 pixels of a row of `image` each, the leftmost in the highest bit; 1 is white. Errors:
 * GI_E_UNSUPPORTED unless `image` has one channel of GI_U8 samples, all 0 or 255; GI_E_MEMORY. */
enum gi_status gi_bits_pack(struct gi_image *packed, const struct gi_image *image,
                            struct gi_err *err);

#endif
