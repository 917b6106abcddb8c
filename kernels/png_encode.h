/* The parts of the PNG encoder that do not depend on the device: the tokens of a group of bytes,
 * and the memory of the result. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_PNG_ENCODE_H
#define GI_KERNELS_PNG_ENCODE_H

#include "imgio/png/runs_code.h"
#include "kernels/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GI_PNG_GROUP = 64, /* bytes whose comparisons are the bits of a word */
    GI_PNG_GROUPS = GI_RUNS_BLOCK / GI_PNG_GROUP,
};

/* Allocates `nbytes` bytes and the list of `nstrips` strips, which the caller fills. */
enum gi_status gi_png_strips_alloc(struct gi_png_strips *strips, int nstrips, size_t nbytes,
                                   const struct gi_allocator *allocator, struct gi_err *err);

/* Goes through the tokens that begin in a group of a block, independently of other groups. Bit i of
 * equal[g] tells whether byte 64 g + i of the block equals the byte before it. It is 0 for the
 * first byte of the block, and past its end. */
struct gi_png_cursor {
    const uint64_t *equal;
    uint32_t group, ngroups;
    uint32_t at, end;     /* next byte, and end of the group */
    uint32_t start, stop; /* the last run that was found; shorter ones than a token are runs, too */
};

GI_RUNS_INLINE struct gi_png_cursor gi_png_cursor_at(const uint64_t *equal, uint32_t group,
                                                     uint32_t nbytes)
{
    struct gi_png_cursor c;
    c.equal = equal;
    c.group = group;
    c.ngroups = (nbytes + GI_PNG_GROUP - 1) / GI_PNG_GROUP;
    c.at = group * GI_PNG_GROUP;
    c.end = c.at + GI_PNG_GROUP < nbytes ? c.at + GI_PNG_GROUP : nbytes;
    c.start = c.stop = c.at;
    return c;
}

/* Returns the number of lowest bits of the word that are 1. */
GI_RUNS_INLINE uint32_t gi_png_low_ones(uint64_t word)
{
    uint32_t n = 0;
    for (uint32_t step = 32; step; step /= 2) {
        uint64_t ones = ((uint64_t)1 << step) - 1;
        if ((word & ones) == ones) {
            word >>= step;
            n += step;
        }
    }
    return n + (uint32_t)(word & 1);
}

/* Returns the number of highest bits of the word that are 1. */
GI_RUNS_INLINE uint32_t gi_png_high_ones(uint64_t word)
{
    uint32_t n = 0;
    for (uint32_t step = 32; step; step /= 2) {
        uint64_t ones = ~(uint64_t)0 << (GI_PNG_GROUP - step);
        if ((word & ones) == ones) {
            word <<= step;
            n += step;
        }
    }
    return n + (uint32_t)(word >> (GI_PNG_GROUP - 1));
}

/* Finds the run that contains c->at, whose bit is set. */
GI_RUNS_INLINE void gi_png_find_run(struct gi_png_cursor *c)
{
    uint32_t bit = c->at - c->group * GI_PNG_GROUP, n = GI_PNG_GROUP;
    c->start = c->at;
    for (uint32_t g = c->group; bit == 0 && g > 0 && n == GI_PNG_GROUP; g--) {
        n = gi_png_high_ones(c->equal[g - 1]);
        c->start -= n;
    }
    n = gi_png_low_ones(c->equal[c->group] >> bit);
    c->stop = c->at + n;
    for (uint32_t g = c->group + 1; bit + n == GI_PNG_GROUP && g < c->ngroups; g++) {
        bit = 0;
        n = gi_png_low_ones(c->equal[g]);
        c->stop += n;
    }
}

/* Takes the next token. Sets *where to the token's byte, and *length to the length of a run, or to
 * 0 for a literal. Returns false if no more tokens begin in the group. */
GI_RUNS_INLINE bool gi_png_next(struct gi_png_cursor *c, uint32_t *where, uint32_t *length)
{
    while (c->at < c->end) {
        if (c->at >= c->stop) {
            if (!(c->equal[c->group] >> c->at % GI_PNG_GROUP & 1)) {
                *where = c->at++;
                *length = 0;
                return true;
            }
            gi_png_find_run(c);
        }
        /* The match of the run that contains the byte, and the rest of the run from there. */
        uint32_t from = c->start + (c->at - c->start) / GI_RUNS_MOST * GI_RUNS_MOST;
        uint32_t rest = c->stop - from;
        *where = c->at;
        if (rest < GI_RUNS_LEAST) {
            c->at++;
            *length = 0;
            return true;
        }
        *length = rest < GI_RUNS_MOST ? rest : (uint32_t)GI_RUNS_MOST;
        c->at = from + *length;
        if (*where == from)
            return true;
    }
    return false;
}

/* The tokens that begin in a group, as bits: of all tokens, and of those that are runs. */
struct gi_png_tokens {
    uint64_t all, runs;
};

/* Finds the tokens of a group at once, of `nbytes` bytes in all. Returns false if a run may be
 * longer than a token, because all bits of a group are 1; gi_png_next() then finds them one by one.
 */
GI_RUNS_INLINE bool gi_png_tokens_of(struct gi_png_tokens *tokens, const uint64_t *equal,
                                     uint32_t group, uint32_t nbytes)
{
    const uint32_t first = group * GI_PNG_GROUP, left = nbytes - first;
    const uint64_t here = equal[group], before = group ? equal[group - 1] : 0;
    const uint64_t after = left > GI_PNG_GROUP ? equal[group + 1] : 0;
    if (!~here || !~before || !~after)
        return false;
    /* Bytes from which on GI_RUNS_LEAST bits are 1, here and among the last 4 of the group before.
     */
    const uint64_t shifted = here << 4 | before >> (GI_PNG_GROUP - 4);
    uint64_t starts = here, early = shifted & 15, in_runs;
    for (uint32_t i = 1; i < GI_RUNS_LEAST; i++) {
        starts &= here >> i | after << (GI_PNG_GROUP - i);
        early &= shifted >> i;
    }
    early |= early >> 1;
    early |= early >> 2; /* the bytes of the group that are in such runs */
    in_runs = starts | starts << 1;
    in_runs |= in_runs << 2 | starts << 4 | early;
    tokens->runs = in_runs & ~(here << 1 | before >> 63);
    tokens->all = ~in_runs | tokens->runs;
    if (left < GI_PNG_GROUP)
        tokens->all &= ((uint64_t)1 << left) - 1;
    return true;
}

/* Returns the length of the run that begins at byte i of a group as above. */
GI_RUNS_INLINE uint32_t gi_png_run_at(const uint64_t *equal, uint32_t group, uint32_t nbytes,
                                      uint32_t i)
{
    uint32_t n = gi_png_low_ones(equal[group] >> i);
    if (i + n == GI_PNG_GROUP && (group + 1) * GI_PNG_GROUP < nbytes)
        n += gi_png_low_ones(equal[group + 1]);
    return n;
}

#ifdef __cplusplus
}
#endif

#endif
