/* The rules of the PNG coder "runs" that decide its bytes: tokens, lengths of codes, codes and the
 * head of a block. The functions are pure and use integers only, so that every implementation,
 * on any device, writes the same bytes. png_runs.h describes the coder.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_PNG_RUNS_CODE_H
#define GI_IMGIO_PNG_RUNS_CODE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define GI_RUNS_INLINE static inline __host__ __device__
#else
#define GI_RUNS_INLINE static inline
#endif

enum {
    GI_RUNS_BLOCK = 1 << 16, /* bytes per block */
    GI_RUNS_LEAST = 5,       /* shortest run */
    GI_RUNS_MOST = 258,      /* longest match of DEFLATE */
    GI_RUNS_TOKENS = 512,    /* a token is a literal, 0 to 255, or 256 + length - 3 of a run */
    GI_RUNS_SYMBOLS = 286,   /* of the code for literals and lengths */
    GI_RUNS_END = 256,       /* symbol that ends a block */
    GI_RUNS_CODE_BITS = 14,  /* longest code; DEFLATE allows 15, but 4 x 14 bits and 7 fit a word */
    GI_RUNS_HEAD_SYMBOLS = 19,  /* of the code for the lengths of codes */
    GI_RUNS_HEAD_CODE_BITS = 7, /* longest code of these */
    GI_RUNS_DISTANCES = 2,      /* one bit each: 0 is distance 1, and 1 makes the code complete */
    GI_RUNS_ITEMS_MAX = 4 + GI_RUNS_HEAD_SYMBOLS + GI_RUNS_SYMBOLS + GI_RUNS_DISTANCES,
};

/* Constants of the choice between runs and a search for matches (gi_runs_suit() of png_runs.h). */
enum {
    GI_RUNS_SAMPLE = GI_RUNS_BLOCK / 2,
    GI_RUNS_SAMPLED_TWICE = 1 << 18, /* bytes from which there are two samples */
    GI_RUNS_SEEN_BITS = 18,          /* width of the hash of a group */
    GI_RUNS_GROUP_NBITS = 36,
    GI_RUNS_GROUP_LEAST = 4, /* tokens of a group */
    GI_RUNS_GROUP_MOST = 16,
    GI_RUNS_FOLDED_RUN = 0xa5, /* for hashing, tokens of runs are mapped to bytes by exclusive or */
};

/* Bits of the stream, the first in the lowest bit. */
struct gi_runs_item {
    uint32_t bits;
    uint32_t nbits;
};

GI_RUNS_INLINE struct gi_runs_item gi_runs_item(uint32_t bits, uint32_t nbits)
{
    struct gi_runs_item item;
    item.bits = bits;
    item.nbits = nbits;
    return item;
}

/* Returns the symbol of a run of `length` bytes, 3 to 258, and its extra bits (RFC 1951, 3.2.5). */
GI_RUNS_INLINE uint32_t gi_runs_length_symbol(struct gi_runs_item *extra, uint32_t length)
{
    uint32_t v = length - 3, octave = 2;
    extra->bits = extra->nbits = 0;
    if (v < 8 || length == GI_RUNS_MOST)
        return length == GI_RUNS_MOST ? 285 : 257 + v;
    while (v >> (octave + 1))
        octave++;
    extra->nbits = octave - 2;
    extra->bits = v & ((1u << extra->nbits) - 1);
    return 257 + 4 * (octave - 1) + (v >> extra->nbits & 3);
}

/* Sets the lengths of a Huffman code, at most `limit` bits. `order` lists the `n` symbols that
 * occur, 2 or more, sorted by count and then by symbol. `weights` and `parents` are scratch memory
 * for 2 n numbers each, and weights[0] to weights[n - 1] are the sorted counts. Lengths of other
 * symbols are not set.
 *
 * The code is Huffman's, made by two queues. If a leaf and an inner node have the same weight, the
 * leaf is taken first. Leaves deeper than `limit` are raised to it. As long as the lengths are then
 * too short for a code (Kraft's sum is above 1), the deepest leaf above the limit goes down by one,
 * and becomes the sibling of a leaf from the limit. The longest of the resulting lengths go to the
 * symbols that are first in `order`. */
