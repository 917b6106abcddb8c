/* The PNG coder "runs" in plain loops, as imgio/png/png_runs.h and runs_code.h describe it. Tests
 * compare every implementation with it, byte by byte.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct plain_stream {
    uint8_t *bytes; /* zeros after the last bit */
    size_t nbits;
};

static void plain_put(struct plain_stream *s, unsigned bits, unsigned n)
{
    for (unsigned i = 0; i < n; i++, s->nbits++)
        s->bytes[s->nbits / 8] |= (uint8_t)((bits >> i & 1) << s->nbits % 8);
}

/* A Huffman code begins with its highest bit. */
static void plain_put_code(struct plain_stream *s, unsigned code, unsigned length)
{
    for (unsigned i = length; i-- > 0; s->nbits++)
        s->bytes[s->nbits / 8] |= (uint8_t)((code >> i & 1) << s->nbits % 8);
}

/* Sets the lengths of Huffman's code for the symbols whose count is not 0. Each step joins the two
 * lightest nodes. Among equal weights leaves come first, by symbol, and then inner nodes by age. */
static void plain_lengths(unsigned *lengths, const unsigned *counts, int n, unsigned limit)
{
    enum { MOST = 2 * 300 };
    struct {
        unsigned weight;
        int parent;
        bool joined;
    } nodes[MOST];
    int nnodes = n, leaves = 0, numbers[32] = {0};
    for (int i = 0; i < n; i++) {
        nodes[i].weight = counts[i];
        nodes[i].parent = -1;
        nodes[i].joined = !counts[i];
        leaves += counts[i] != 0;
        lengths[i] = 0;
    }
    for (int step = 1; step < leaves; step++) {
        int pair[2];
        for (int k = 0; k < 2; k++) {
            pair[k] = -1;
            for (int i = 0; i < nnodes; i++)
                if (!nodes[i].joined && (pair[k] < 0 || nodes[i].weight < nodes[pair[k]].weight))
                    pair[k] = i;
            nodes[pair[k]].joined = true;
            nodes[pair[k]].parent = nnodes;
        }
        nodes[nnodes].weight = nodes[pair[0]].weight + nodes[pair[1]].weight;
        nodes[nnodes].parent = -1;
        nodes[nnodes++].joined = false;
    }
    long sum = 0;
    for (int i = 0; i < n; i++) {
        unsigned depth = 0;
        for (int node = i; counts[i] && nodes[node].parent >= 0; node = nodes[node].parent)
            depth++;
        depth = depth > limit ? limit : depth;
        numbers[depth] += counts[i] != 0;
        sum += counts[i] ? 1L << (limit - depth) : 0;
    }
    for (; sum > 1L << limit; sum--) {
        unsigned depth = limit - 1;
        while (!numbers[depth])
            depth--;
        numbers[depth]--;
        numbers[depth + 1] += 2;
        numbers[limit]--;
    }
    /* The rarest symbols get the longest codes. */
    for (unsigned length = limit; length > 0; length--)
        for (int k = 0; k < numbers[length]; k++) {
            int rarest = -1;
            for (int i = 0; i < n; i++)
                if (counts[i] && !lengths[i] && (rarest < 0 || counts[i] < counts[rarest]))
                    rarest = i;
            lengths[rarest] = length;
        }
}

static void plain_codes(unsigned *codes, const unsigned *lengths, int n)
{
    unsigned code = 0;
    for (unsigned length = 1; length < 16; length++, code <<= 1)
        for (int i = 0; i < n; i++)
            if (lengths[i] == length)
                codes[i] = code++;
}

