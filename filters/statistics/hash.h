/* Perceptual hashes: a few bits by which similar pictures are found.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

enum { GI_HASH_SIDE_MAX = 32, GI_HASH_DIGITS_MAX = GI_HASH_SIDE_MAX * GI_HASH_SIDE_MAX / 4 };

/* In the order of the choices of --method. */
enum gi_hash_method {
    GI_HASH_PERCEPTUAL,
    GI_HASH_AVERAGE,
    GI_HASH_DIFFERENCE,
    GI_HASH_WAVELET,
    GI_HASH_BLOCK,
    GI_HASH_PDQ,
    /* Placeholders, which are texts and not bits. */
    GI_HASH_BLURHASH,
    GI_HASH_THUMBHASH,
};

struct gi_hash_params {
    int method;                 /* enum gi_hash_method */
    int size;                   /* bits along each side, 2 to GI_HASH_SIDE_MAX; not of PDQ */
    struct gi_reals components; /* of a BlurHash, along x and y */
};

struct gi_hash {
    int nbits;   /* size * size, of PDQ 256; 0: a placeholder (filters/statistics/placeholder.h) */
    int quality; /* of PDQ, 0 to 100; other methods have none: -1 */
    /* The text of a placeholder, or hexadecimal, the first bit of the first row highest. */
    char text[GI_HASH_DIGITS_MAX + 1];
};

/* The choices of --method, and those whose result is bits. */
extern const struct gi_choice gi_hash_methods[], gi_hash_bit_methods[];

/* Result: struct gi_hash. */
extern const struct gi_filter gi_filter_hash;
