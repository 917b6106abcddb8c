/* The bits of the hash of blockhash.io.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "imgio/image.h"

/* Sets n * n bits, row by row, of an image of GI_U8 in host memory. `n` is a power of two, from 2
 * to GI_HASH_SIDE_MAX. Errors: GI_E_MEMORY. */
enum gi_status gi_hash_block(bool *bits, const struct gi_image *image, int n, struct gi_err *err);
