/* Images of one bit per sample.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"
#include "imgio/status.h"

#include <stdbool.h>

/* Makes *packed, a GI_U8 image of one channel. Each of its bytes holds 8 pixels of a row of
 * `image`, the leftmost pixel in the highest bit, and a bit of 1 is white. The caller frees
 * *packed, also after an error. Errors: GI_E_UNSUPPORTED unless `image` has one channel of GI_U8
 * samples that are all 0 or 255; GI_E_MEMORY. */
enum gi_status gi_bits_pack(struct gi_image *packed, const struct gi_image *image,
                            struct gi_err *err);

/* Scales v from 0..max to 0..full, rounded to nearest. The product must be below 2^32. */
static inline unsigned gi_bits_scale(unsigned v, unsigned max, unsigned full)
{
    return (v * full + max / 2) / max;
}

/* Returns a 16-bit sample with fewer bits. gi_bits_scale() to 65535 makes a sample of 16 bits
 * again, from which this function returns the same value. */
static inline unsigned gi_bits_narrow(unsigned v, int bits)
{
    return gi_bits_scale(v, 65535, (1u << bits) - 1);
}

/* Returns the first of the two depths (numbers of bits, 0 for none) with which the samples of a
 * GI_U16 image can be written without loss, or 0. */
int gi_bits_needed(const struct gi_image *image, const int depths[2]);

/* Decodes the `nbytes` at `bytes`, a file that a library has coded without loss, and compares it
 * with `image`. Returns whether the samples are the same, those of GI_U16 when they are reduced to
 * `bits` bits. */
bool gi_bits_are_coded(const void *bytes, size_t nbytes, const struct gi_image *image, int bits);

/* Divides the colours of a row by alpha, with which they are multiplied. Colours of transparent
 * pixels become 0; integers do not exceed their range. Returns whether a colour was cut off. */
bool gi_bits_divide_by_alpha(const struct gi_image *image, int y);