GI_RUNS_INLINE void gi_runs_lengths(uint8_t *lengths, const uint16_t *order, uint32_t *weights,
                                    uint16_t *parents, uint32_t n, uint32_t limit)
{
    uint32_t leaf = 0, inner = n, at = 0, numbers[GI_RUNS_CODE_BITS + 1] = {0};
    uint32_t sum = 0; /* Kraft's, in units of the longest code */
    for (uint32_t node = n; node + 1 < 2 * n; node++) {
        uint32_t weight = 0;
        for (int child = 0; child < 2; child++) {
            bool take_leaf = leaf < n && (inner >= node || weights[leaf] <= weights[inner]);
            uint32_t taken = take_leaf ? leaf++ : inner++;
            weight += weights[taken];
            parents[taken] = (uint16_t)node;
        }
        weights[node] = weight;
    }
    /* A parent has a higher number than its children. From here on `weights` are depths. */
    weights[2 * n - 2] = 0;
    for (uint32_t node = 2 * n - 2; node-- > 0;)
        weights[node] = weights[parents[node]] + 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t depth = weights[i] < limit ? weights[i] : limit;
        numbers[depth]++;
        sum += 1u << (limit - depth);
    }
    for (; sum > 1u << limit; sum--) {
        uint32_t depth = limit - 1;
        while (!numbers[depth])
            depth--;
        numbers[depth]--;
        numbers[depth + 1] += 2;
        numbers[limit]--;
    }
    for (uint32_t length = limit; length; length--)
        for (uint32_t i = 0; i < numbers[length]; i++)
            lengths[order[at++]] = (uint8_t)length;
}

/* Sets the codes of all symbols whose length is not 0 (RFC 1951, 3.2.2), with reversed bits,
 * because DEFLATE stores a code from its highest bit on. */
GI_RUNS_INLINE void gi_runs_codes(uint16_t *codes, const uint8_t *lengths, uint32_t n)
{
    uint32_t next[GI_RUNS_CODE_BITS + 2] = {0};
    for (uint32_t s = 0; s < n; s++)
        next[lengths[s] + 1]++;
    next[0] = next[1] = 0;
    for (uint32_t length = 2; length <= GI_RUNS_CODE_BITS; length++)
        next[length] = (next[length] + next[length - 1]) << 1;
    for (uint32_t s = 0; s < n; s++) {
        uint32_t code = next[lengths[s]]++;
        code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
        code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
        code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
        code = (code & 0x00ff) << 8 | (code >> 8 & 0x00ff);
        codes[s] = (uint16_t)(code >> (16 - lengths[s]));
    }
}

/* A symbol of the code for lengths, with its extra bits. */
struct gi_runs_pair {
    uint8_t symbol, extra;
};

GI_RUNS_INLINE struct gi_runs_pair gi_runs_pair(uint32_t symbol, uint32_t extra)
{
    struct gi_runs_pair pair;
    pair.symbol = (uint8_t)symbol;
    pair.extra = (uint8_t)extra;
    return pair;
}

/* Returns the number of symbols up to the last one that has a code, at least 257. */
GI_RUNS_INLINE uint32_t gi_runs_used(const uint8_t *lengths)
{
    uint32_t n = GI_RUNS_SYMBOLS;
    while (!lengths[n - 1])
        n--;
    return n;
}

/* Writes the lengths of the first `n` symbols, and of the distances, as symbols of RFC 1951, 3.2.7.
 * A sequence of equal lengths takes as many long repetitions as fit, and a rest shorter than a
 * repetition is written length by length. Returns the number of pairs. */
