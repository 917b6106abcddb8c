/* The PNG coder "runs": statistics, codes and bits of its blocks.
 * SPDX-License-Identifier: MIT */
#include "imgio/png/png_runs.h"

#include <endian.h>
#include <string.h>

#include "imgio/png/runs_tokens.h"

enum {
    STORED_NBYTES = GI_RUNS_BLOCK / 2, /* per stored block, which is less than 65536 */
    STORED_HEAD_NBYTES = 5,
    WORD_NBYTES = 8, /* the writer of bits stores whole words */
};

/* The Huffman code of a block. */
struct code {
    uint8_t lengths[GI_RUNS_SYMBOLS];
    uint16_t codes[GI_RUNS_SYMBOLS];
    uint64_t nbits; /* of the block's tokens and its end */
};

/* Bits that are written to `out`. */
struct writer {
    uint8_t *out;
    uint64_t word; /* bits not yet counted in `out`, the first in the lowest bit */
    unsigned n;    /* number of bits in `word`, below 8 after a flush */
};

static inline __attribute__((always_inline)) void flush(struct writer *w)
{
    uint64_t word = htole64(w->word);
    memcpy(w->out, &word, sizeof word);
    w->out += w->n >> 3;
    w->word >>= w->n & ~7u;
    w->n &= 7;
}

static void put(struct writer *w, uint32_t bits, uint32_t n)
{
    w->word |= (uint64_t)bits << w->n;
    w->n += n;
    flush(w);
}

static void align(struct writer *w)
{
    w->n = (w->n + 7) & ~7u;
    flush(w);
}

/* Counts tokens in four tables, so that equal tokens in succession do not wait for each other. */
static void count_tokens(uint32_t *counts, const uint16_t *tokens, size_t n)
{
    uint32_t parts[4][GI_RUNS_TOKENS];
    memset(parts, 0, sizeof parts);
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        uint64_t word;
        memcpy(&word, tokens + i, sizeof word);
        parts[0][(uint16_t)word]++;
        parts[1][(uint16_t)(word >> 16)]++;
        parts[2][(uint16_t)(word >> 32)]++;
        parts[3][word >> 48]++;
    }
    for (; i < n; i++)
        parts[0][tokens[i]]++;
    for (int t = 0; t < GI_RUNS_TOKENS; t++)
        counts[t] = parts[0][t] + parts[1][t] + parts[2][t] + parts[3][t];
}

/* Lists the symbols whose count is not 0, sorted by count and then by symbol, and sets `sorted` to
 * their counts. Two passes of a radix sort take 9 bits each, which are enough for the count of all
 * bytes of a block. Returns the number of symbols. */
static uint32_t sort_symbols(uint16_t *order, uint32_t *sorted, const uint32_t *counts, uint32_t n)
{
    enum { DIGIT = 9, VALUES = 1 << DIGIT };
    uint16_t ends[2][VALUES] = {0}, once[GI_RUNS_SYMBOLS];
    uint32_t used = 0;
    for (uint32_t s = 0; s < n; s++)
        if (counts[s]) {
            ends[0][counts[s] % VALUES]++;
            ends[1][counts[s] / VALUES]++;
            used++;
        }
    for (uint32_t v = 0, low = 0, high = 0; v < VALUES; v++) {
        uint16_t n_low = ends[0][v], n_high = ends[1][v];
        ends[0][v] = (uint16_t)low;
        ends[1][v] = (uint16_t)high;
        low += n_low;
        high += n_high;
    }
    for (uint32_t s = 0; s < n; s++)
        if (counts[s])
            once[ends[0][counts[s] % VALUES]++] = (uint16_t)s;
    for (uint32_t i = 0; i < used; i++)
        order[ends[1][counts[once[i]] / VALUES]++] = once[i];
    for (uint32_t i = 0; i < used; i++)
        sorted[i] = counts[order[i]];
    return used;
}

