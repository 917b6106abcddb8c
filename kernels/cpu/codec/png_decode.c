/* Decodes the zlib stream of a PNG: inflates it bit by bit into the filtered rows, then undoes the
 * filters row by row. Serves forced runs and tests, and defines the result; libdeflate, which imgio
 * calls, is faster.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/codec.h"
#include "kernels/crc32.h"

enum {
    BITS_MAX = 15,  /* length of a code */
    LITERALS = 286, /* literals, end of block, and lengths; the fixed code has two more */
    DISTANCES = 30, /* likewise */
    END_OF_BLOCK = 256,
    RAW_NBYTES_MAX = INT32_MAX,
    ADLER_RUN = 5552, /* maximum number of bytes before the sums need the remainder (RFC 1950) */
};

/* A canonical Huffman code. */
struct code {
    uint16_t counts[BITS_MAX + 1]; /* number of symbols of each length */
    uint16_t symbols[288];         /* in the order of their codes */
};

struct inflater {
    const uint8_t *at, *end;
    uint32_t window; /* the next bits, from the lower end on */
    int n;           /* number of bits in the window, below 8 between two calls of take() */
    bool over;       /* the stream had too few bits */
    uint8_t *out;
    size_t nout, room;
    struct code lengths, literals, distances;
};

/* Returns the next n bits, at most 16. */
static unsigned take(struct inflater *s, int n)
{
    for (; s->n < n; s->n += 8) {
        if (s->at == s->end) {
            s->over = true;
            return 0;
        }
        s->window |= (uint32_t)*s->at++ << s->n;
    }
    unsigned value = s->window & ((1u << n) - 1);
    s->window >>= n;
    s->n -= n;
    return value;
}

/* Makes the code of n symbols with these lengths. Returns the part of the codes that is not used,
 * in units of 2^-15, or a negative number if there are too many codes. */
static int make_code(struct code *code, const uint8_t *lengths, int n)
{
    uint16_t next[BITS_MAX + 2] = {0};
    int unused = 1 << BITS_MAX;
    memset(code, 0, sizeof *code);
    for (int i = 0; i < n; i++)
        code->counts[lengths[i]] += lengths[i] > 0;
    for (int bits = 1; bits <= BITS_MAX; bits++) {
        unused -= code->counts[bits] << (BITS_MAX - bits);
        next[bits + 1] = (uint16_t)(next[bits] + code->counts[bits]);
    }
    for (int i = 0; i < n; i++)
        if (lengths[i])
            code->symbols[next[lengths[i]]++] = (uint16_t)i;
    return unused;
}

/* Decodes a symbol. Returns -1 if no symbol has such a code. */
static int decode_symbol(struct inflater *s, const struct code *code)
{
    int at = 0, first = 0, index = 0; /* `first`: the lowest code of this length */
    for (int bits = 1; bits <= BITS_MAX && !s->over; bits++) {
        int count = code->counts[bits];
        at |= (int)take(s, 1);
        if (at - first < count)
            return s->over ? -1 : code->symbols[index + at - first];
        index += count;
        first = (first + count) << 1;
        at <<= 1;
    }
    return -1;
}

static bool inflate_stored(struct inflater *s)
{
    take(s, s->n); /* up to the next byte */
    unsigned nbytes = take(s, 16), inverse = take(s, 16);
    if (s->over || (nbytes ^ inverse) != 0xffff || nbytes > (size_t)(s->end - s->at) ||
        nbytes > s->room - s->nout)
        return false;
    memcpy(s->out + s->nout, s->at, nbytes);
    s->nout += nbytes;
    s->at += nbytes;
    return true;
}

static bool read_fixed_codes(struct inflater *s)
{
    uint8_t lengths[288];
    for (int i = 0; i < 288; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(&s->literals, lengths, 288);
    memset(lengths, 5, 32);
    make_code(&s->distances, lengths, 32);
    return true;
}

/* Reads the lengths of n codes by the code of code lengths. */
static bool read_lengths(struct inflater *s, uint8_t *lengths, int n, const struct code *code)
{
    enum { REPEAT = 16, ZEROS = 17 };
    for (int i = 0; i < n;) {
        int symbol = decode_symbol(s, code), run = 1, value = symbol;
        if (symbol < 0 || (symbol == REPEAT && i == 0))
            return false;
        if (symbol >= REPEAT) {
            value = symbol == REPEAT ? lengths[i - 1] : 0;
            run = symbol == REPEAT  ? 3 + (int)take(s, 2)
                  : symbol == ZEROS ? 3 + (int)take(s, 3)
                                    : 11 + (int)take(s, 7);
        }
        if (s->over || run > n - i)
            return false;
        memset(lengths + i, value, (size_t)run);
        i += run;
    }
    return true;
}

static bool read_dynamic_codes(struct inflater *s)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    int nliterals = 257 + (int)take(s, 5), ndistances = 1 + (int)take(s, 5);
    int nlengths = 4 + (int)take(s, 4);
    if (nliterals > LITERALS || ndistances > DISTANCES)
        return false;
    for (int i = 0; i < nlengths; i++)
        lengths[order[i]] = (uint8_t)take(s, 3);
    if (s->over || make_code(&s->lengths, lengths, 19) ||
        !read_lengths(s, lengths, nliterals + ndistances, &s->lengths) ||
        make_code(&s->literals, lengths, nliterals))
        return false;
    int unused = make_code(&s->distances, lengths + nliterals, ndistances);
    return unused == 0 || unused == 1 << BITS_MAX ||
           (unused == 1 << (BITS_MAX - 1) && s->distances.counts[1] == 1);
}