GI_RUNS_INLINE uint32_t gi_runs_pairs(struct gi_runs_pair *pairs, const uint8_t *lengths,
                                      uint32_t n)
{
    uint32_t npairs = 0;
    for (uint32_t at = 0, end; at < n + GI_RUNS_DISTANCES; at = end) {
        uint8_t length = at < n ? lengths[at] : 1;
        for (end = at + 1; end < n + GI_RUNS_DISTANCES; end++)
            if ((end < n ? lengths[end] : 1) != length)
                break;
        uint32_t left = end - at;
        if (length) { /* is written once, and then repeated */
            pairs[npairs++] = gi_runs_pair(length, 0);
            left--;
        }
        while (left >= 3) {
            uint32_t most = length ? 6 : left < 11 ? 10 : 138, times = left < most ? left : most;
            uint32_t symbol = length ? 16 : left < 11 ? 17 : 18;
            pairs[npairs++] = gi_runs_pair(symbol, times - (symbol == 18 ? 11 : 3));
            left -= times;
        }
        for (; left; left--)
            pairs[npairs++] = gi_runs_pair(length, 0);
    }
    return npairs;
}

/* Makes the items of the head of a block with dynamic codes. `lengths` and `codes` are of the code
 * for the pairs' symbols. Returns the number of items. */
GI_RUNS_INLINE uint32_t gi_runs_head(struct gi_runs_item *items, const struct gi_runs_pair *pairs,
                                     uint32_t npairs, const uint8_t *lengths, const uint16_t *codes,
                                     uint32_t nsymbols, bool last)
{
    const uint8_t order[GI_RUNS_HEAD_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                 11, 4,  12, 3, 13, 2, 14, 1, 15};
    const uint8_t extra_bits[3] = {2, 3, 7}; /* of the symbols 16 to 18 */
    uint32_t n = GI_RUNS_HEAD_SYMBOLS, nitems = 0;
    while (!lengths[order[n - 1]])
        n--;
    items[nitems++] = gi_runs_item((uint32_t)last | 2 << 1, 3); /* dynamic codes */
    items[nitems++] = gi_runs_item(nsymbols - 257, 5);
    items[nitems++] = gi_runs_item(GI_RUNS_DISTANCES - 1, 5);
    items[nitems++] = gi_runs_item(n - 4, 4);
    for (uint32_t i = 0; i < n; i++)
        items[nitems++] = gi_runs_item(lengths[order[i]], 3);
    for (uint32_t i = 0; i < npairs; i++) {
        uint32_t symbol = pairs[i].symbol, length = lengths[symbol];
        uint32_t extra = symbol < 16 ? 0 : extra_bits[symbol - 16];
        items[nitems++] =
            gi_runs_item(codes[symbol] | (uint32_t)pairs[i].extra << length, length + extra);
    }
    return nitems;
}

/* Returns the hash of a group of tokens that are mapped to bytes. The first 8 are in `low`, the
 * others in `high`, and bytes past the group are 0. */
GI_RUNS_INLINE uint32_t gi_runs_hash(uint64_t low, uint64_t high)
{
    uint64_t mixed = low * 0x9e3779b97f4a7c15 + high * 0xc2b2ae3d27d4eb4f;
    return (uint32_t)(mixed >> (64 - GI_RUNS_SEEN_BITS));
}

/* Returns the number of tokens of a group, if `ntokens` tokens have `nbits` bits. */
GI_RUNS_INLINE uint32_t gi_runs_group(uint64_t ntokens, uint64_t nbits)
{
    uint64_t group = (GI_RUNS_GROUP_NBITS * ntokens + nbits - 1) / nbits;
    if (group < GI_RUNS_GROUP_LEAST)
        return GI_RUNS_GROUP_LEAST;
    return group > GI_RUNS_GROUP_MOST ? (uint32_t)GI_RUNS_GROUP_MOST : (uint32_t)group;
}

/* Returns whether runs suit samples of `ntokens` tokens and `nbits` bits, in which `repeats` of
 * `groups` groups occurred before. */
GI_RUNS_INLINE bool gi_runs_rule(uint64_t ntokens, uint64_t nbits, uint64_t groups,
                                 uint64_t repeats)
{
    return 2 * repeats * (nbits - ntokens) <= groups * ntokens;
}

#endif