static void make_lengths(uint8_t *lengths, const uint32_t *counts, uint32_t n, uint32_t limit)
{
    uint16_t order[GI_RUNS_SYMBOLS], parents[2 * GI_RUNS_SYMBOLS];
    uint32_t weights[2 * GI_RUNS_SYMBOLS];
    memset(lengths, 0, n);
    uint32_t used = sort_symbols(order, weights, counts, n);
    gi_runs_lengths(lengths, order, weights, parents, used, limit);
}

static void make_code(struct code *code, const uint32_t *counts)
{
    uint32_t of_symbols[GI_RUNS_SYMBOLS] = {0};
    struct gi_runs_item extra;
    memcpy(of_symbols, counts, 256 * sizeof *counts);
    of_symbols[GI_RUNS_END] = 1;
    code->nbits = 0;
    for (uint32_t t = 256; t < GI_RUNS_TOKENS; t++)
        if (counts[t]) {
            of_symbols[gi_runs_length_symbol(&extra, t - 256 + 3)] += counts[t];
            code->nbits += (uint64_t)counts[t] * (extra.nbits + 1);
        }
    make_lengths(code->lengths, of_symbols, GI_RUNS_SYMBOLS, GI_RUNS_CODE_BITS);
    gi_runs_codes(code->codes, code->lengths, GI_RUNS_SYMBOLS);
    for (uint32_t s = 0; s < GI_RUNS_SYMBOLS; s++)
        code->nbits += (uint64_t)of_symbols[s] * code->lengths[s];
}

/* Makes the items of the head of a block (RFC 1951, 3.2.7) and returns their number. */
static uint32_t make_head(struct gi_runs_item *items, const uint8_t *lengths, bool last)
{
    uint32_t counts[GI_RUNS_HEAD_SYMBOLS] = {0};
    uint8_t of_lengths[GI_RUNS_HEAD_SYMBOLS];
    uint16_t codes[GI_RUNS_HEAD_SYMBOLS];
    struct gi_runs_pair pairs[GI_RUNS_SYMBOLS + GI_RUNS_DISTANCES];
    uint32_t nsymbols = gi_runs_used(lengths), npairs = gi_runs_pairs(pairs, lengths, nsymbols);
    for (uint32_t i = 0; i < npairs; i++)
        counts[pairs[i].symbol]++;
    make_lengths(of_lengths, counts, GI_RUNS_HEAD_SYMBOLS, GI_RUNS_HEAD_CODE_BITS);
    gi_runs_codes(codes, of_lengths, GI_RUNS_HEAD_SYMBOLS);
    return gi_runs_head(items, pairs, npairs, of_lengths, codes, nsymbols, last);
}

/* Sets the bits of every token of a block. */
static void fill_tables(struct gi_runs *runs, const struct code *code)
{
    for (uint32_t t = 0; t < 256; t++) {
        runs->bits[t] = code->codes[t];
        runs->nbits[t] = code->lengths[t];
    }
    for (uint32_t t = 256; t < GI_RUNS_TOKENS; t++) {
        struct gi_runs_item extra;
        uint32_t symbol = gi_runs_length_symbol(&extra, t - 256 + 3);
        uint32_t length = code->lengths[symbol];
        runs->bits[t] = code->codes[symbol] | extra.bits << length;
        runs->nbits[t] = (uint8_t)(length + extra.nbits + 1); /* the distance is one bit of 0 */
    }
}

/* Pads the stream to a byte boundary by a stored block without bytes. */
static void put_empty(struct writer *w)
{
    put(w, 0, 3);
    align(w);
    put(w, 0xffff0000, 32);
}

/* Reads the bits of two tokens, at most 40, and returns their number. */
static inline __attribute__((always_inline)) unsigned
take_pair(uint64_t *bits, const struct gi_runs *runs, uint32_t pair)
{
    size_t a = pair & 0xffff, b = pair >> 16;
    *bits = runs->bits[a] | (uint64_t)runs->bits[b] << runs->nbits[a];
    return (unsigned)(runs->nbits[a] + runs->nbits[b]);
}