/* Finds the symbol of a length of 3 to 258 in the table of RFC 1951, 3.2.5. */
static int plain_length_symbol(int length, unsigned *extra, unsigned *nextra)
{
    static const int first[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                  31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const unsigned bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    int i = 28;
    while (first[i] > length)
        i--;
    *extra = (unsigned)(length - first[i]);
    *nextra = bits[i];
    return 257 + i;
}

/* Divides n bytes into tokens: a literal is its byte, and a run of `length` is 1000 + length. */
static size_t plain_tokens(int *tokens, const uint8_t *bytes, size_t n)
{
    size_t count = 0;
    for (size_t at = 0; at < n;) {
        size_t end = at;
        while (at && end < n && bytes[end] == bytes[at - 1])
            end++;
        if (end - at < 5) {
            /* No token of a sequence that is too short can begin a longer one. */
            for (end += end == at; at < end; at++)
                tokens[count++] = bytes[at];
            continue;
        }
        while (end - at >= 5) {
            size_t length = end - at < 258 ? end - at : 258;
            tokens[count++] = 1000 + (int)length;
            at += length;
        }
        for (; at < end; at++)
            tokens[count++] = bytes[at];
    }
    return count;
}

static void plain_head(struct plain_stream *s, const unsigned *lengths, bool last)
{
    static const int order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    static const unsigned nextra[19] = {[16] = 2, [17] = 3, [18] = 7};
    unsigned all[288], symbols[288], extras[288], counts[19] = {0}, of_lengths[19], codes[19] = {0};
    int used = 286, n = 0, of_used = 19;
    while (!lengths[used - 1])
        used--;
    memcpy(all, lengths, (size_t)used * sizeof *all);
    all[used] = all[used + 1] = 1; /* the two distances */
    for (int at = 0, end; at < used + 2; at = end) {
        for (end = at; end < used + 2 && all[end] == all[at];)
            end++;
        for (int left = end - at; left;) {
            bool first = all[at] && left == end - at;
            int most = first || left < 3 ? 1 : all[at] ? 6 : left < 11 ? 10 : 138;
            int times = left < most ? left : most;
            symbols[n] = most == 1 ? all[at] : most == 6 ? 16 : most == 10 ? 17 : 18;
            extras[n] = most == 1 ? 0 : (unsigned)(times - (most == 138 ? 11 : 3));
            counts[symbols[n++]]++;
            left -= times;
        }
    }
    plain_lengths(of_lengths, counts, 19, 7);
    plain_codes(codes, of_lengths, 19);
    while (!of_lengths[order[of_used - 1]])
        of_used--;
    plain_put(s, last, 1);
    plain_put(s, 2, 2);
    plain_put(s, (unsigned)used - 257, 5);
    plain_put(s, 1, 5);
    plain_put(s, (unsigned)of_used - 4, 4);
    for (int i = 0; i < of_used; i++)
        plain_put(s, of_lengths[order[i]], 3);
    for (int i = 0; i < n; i++) {
        plain_put_code(s, codes[symbols[i]], of_lengths[symbols[i]]);
        plain_put(s, extras[i], nextra[symbols[i]]);
    }
}

static void plain_block(struct plain_stream *s, const uint8_t *bytes, size_t n, bool last)
{
    int *tokens = malloc(n * sizeof *tokens);
    unsigned counts[286] = {0}, lengths[286], codes[286] = {0}, extra, nextra;
    size_t ntokens = plain_tokens(tokens, bytes, n), from = s->nbits;
    for (size_t i = 0; i < ntokens; i++)
        counts[tokens[i] < 1000 ? tokens[i]
                                : plain_length_symbol(tokens[i] - 1000, &extra, &nextra)]++;
    counts[256] = 1;
    plain_lengths(lengths, counts, 286, 14);
    plain_codes(codes, lengths, 286);
    plain_head(s, lengths, last);
    for (size_t i = 0; i < ntokens; i++) {
        if (tokens[i] < 1000) {
            plain_put_code(s, codes[tokens[i]], lengths[tokens[i]]);
            continue;
        }
        int symbol = plain_length_symbol(tokens[i] - 1000, &extra, &nextra);
        plain_put_code(s, codes[symbol], lengths[symbol]);
        plain_put(s, extra, nextra);
        plain_put(s, 0, 1); /* distance 1 */
    }
    plain_put_code(s, codes[256], lengths[256]);
    free(tokens);
    if (s->nbits - from < 8 * n)
        return;
    /* The block is stored instead. */
    for (size_t bit = from; bit < s->nbits; bit++)
        s->bytes[bit / 8] &= (uint8_t) ~(1u << bit % 8);
    s->nbits = from;
    for (size_t at = 0; at < n; at += 32768) {
        size_t piece = n - at < 32768 ? n - at : 32768;
        plain_put(s, last && at + piece == n, 3);
        s->nbits = (s->nbits + 7) / 8 * 8;
        plain_put(s, (unsigned)piece, 16);
        plain_put(s, ~(unsigned)piece, 16);
        memcpy(s->bytes + s->nbits / 8, bytes + at, piece);
        s->nbits += 8 * piece;
    }
}

/* Returns the stream of `n` bytes, which the caller frees, and sets *nbytes to its length. */
static uint8_t *plain_runs(size_t *nbytes, const uint8_t *bytes, size_t n, bool last)
{
    struct plain_stream s = {calloc(2 * n + 4096, 1), 0};
    for (size_t at = 0; at < n; at += 65536) {
        size_t block = n - at < 65536 ? n - at : 65536;
        plain_block(&s, bytes + at, block, last && at + block == n);
    }
    if (!last) {
        plain_put(&s, 0, 3);
        s.nbits = (s.nbits + 7) / 8 * 8;
        plain_put(&s, 0xffff0000, 32);
    }
    *nbytes = (s.nbits + 7) / 8;
    return s.bytes;
}
