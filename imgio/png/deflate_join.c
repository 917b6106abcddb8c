/* Finds the last block of a DEFLATE stream (RFC 1951) by decoding the stream's symbols without
 * producing their bytes. This is needed because libdeflate has no flush, and marks the last block
 * of each stream.
 * SPDX-License-Identifier: MIT */
#include "imgio/png/deflate_join.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    CODE_BITS = 15, /* length of the longest code */
    LITERALS = 288,
    DISTANCES = 32,
    LENGTHS = 19, /* number of codes for code lengths */
    END_OF_BLOCK = 256,
    /* A table entry contains the number of bits of the code and its extra bits, and flags for the
     * symbol's kind. Where there is no code, the entry is 0. */
    ENTRY_BITS = 0x1f,
    ENTRY_MATCH = 0x20,
    ENTRY_END = 0x40,
};

struct stream {
    const unsigned char *bytes;
    size_t nbytes;
    size_t at; /* next byte to take into `bits` */
    uint64_t bits;
    unsigned nbits;
    bool failed; /* the data ended early, or are no DEFLATE stream */
};

/* A Huffman code. The next `width` bits of the stream are the index of an entry. */
struct code {
    unsigned width;
    uint8_t entries[1 << CODE_BITS];
};

struct walker {
    struct stream in;
    struct code literals, distances;
    uint8_t lengths[LITERALS + DISTANCES];
};

static inline void refill(struct stream *in)
{
    if (in->at + 8 <= in->nbytes) {
        uint64_t word;
        memcpy(&word, in->bytes + in->at, sizeof word);
        in->bits |= le64toh(word) << in->nbits;
        unsigned n = (63 - in->nbits) / 8;
        in->at += n;
        in->nbits += 8 * n;
        return;
    }
    while (in->nbits <= 56) {
        /* Past the end zeros are read. position() tells whether any of these were used. */
        uint64_t byte = in->at < in->nbytes ? in->bytes[in->at] : 0;
        in->bits |= byte << in->nbits;
        in->nbits += 8;
        in->at++;
    }
}

static void drop(struct stream *in, unsigned n)
{
    in->bits >>= n;
    in->nbits -= n;
}

static unsigned take(struct stream *in, unsigned n)
{
    refill(in);
    unsigned value = (unsigned)(in->bits & ((1u << n) - 1));
    drop(in, n);
    return value;
}

/* Returns the number of bits of the stream that were used. */
static uint64_t position(const struct stream *in)
{
    return (uint64_t)in->at * 8 - in->nbits;
}

static unsigned literal_entry(unsigned symbol, unsigned length)
{
    if (symbol < END_OF_BLOCK)
        return length;
    if (symbol == END_OF_BLOCK)
        return length | ENTRY_END;
    /* RFC 1951, 3.2.5: Symbols 257..264 and 285 have no extra bits. Symbols 265..268 have one extra
     * bit, and each further group of four symbols has one bit more. */
    unsigned extra = symbol < 265 || symbol == 285 ? 0 : (symbol - 261) / 4;
    return (length + extra) | ENTRY_MATCH;
}

static unsigned distance_entry(unsigned symbol, unsigned length)
{
    return length + (symbol < 4 ? 0 : symbol / 2 - 1);
}

static unsigned plain_entry(unsigned symbol, unsigned length)
{
    return length;
}

/* Returns the next code of a canonical code, with its bits reversed, because RFC 1951 stores codes
 * from their highest bit on, and everything else from the lowest bit on. */
static unsigned next_reversed(unsigned code, unsigned length)
{
    unsigned bit = 1u << (length - 1);
    while (code & bit) {
        code ^= bit;
        bit >>= 1;
    }
    return code | bit;
}

/* Fills the table. If `symbols` is not NULL, it gets the symbol of each entry. */
static void make_code(struct code *code, uint8_t *symbols, const uint8_t *lengths, unsigned n,
                      unsigned (*entry)(unsigned symbol, unsigned length))
{
    unsigned ends[CODE_BITS + 1] = {0}, sorted[LITERALS];
    code->width = 1;
    for (unsigned s = 0; s < n; s++) {
        code->width = lengths[s] > code->width ? lengths[s] : code->width;
        ends[lengths[s]]++;
    }
    for (unsigned length = 1, sum = 0; length <= CODE_BITS; length++) {
        unsigned count = ends[length];
        ends[length] = sum;
        sum += count;
    }
    unsigned coded = 0;
    for (unsigned s = 0; s < n; s++)
        if (lengths[s]) {
            sorted[ends[lengths[s]]++] = s;
            coded++;
        }
    memset(code->entries, 0, (size_t)1 << code->width);
    for (unsigned i = 0, reversed = 0; i < coded && (!i || reversed); i++) {
        unsigned symbol = sorted[i], length = lengths[symbol];
        uint8_t value = (uint8_t)entry(symbol, length);
        for (unsigned at = reversed; at < 1u << code->width; at += 1u << length) {
            code->entries[at] = value;
            if (symbols)
                symbols[at] = (uint8_t)symbol;
        }
        reversed = next_reversed(reversed, length); /* 0 if the code is complete */
    }
}