/* Writes the bits of the tokens. The bits of eight tokens are joined in pairs, which do not wait
 * for each other. If there are more than fit in the word, as is rare, they are written pair by
 * pair. */
static inline __attribute__((always_inline)) void
put_tokens_body(struct writer *to, const struct gi_runs *runs, size_t n)
{
    struct writer w = *to; /* a local copy, which the compiler can keep in registers */
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t words[2], bits[4];
        memcpy(words, runs->tokens + i, sizeof words);
        unsigned n0 = take_pair(&bits[0], runs, (uint32_t)words[0]);
        unsigned n1 = take_pair(&bits[1], runs, (uint32_t)(words[0] >> 32));
        unsigned n2 = take_pair(&bits[2], runs, (uint32_t)words[1]);
        unsigned n3 = take_pair(&bits[3], runs, (uint32_t)(words[1] >> 32));
        if (n0 + n1 + n2 + n3 <= 56) {
            uint64_t first = bits[0] | bits[1] << n0, second = bits[2] | bits[3] << n2;
            w.word |= (first | second << (n0 + n1)) << w.n;
            w.n += n0 + n1 + n2 + n3;
            flush(&w);
        } else {
            const unsigned counts[4] = {n0, n1, n2, n3};
            for (int k = 0; k < 4; k++) {
                w.word |= bits[k] << w.n;
                w.n += counts[k];
                flush(&w);
            }
        }
    }
    for (; i < n; i++)
        put(&w, runs->bits[runs->tokens[i]], runs->nbits[runs->tokens[i]]);
    *to = w;
}

#ifdef __x86_64__
__attribute__((target("bmi2"))) static void put_tokens_bmi2(struct writer *to,
                                                            const struct gi_runs *runs, size_t n)
{
    put_tokens_body(to, runs, n);
}
#endif

static void put_tokens(struct writer *to, const struct gi_runs *runs, size_t n)
{
#ifdef __x86_64__
    if (runs->avx2) {
        put_tokens_bmi2(to, runs, n);
        return;
    }
#endif
    put_tokens_body(to, runs, n);
}

static void put_stored(struct writer *w, const uint8_t *bytes, size_t n, bool last)
{
    for (size_t at = 0, piece; at < n; at += piece) {
        piece = n - at < STORED_NBYTES ? n - at : STORED_NBYTES;
        put(w, last && at + piece == n, 3);
        align(w);
        put(w, (uint32_t)piece | ~(uint32_t)piece << 16, 32);
        memcpy(w->out, bytes + at, piece);
        w->out += piece;
    }
}

static void put_block(struct gi_runs *runs, struct writer *w, const uint8_t *bytes, size_t n,
                      bool last)
{
    struct code code;
    struct gi_runs_item items[GI_RUNS_ITEMS_MAX];
    size_t ntokens = gi_runs_tokens(runs->tokens, bytes, n);
    count_tokens(runs->counts, runs->tokens, ntokens);
    make_code(&code, runs->counts);
    uint32_t nitems = make_head(items, code.lengths, last);
    uint64_t nbits = code.nbits;
    for (uint32_t i = 0; i < nitems; i++)
        nbits += items[i].nbits;
    if (nbits >= 8 * (uint64_t)n) {
        put_stored(w, bytes, n, last);
        return;
    }
    for (uint32_t i = 0; i < nitems; i++)
        put(w, items[i].bits, items[i].nbits);
    fill_tables(runs, &code);
    put_tokens(w, runs, ntokens);
    put(w, code.codes[GI_RUNS_END], code.lengths[GI_RUNS_END]);
}

/* Returns the hash of the group of bytes at p. The masks keep the bytes of the group, of which the
 * first 8 are in `low`. */
