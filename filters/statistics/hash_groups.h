/* Groups of hashes by Hamming distance.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/parallel.h"

enum {
    GI_HASH_WORDS = 4,             /* maximum number of words of a hash, each of 64 bits */
    GI_HASH_WORD_DISTANCE_MAX = 16 /* per word */
};

/* Returns the number of bits that differ in a word. */
static inline int gi_hash_word_distance(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ b;
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (int)(x * 0x0101010101010101 >> 56);
}

/* Returns the number of bits that differ in hashes of `words` words. */
static inline int gi_hash_distance(const uint64_t *a, const uint64_t *b, int words)
{
    int distance = 0;
    for (int i = 0; i < words; i++)
        distance += gi_hash_word_distance(a[i], b[i]);
    return distance;
}

/* Hashes one after the other, each of `words` words: 1 or GI_HASH_WORDS. */
struct gi_hash_list {
    const uint64_t *hashes;
    size_t n;
    int words;
};

/* Groups the hashes. Two that differ in at most `distance` bits, 0 to words *
 * GI_HASH_WORD_DISTANCE_MAX, are in one group, and so are hashes that such pairs connect. Sets
 * first[i] to the index of the first hash of the group of hash i. Errors: GI_E_LIMIT for 2^32
 * hashes, GI_E_MEMORY. */
enum gi_status gi_hash_groups(uint32_t *first, const struct gi_hash_list *list, int distance,
                              struct gi_pool *pool, struct gi_err *err);