/* Copies a match whose length has this symbol, which is above END_OF_BLOCK. */
static bool copy_match(struct inflater *s, int symbol)
{
    static const uint16_t lengths[29] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                         15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                         67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint16_t distances[DISTANCES] = {
        1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
        193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    int i = symbol - END_OF_BLOCK - 1;
    if (i >= 29)
        return false;
    size_t nbytes = lengths[i] + take(s, i < 8 || i == 28 ? 0 : i / 4 - 1);
    int j = decode_symbol(s, &s->distances);
    if (j < 0 || j >= DISTANCES)
        return false;
    size_t distance = distances[j] + take(s, j < 4 ? 0 : j / 2 - 1);
    if (s->over || distance > s->nout || nbytes > s->room - s->nout)
        return false;
    for (uint8_t *to = s->out + s->nout, *end = to + nbytes; to < end; to++)
        *to = *(to - distance);
    s->nout += nbytes;
    return true;
}

static bool inflate_coded(struct inflater *s)
{
    for (;;) {
        int symbol = decode_symbol(s, &s->literals);
        if (symbol == END_OF_BLOCK)
            return true;
        if (symbol < 0 || (symbol < END_OF_BLOCK && s->nout == s->room) ||
            (symbol > END_OF_BLOCK && !copy_match(s, symbol)))
            return false;
        if (symbol < END_OF_BLOCK)
            s->out[s->nout++] = (uint8_t)symbol;
    }
}

static uint32_t adler32(const uint8_t *bytes, size_t nbytes)
{
    uint32_t low = 1, high = 0;
    while (nbytes) {
        size_t n = nbytes < ADLER_RUN ? nbytes : ADLER_RUN;
        for (size_t i = 0; i < n; i++) {
            low += bytes[i];
            high += low;
        }
        low %= GI_ADLER_BASE;
        high %= GI_ADLER_BASE;
        bytes += n;
        nbytes -= n;
    }
    return high << 16 | low;
}

/* Inflates the stream, which must give exactly the bytes for which there is room. */
static bool inflate_all(struct inflater *s)
{
    enum { STORED, FIXED, DYNAMIC };
    unsigned head = take(s, 8), flags = take(s, 8), last = 0;
    if (s->over || (head & 15) != 8 || head >> 4 > 7 || flags & 0x20 || (head << 8 | flags) % 31)
        return false;
    while (!last) {
        last = take(s, 1);
        unsigned kind = take(s, 2);
        bool good = !s->over && kind <= DYNAMIC;
        if (good && kind == STORED)
            good = inflate_stored(s);
        else if (good)
            good =
                (kind == FIXED ? read_fixed_codes(s) : read_dynamic_codes(s)) && inflate_coded(s);
        if (!good)
            return false;
    }
    const uint8_t *sum = s->at;
    return s->nout == s->room && s->end - s->at == 4 &&
           adler32(s->out, s->nout) ==
               ((uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3]);
}

/* ---- filters ---- */

static int paeth(int left, int up, int corner)
{
    int to_left = abs(up - corner), to_up = abs(left - corner),
        to_corner = abs(left + up - 2 * corner);
    return to_left <= to_up && to_left <= to_corner ? left : to_up <= to_corner ? up : corner;
}

/* Undoes the filter of a row of n bytes. `above` is NULL if the row is the first. */
static bool unfilter(uint8_t *row, const uint8_t *above, size_t n, size_t pixel, int filter)
{
    for (size_t i = 0; i < n; i++) {
        int left = i < pixel ? 0 : row[i - pixel], up = above ? above[i] : 0;
        int corner = above && i >= pixel ? above[i - pixel] : 0;
        row[i] = (uint8_t)(row[i] + (filter == GI_PNG_SUB       ? left
                                     : filter == GI_PNG_UP      ? up
                                     : filter == GI_PNG_AVERAGE ? (left + up) / 2
                                     : filter == GI_PNG_PAETH   ? paeth(left, up, corner)
                                                                : 0));
    }
    return filter <= GI_PNG_PAETH;
}

/* Writes a row in host order, or the colours of its indices. Returns false if an index has no
 * colour. */
static bool put_row(const struct gi_image *result, int y, const uint8_t *row,
                    const struct gi_png_frame *frame)
{
    size_t n = gi_row_samples(result);
    uint8_t *out = gi_row(result, y);
    if (frame->ncolors) {
        for (int x = 0; x < result->width; x++, out += result->channels) {
            if (row[x] >= frame->ncolors)
                return false;
            memcpy(out, frame->palette[row[x]], (size_t)result->channels);
        }
    } else if (frame->type == GI_U16) {
        uint16_t *samples = (uint16_t *)(void *)out;
        for (size_t i = 0; i < n; i++)
            samples[i] = (uint16_t)(row[2 * i] << 8 | row[2 * i + 1]);
    } else {
        memcpy(out, row, n);
    }
    return true;
}

static bool put_rows(const struct gi_image *result, uint8_t *raw, const struct gi_png_frame *frame)
{
    size_t pixel = (size_t)frame->channels * gi_type_nbytes(frame->type);
    size_t n = pixel * (size_t)frame->width;
    uint8_t *above = NULL;
    for (int y = 0; y < frame->height; y++, raw += n + 1) {
        if (!unfilter(raw + 1, above, n, pixel, raw[0]) || !put_row(result, y, raw + 1, frame))
            return false;
        above = raw + 1;
    }
    return true;
}

/* ---- the primitive ---- */

static bool fits(const struct gi_image *result, const struct gi_png_frame *frame)
{
    int channels = result->channels;
    return result->width == frame->width && result->height == frame->height &&
           result->type == frame->type &&
           (frame->ncolors ? channels == 3 || channels == 4 : channels == frame->channels);
}

/* Copies the data of a chunk. Returns whether its CRC is right. */
static bool copy_idat(uint8_t *to, const uint8_t *data, size_t n,
                      const struct gi_crc32_tables *tables)
{
    const uint8_t *sum = data + n;
    uint32_t remainder = 0;
    for (size_t i = 0; i < n; i++)
        remainder = gi_crc32_byte(tables, remainder, to[i] = data[i]);
    return gi_crc32_of_idat(remainder, (uint32_t)n) ==
           ((uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3]);
}

/* Copies the data of the chunks. Returns the stream, or NULL if memory ran out. *nbytes is 0 if a
 * CRC is wrong. */
static uint8_t *gather_stream(const struct gi_image *src, const struct gi_png_decode *spec,
                              size_t *nbytes)
{
    const uint8_t *bytes = src->data;
    uint8_t *stream = malloc((size_t)src->width);
    struct gi_crc32_tables tables;
    bool good = true;
    gi_crc32_fill(&tables, 0, 1);
    *nbytes = 0;
    for (uint32_t i = 0; i < spec->nidats && stream && good; i++) {
        const struct gi_png_idat *idat = &spec->idats[i];
        good = copy_idat(stream + *nbytes, bytes + idat->at, idat->nbytes, &tables);
        *nbytes += idat->nbytes;
    }
    *nbytes = good ? *nbytes : 0;
    return stream;
}

static enum gi_status sequential(struct gi_queue *queue, struct gi_image *result,
                                 const struct gi_image *src, const struct gi_png_decode *spec,
                                 struct gi_err *err)
{
    const struct gi_png_frame *frame = spec->frame;
    size_t row = 1 + (size_t)frame->width * (size_t)frame->channels * gi_type_nbytes(frame->type);
    if (!fits(result, frame) || row > RAW_NBYTES_MAX / (size_t)frame->height)
        return gi_fail(err, GI_E_UNSUPPORTED, "png_decode: this kind of PNG is not decoded");
    struct inflater *s = calloc(1, sizeof *s);
    uint8_t *raw = malloc(row * (size_t)frame->height);
    size_t nbytes = (size_t)src->width;
    uint8_t *gathered = spec->nidats ? gather_stream(src, spec, &nbytes) : NULL;
    enum gi_status status = GI_OK;
    if (!s || !raw || (spec->nidats && !gathered)) {
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a PNG decoder");
    } else {
        const uint8_t *stream = gathered ? gathered : src->data;
        *s = (struct inflater){
            .at = stream, .end = stream + nbytes, .out = raw, .room = row * (size_t)frame->height};
        if (!inflate_all(s) || !put_rows(result, raw, frame))
            status = gi_fail(err, GI_E_UNSUPPORTED, "png_decode: this stream is not decoded");
    }
    free(gathered);
    free(raw);
    free(s);
    return status;
}

GI_CPU_ONE_WAY(png_decode, "sequential", sequential);