static inline uint32_t hash_group(const uint8_t *p, uint64_t low_mask, uint64_t high_mask)
{
    uint64_t low, high;
    memcpy(&low, p, sizeof low);
    memcpy(&high, p + sizeof low, sizeof high);
    return gi_runs_hash(le64toh(low) & low_mask, le64toh(high) & high_mask);
}

/* Counts the groups of `group` tokens of a sample, and those among them whose hash occurred before.
 * `folded` holds the tokens, folded to bytes. */
static void count_repeats(struct gi_runs *runs, uint64_t *groups, uint64_t *repeats,
                          const uint8_t *folded, size_t n, unsigned group)
{
    uint64_t low = group < 8 ? ((uint64_t)1 << 8 * group) - 1 : UINT64_MAX;
    uint64_t high = group <= 8 ? 0 : UINT64_MAX >> 8 * (GI_RUNS_GROUP_MOST - group);
    memset(runs->seen, 0, sizeof runs->seen);
    for (size_t i = 0; i + GI_RUNS_GROUP_MOST <= n; i++) {
        uint32_t hash = hash_group(folded + i, low, high);
        *repeats += runs->seen[hash / 8] >> hash % 8 & 1;
        runs->seen[hash / 8] |= (uint8_t)(1u << hash % 8);
    }
    *groups += n < GI_RUNS_GROUP_MOST ? 0 : n - GI_RUNS_GROUP_MOST + 1;
}

bool gi_runs_suit(struct gi_runs *runs, const uint8_t *bytes, size_t nbytes)
{
    size_t nsamples = nbytes < GI_RUNS_SAMPLED_TWICE ? 1 : 2,
           n = nbytes < GI_RUNS_SAMPLE ? nbytes : GI_RUNS_SAMPLE;
    size_t ntokens[2], all_tokens = 0;
    uint32_t counts[GI_RUNS_TOKENS], sums[GI_RUNS_TOKENS] = {0};
    for (size_t k = 0; k < nsamples; k++) {
        const uint8_t *sample = bytes + (nbytes - n) / (2 * nsamples) * (2 * k + 1);
        ntokens[k] = gi_runs_tokens(runs->tokens, sample, n);
        all_tokens += ntokens[k];
        count_tokens(counts, runs->tokens, ntokens[k]);
        for (int t = 0; t < GI_RUNS_TOKENS; t++)
            sums[t] += counts[t];
        for (size_t i = 0; i < ntokens[k]; i++)
            runs->folded[k][i] =
                (uint8_t)(runs->tokens[i] ^ (runs->tokens[i] >> 8) * GI_RUNS_FOLDED_RUN);
    }
    struct code code;
    make_code(&code, sums);
    uint64_t groups = 0, repeats = 0;
    uint32_t group = gi_runs_group(all_tokens, code.nbits);
    for (size_t k = 0; k < nsamples; k++)
        count_repeats(runs, &groups, &repeats, runs->folded[k], ntokens[k], group);
    return gi_runs_rule(all_tokens, code.nbits, groups, repeats);
}

size_t gi_runs_bound(size_t nbytes)
{
    size_t pieces = nbytes / STORED_NBYTES + 2;
    return nbytes + pieces * (STORED_HEAD_NBYTES + 1) + 2 * WORD_NBYTES;
}

size_t gi_runs_code(struct gi_runs *runs, uint8_t *out, const uint8_t *bytes, size_t nbytes,
                    bool last)
{
    struct writer w = {.out = out};
    for (size_t at = 0, n; at < nbytes; at += n) {
        n = nbytes - at < GI_RUNS_BLOCK ? nbytes - at : GI_RUNS_BLOCK;
        put_block(runs, &w, bytes + at, n, last && at + n == nbytes);
    }
    if (last)
        align(&w);
    else
        put_empty(&w);
    return (size_t)(w.out - out);
}
