/* Streams of PNGs that are written bit by bit: png_decode takes those that RFC 1950 and RFC 1951
 * allow and that give exactly the rows, and refuses all others.
 * Sources: codec imgio/png/png_coded.c
 * SPDX-License-Identifier: MIT */
#include "png_device.h"

#include <zlib.h>

#include "imgio/integer.h"

enum { WIDTH = 8, RAW = WIDTH + 1, END = 256, LENGTH_7 = 261, CODES = 320, NONE = -1 };

/* A stream that is being written, from the lowest bit of each byte on. */
struct bits {
    uint8_t bytes[1024];
    int n;
};

static void put(struct bits *b, unsigned value, int n)
{
    for (int i = 0; i < n; i++, b->n++)
        b->bytes[b->n / 8] |= (uint8_t)((value >> i & 1) << b->n % 8);
}

/* Puts a Huffman code, from its highest bit on. */
static void put_code(struct bits *b, unsigned code, int n)
{
    while (n--)
        put(b, code >> n & 1, 1);
}

static void align(struct bits *b)
{
    b->n = (b->n + 7) / 8 * 8;
}

static void put_literal(struct bits *b, int symbol)
{
    unsigned s = (unsigned)symbol;
    if (s < 144)
        put_code(b, 0x30 + s, 8);
    else if (s < 256)
        put_code(b, 0x190 + s - 144, 9);
    else if (s < 280)
        put_code(b, s - 256, 7);
    else
        put_code(b, 0xc0 + s - 280, 8);
}

/* Puts the head of a block that is the last one. */
static void put_block(struct bits *b, unsigned kind)
{
    put(b, 1 | kind << 1, 3);
}

/* Puts a stored block. */
static void put_stored(struct bits *b, const uint8_t *bytes, unsigned n, bool last,
                       unsigned inverse)
{
    put(b, last, 3);
    align(b);
    put(b, n, 16);
    put(b, inverse, 16);
    for (unsigned i = 0; i < n; i++)
        put(b, bytes[i], 8);
}

/* Puts the head of a dynamic block, whose code lengths are coded by 4 bits each. */
static void put_dynamic(struct bits *b, const uint8_t *literals, int nliterals,
                        const uint8_t *distances, int ndistances)
{
    put_block(b, 2);
    put(b, (unsigned)nliterals - 257, 5);
    put(b, (unsigned)ndistances - 1, 5);
    put(b, 19 - 4, 4);
    for (int i = 0; i < 19; i++) /* the first three are 16, 17 and 18 */
        put(b, i < 3 ? 0 : 4, 3);
    for (int i = 0; i < nliterals; i++)
        put_code(b, literals[i], 4);
    for (int i = 0; i < ndistances; i++)
        put_code(b, distances[i], 4);
}

/* Tests a file of one gray row, or of indices, with the stream. Both backends must refuse it unless
 * it is taken; CUDA may refuse it anyway. */
static void check(const struct bits *b, const char *what, bool taken, int ncolors)
{
    struct coded_counts counts = {0};
    struct gi_image shape = {.width = WIDTH, .height = 1, .channels = 1, .type = GI_U8};
    const struct png_recipe recipe = {.ncolors = ncolors};
    struct bytes stream = {(uint8_t *)(uintptr_t)b->bytes, (size_t)(b->n + 7) / 8};
    struct bytes file = png_wrap(&shape, &stream, &recipe);
    coded_check(&file, what, 1, &counts);
    if (counts.coded != 1 || counts.decoded[0] != taken || counts.decoded[1] > taken)
        fail_msg("%s: %d coded, %d decoded on the CPU, %d on CUDA, want 1 and %d", what,
                 counts.coded, counts.decoded[0], counts.decoded[1], taken);
    free(file.at);
}

static void begin(struct bits *b, unsigned head)
{
    memset(b, 0, sizeof *b);
    put(b, head >> 8, 8);
    put(b, head & 255, 8);
}

static void end(struct bits *b, const uint8_t *raw, unsigned n)
{
    uint8_t sum[4];
    align(b);
    gi_put_big32(sum, (uint32_t)adler32(1, raw, n));
    for (int i = 0; i < 4; i++)
        put(b, sum[i], 8);
}

static const uint8_t plain[RAW + 8] = {0, 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 0};

