/* Random choices of operations that change images for training. The name of an image and --seed
 * decide them, so that they are the same on all devices, in all orders and in all shards.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"

/* The option --seed, an int, the member `member` of the struct type `params`. */
#define GI_SEED_OPTION(params, member)                                                             \
    {                                                                                              \
        GI_OPTION("seed", INT, params, member),                                                    \
            .min = 0, .max = 2147483647,                                                           \
            .help = "With --random, another number makes other choices"                            \
    }

/* Returns the key of an image by its name: a hash of the last part of the path up to its first
 * point after other characters, or colon. So files of one sample, such as images/a.png,
 * masks/a.png and a.seg.png, have one key, and so have the pages, frames and planes of a file. */
uint64_t gi_random_key(const char *name);

/* Returns random bits, by SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom
 * number generators", 2014). `purpose` is the name of the operation, so that several operations of
 * a chain choose independently. */
uint64_t gi_random_bits(uint64_t key, int seed, const char *purpose);