/* Reads the codes of a block with dynamic Huffman codes (RFC 1951, 3.2.7). */
static void read_dynamic_codes(struct walker *w)
{
    static const uint8_t order[LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
    struct stream *in = &w->in;
    unsigned literals = take(in, 5) + 257, distances = take(in, 5) + 1, n = take(in, 4) + 4;
    uint8_t of_lengths[LENGTHS] = {0}, symbols[1 << 7];
    for (unsigned i = 0; i < n; i++)
        of_lengths[order[i]] = (uint8_t)take(in, 3);
    make_code(&w->literals, symbols, of_lengths, LENGTHS, plain_entry);
    for (unsigned i = 0; i < literals + distances;) {
        refill(in);
        unsigned index = (unsigned)in->bits & ((1u << w->literals.width) - 1);
        unsigned symbol = symbols[index], value = 0, times = 1;
        if (!w->literals.entries[index]) {
            in->failed = true;
            return;
        }
        drop(in, w->literals.entries[index]);
        if (symbol < 16)
            value = symbol;
        else if (symbol == 16)
            times = 3 + take(in, 2), value = i ? w->lengths[i - 1] : 0;
        else
            times = symbol == 17 ? 3 + take(in, 3) : 11 + take(in, 7);
        for (; times && i < literals + distances; times--)
            w->lengths[i++] = (uint8_t)value;
    }
    /* The distance table is made first, because the lengths of both tables are in one array. */
    make_code(&w->distances, NULL, w->lengths + literals, distances, distance_entry);
    make_code(&w->literals, NULL, w->lengths, literals, literal_entry);
}

static void set_fixed_codes(struct walker *w)
{
    for (unsigned s = 0; s < LITERALS; s++)
        w->lengths[s] = s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8;
    memset(w->lengths + LITERALS, 5, DISTANCES);
    make_code(&w->literals, NULL, w->lengths, LITERALS, literal_entry);
    make_code(&w->distances, NULL, w->lengths + LITERALS, DISTANCES, distance_entry);
}

static void walk_symbols(struct walker *w)
{
    struct stream in = w->in; /* a local copy, which the compiler can keep in registers */
    unsigned literal_mask = (1u << w->literals.width) - 1;
    unsigned distance_mask = (1u << w->distances.width) - 1;
    unsigned entry;
    do {
        if (in.nbits < 20 + 28) /* maximum bits of a length and a distance, extra bits included */
            refill(&in);
        entry = w->literals.entries[in.bits & literal_mask];
        drop(&in, entry & ENTRY_BITS);
        if (entry & ENTRY_MATCH) {
            entry = w->distances.entries[in.bits & distance_mask];
            drop(&in, entry & ENTRY_BITS);
        }
        in.failed = !entry || in.at > in.nbytes + 8;
    } while (!in.failed && !(entry & ENTRY_END));
    w->in = in;
}

static void walk_stored(struct stream *in)
{
    drop(in, in->nbits % 8);
    size_t at = (size_t)(position(in) / 8);
    in->failed = in->nbytes < 4 || at > in->nbytes - 4;
    if (in->failed)
        return;
    in->at = at + 4 + in->bytes[at] + ((size_t)in->bytes[at + 1] << 8);
    in->bits = in->nbits = 0;
}

/* Decodes the stream to its end. Returns the bit position of the header of the last block. */
static uint64_t walk(struct walker *w)
{
    uint64_t head;
    unsigned last;
    do {
        head = position(&w->in);
        last = take(&w->in, 1);
        unsigned kind = take(&w->in, 2);
        w->in.failed = kind == 3;
        if (kind == 0) {
            walk_stored(&w->in);
        } else if (kind == 1) {
            set_fixed_codes(w);
            walk_symbols(w);
        } else if (kind == 2) {
            read_dynamic_codes(w);
            if (!w->in.failed)
                walk_symbols(w);
        }
    } while (!last && !w->in.failed);
    return head;
}

size_t gi_deflate_open(unsigned char *bytes, size_t nbytes)
{
    struct walker w;
    w.in = (struct stream){.bytes = bytes, .nbytes = nbytes};
    uint64_t head = walk(&w), end = position(&w.in);
    if (w.in.failed || (end + 7) / 8 != nbytes)
        return 0;
    bytes[head / 8] &= (unsigned char)~(1u << head % 8);
    /* Makes the stored block, which consists of three zero bits, zeros to the end of the byte, the
     * length 0, and the complement of the length. The unused bits of the last byte are zero
     * already. */
    size_t at = (size_t)((end + 3 + 7) / 8);
    if (at > nbytes)
        bytes[nbytes] = 0;
    static const unsigned char empty[4] = {0x00, 0x00, 0xff, 0xff};
    memcpy(bytes + at, empty, sizeof empty);
    return at + sizeof empty;
}