TEST(heads_and_ends)
{
    static const struct {
        const char *what;
        unsigned head, nbytes, surplus, wrong; /* surplus: bytes behind the stream */
        bool taken;
    } cases[] = {
        {"a window of 32 KiB", 0x7801, RAW, 0, 0, true},
        {"a window of 256 bytes", 0x081d, RAW, 0, 0, true},
        {"another method", 0x7700 + 31 - 0x7700 % 31, RAW, 0, 0, false},
        {"a window of 64 KiB", 0x8800 + 31 - 0x8800 % 31, RAW, 0, 0, false},
        {"a dictionary", 0x7820 + 31 - 0x7820 % 31, RAW, 0, 0, false},
        {"a wrong head", 0x7802, RAW, 0, 0, false},
        {"a wrong sum", 0x7801, RAW, 0, 1, false},
        {"too few bytes", 0x7801, RAW - 1, 0, 0, false},
        {"too many bytes", 0x7801, RAW + 1, 0, 0, false},
        {"a byte behind the stream", 0x7801, RAW, 1, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bits b;
        unsigned n = cases[i].nbytes;
        begin(&b, cases[i].head);
        put_stored(&b, plain, n, true, ~n);
        end(&b, plain, n);
        b.bytes[b.n / 8 - 1] ^= (uint8_t)cases[i].wrong;
        b.n += 8 * (int)cases[i].surplus;
        check(&b, cases[i].what, cases[i].taken, 0);
    }
}

/* Bytes behind the stream, or behind the rows, are a loss that imgio warns of. */
TEST(surplus_is_warned_of)
{
    for (unsigned surplus = 0; surplus < 3; surplus++) {
        struct bits b;
        const unsigned n = surplus == 2 ? RAW + 1 : RAW;
        struct gi_image image, shape = {.width = WIDTH, .height = 1, .channels = 1, .type = GI_U8};
        struct gi_err warning = {0};
        begin(&b, 0x7801);
        put_stored(&b, plain, n, true, ~n);
        end(&b, plain, n);
        b.n += surplus == 1 ? 8 : 0;
        struct bytes stream = {b.bytes, (size_t)b.n / 8};
        struct bytes file = png_wrap(&shape, &stream, &(struct png_recipe){0});
        assert_int_equal(coded_load(&image, &file, 1, false, &warning), GI_OK);
        assert_int_equal(strstr(warning.text, "more image data") != NULL, surplus > 0);
        gi_image_free(&image);
        free(file.at);
    }
}

TEST(stored_blocks)
{
    struct bits b;
    begin(&b, 0x7801);
    put_stored(&b, plain, 4, false, ~4u);
    put_stored(&b, plain, 0, false, ~0u);
    put_stored(&b, plain + 4, RAW - 4, true, ~(unsigned)(RAW - 4));
    end(&b, plain, RAW);
    check(&b, "three stored blocks", true, 0);
    for (int cut = b.n / 8 - 1; cut > 2; cut--) {
        struct bits shorter = b;
        shorter.n = 8 * cut;
        check(&shorter, "a stream that is cut", false, 0);
    }
    begin(&b, 0x7801);
    put_stored(&b, plain, RAW, true, ~(unsigned)RAW ^ 0x100);
    end(&b, plain, RAW);
    check(&b, "a wrong inverse", false, 0);
    begin(&b, 0x7801);
    put_block(&b, 3);
    put_stored(&b, plain, RAW, true, ~(unsigned)RAW);
    end(&b, plain, RAW);
    check(&b, "the fourth kind of block", false, 0);
}

TEST(fixed_blocks)
{
    static const struct {
        const char *what;
        int symbols[3], distance; /* the last symbol is a match */
        bool taken;
    } cases[] = {
        {"a match", {0, 'a', LENGTH_7}, 0, true},
        {"a match of one byte more", {0, 'a', LENGTH_7 + 1}, 0, false},
        {"a match before the start", {0, 'a', LENGTH_7}, 2, false},
        {"the distance 30", {0, 'a', LENGTH_7}, 30, false},
        {"the distance 31", {0, 'a', LENGTH_7}, 31, false},
        {"the length 286", {0, 'a', 286}, 0, false},
        {"the length 287", {0, 'a', 287}, 0, false},
        {"the filter 5", {5, 'a', LENGTH_7}, 0, false},
        {"the filter 4", {4, 0, LENGTH_7}, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bits b;
        uint8_t raw[RAW] = {(uint8_t)cases[i].symbols[0]};
        memset(raw + 1, cases[i].symbols[1], WIDTH);
        begin(&b, 0x7801);
        put_block(&b, 1);
        for (int j = 0; j < 3; j++)
            put_literal(&b, cases[i].symbols[j]);
        put_code(&b, (unsigned)cases[i].distance, 5);
        put_literal(&b, END);
        end(&b, raw, RAW);
        check(&b, cases[i].what, cases[i].taken, 0);
    }
}

/* An index without colour is refused; libpng makes it black. */
TEST(indices)
{
    for (int ncolors = 'a' - 1; ncolors <= 'a' + 2; ncolors++) {
        struct bits b;
        begin(&b, 0x7801);
        put_stored(&b, plain, RAW, true, ~(unsigned)RAW);
        end(&b, plain, RAW);
        check(&b, "indices", ncolors > 'a', ncolors);
    }
}

/* ---- dynamic blocks ---- */

/* A block with the literals 0 and 'a', END and LENGTH_7, whose codes have 2 bits in that order. */
static const struct {
    const char *what;
    int nliterals, ndistances;
    int more, shorter;    /* a symbol that gets a code of 2 bits too, or of 1 bit; or NONE */
    uint8_t distances[4]; /* lengths of the first codes */
    bool matches;         /* there is a match */
    unsigned distance;    /* its code, of 1 bit */
    bool taken;
} dynamics[] = {
    {"one distance", 262, 1, NONE, NONE, {1}, true, 0, true},
    {"two distances", 262, 2, NONE, NONE, {1, 1}, true, 0, true},
    {"a distance without code", 262, 1, NONE, NONE, {1}, true, 1, false},
    {"no distance", 262, 1, NONE, NONE, {0}, false, 0, true},
    {"a match without distances", 262, 1, NONE, NONE, {0}, true, 0, false},
    {"286 literals and 30 distances", 286, 30, NONE, NONE, {1}, true, 0, true},
    {"287 literals", 287, 1, NONE, NONE, {1}, true, 0, false},
    {"31 distances", 262, 31, NONE, NONE, {1}, true, 0, false},
    {"a distance of 2 bits", 262, 1, NONE, NONE, {2}, false, 0, false},
    {"two distances of 2 bits", 262, 2, NONE, NONE, {2, 2}, false, 0, false},
    {"too many distances", 262, 3, NONE, NONE, {1, 1, 1}, true, 0, false},
    {"too many literals", 262, 1, 'b', NONE, {1}, true, 0, false},
    {"more literals by a shorter code", 262, 1, NONE, 'b', {1}, true, 0, false},
    {"too few literals", 261, 1, NONE, NONE, {0}, false, 0, false},
};

TEST(dynamic_blocks)
{
    for (size_t i = 0; i < sizeof dynamics / sizeof *dynamics; i++) {
        struct bits b;
        uint8_t literals[CODES] = {0}, distances[CODES] = {0};
        literals[0] = literals['a'] = literals[END] = literals[LENGTH_7] = 2;
        if (dynamics[i].more != NONE)
            literals[dynamics[i].more] = 2;
        if (dynamics[i].shorter != NONE)
            literals[dynamics[i].shorter] = 1;
        memcpy(distances, dynamics[i].distances, 4);
        begin(&b, 0x7801);
        put_dynamic(&b, literals, dynamics[i].nliterals, distances, dynamics[i].ndistances);
        put_code(&b, 0, 2);
        for (int j = 0; j < (dynamics[i].matches ? 1 : WIDTH); j++)
            put_code(&b, 1, 2);
        if (dynamics[i].matches) {
            put_code(&b, 3, 2);
            put_code(&b, dynamics[i].distance, 1);
        }
        put_code(&b, 2, 2);
        end(&b, plain, RAW);
        check(&b, dynamics[i].what, dynamics[i].taken, 0);
    }
}

/* Code lengths of repetitions only, whose codes are given by `first` and `second`: lengths of the
 * codes of 16 (repeat) and 18 (zeros). */
TEST(codes_of_lengths)
{
    static const struct {
        const char *what;
        unsigned first, second, others; /* others: length of the code of 17 */
        unsigned symbol;
    } cases[] = {
        {"a repetition at the start", 1, 1, 0, 0},
        {"too many lengths", 1, 1, 0, 1},
        {"one code of 1 bit", 0, 1, 0, 0},
        {"codes that are not complete", 2, 2, 0, 0},
        {"too many codes", 1, 1, 1, 0},
        {"no codes", 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bits b;
        begin(&b, 0x7801);
        put_block(&b, 2);
        put(&b, 0, 5);
        put(&b, 0, 5);
        put(&b, 0, 4); /* 4 lengths: those of 16, 17, 18 and 0 */
        put(&b, cases[i].first, 3);
        put(&b, cases[i].others, 3);
        put(&b, cases[i].second, 3);
        put(&b, 0, 3);
        for (int j = 0; j < 8; j++) {
            put_code(&b, cases[i].symbol, 1);
            put(&b, 0x7f, cases[i].symbol ? 7 : 2);
        }
        end(&b, plain, RAW);
        check(&b, cases[i].what, false, 0);
    }
}
