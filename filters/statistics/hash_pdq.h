/* The bits of the PDQ hash of Meta's ThreatExchange.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "imgio/image.h"

enum { GI_HASH_PDQ_SIDE = 16 };

/* Sets GI_HASH_PDQ_SIDE^2 bits of an image of GI_U8 in host memory, the first one highest, and its
 * quality, 0 (hardly any detail) to 100. Alpha does not count. An image with fewer than 5 pixels
 * along a side has bits and a quality of 0. Errors: GI_E_MEMORY. */
enum gi_status gi_hash_pdq(bool *bits, int *quality, const struct gi_image *image,
                           struct gi_err *err);
