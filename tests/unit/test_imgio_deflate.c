/* Joins DEFLATE streams so that zlib inflates the result to the joined data.
 * Sources: imgio/png/deflate_join*
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include <libdeflate.h>
#include <zlib.h>

#include "imgio/png/deflate_join.h"

enum kind { ZEROS, NOISE, TEXT, RAMP, SPARSE, KINDS };

static void fill(unsigned char *data, size_t n, enum kind kind, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t v = next_random(seed);
        data[i] = kind == ZEROS   ? 0
                  : kind == NOISE ? (unsigned char)v
                  : kind == TEXT  ? (unsigned char)("etaoin shrdlu"[v % 13])
                  : kind == RAMP  ? (unsigned char)(i / 7 + v % 3)
                  : v % 50        ? 0
                                  : (unsigned char)(v >> 8);
    }
}

/* Deflates `n` bytes so that more can follow, and appends the result to `out`. */
static void append(struct bytes *out, const unsigned char *data, size_t n, int level)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    size_t room = libdeflate_deflate_compress_bound(compressor, n);
    out->at = realloc(out->at, out->n + room + GI_DEFLATE_JOIN_NBYTES);
    size_t packed = libdeflate_deflate_compress(compressor, data, n, out->at + out->n, room);
    assert_int_not_equal(packed, 0);
    size_t opened = gi_deflate_open(out->at + out->n, packed);
    assert_in_range(opened, packed + 4, packed + GI_DEFLATE_JOIN_NBYTES);
    out->n += opened;
    libdeflate_free_compressor(compressor);
}

static void check_inflate(struct bytes packed, const unsigned char *data, size_t n)
{
    static unsigned char last[] = {0x03, 0x00}; /* an empty final block of fixed codes */
    packed.at = realloc(packed.at, packed.n + sizeof last);
    memcpy(packed.at + packed.n, last, sizeof last);
    unsigned char *got = malloc(n + 1);
    z_stream z = {.next_in = packed.at,
                  .avail_in = (uInt)(packed.n + sizeof last),
                  .next_out = got,
                  .avail_out = (uInt)(n + 1)};
    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, n);
    assert_int_equal(z.avail_in, 0);
    assert_memory_equal(got, data, n);
    inflateEnd(&z);
    free(got);
    free(packed.at);
}

TEST(joined)
{
    static const size_t sizes[] = {1, 2, 5, 100, 3000, 70000, 400000};
    uint64_t seed = 41;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int level = 0; level <= 12; level += level < 9 ? 1 : 3)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            unsigned char *data = malloc(sizes[s] * KINDS);
            struct bytes packed = {NULL, 0};
            for (int kind = 0; kind < KINDS; kind++) {
                fill(data + (size_t)kind * sizes[s], sizes[s], (enum kind)kind, &seed);
                append(&packed, data + (size_t)kind * sizes[s], sizes[s], level);
            }
            check_inflate(packed, data, sizes[s] * KINDS);
            free(data);
        }
}

/* Incomplete streams are refused, and no byte outside the buffers is touched (which the sanitizers
 * check). */
TEST(refused)
{
    unsigned char data[5000];
    uint64_t seed = 43;
    fill(data, sizeof data, TEXT, &seed);
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
    unsigned char packed[6000];
    size_t n = libdeflate_deflate_compress(compressor, data, sizeof data, packed, sizeof packed);
    for (size_t cut = 1; cut < n; cut += 7) {
        unsigned char *copy = malloc(cut + GI_DEFLATE_JOIN_NBYTES);
        memcpy(copy, packed, cut);
        assert_int_equal(gi_deflate_open(copy, cut), 0);
        free(copy);
    }
    libdeflate_free_compressor(compressor);
}

/* Blocks that RFC 1951 does not define are refused, and so are stored blocks that end early or
 * continue past the end. */
TEST(wrong_blocks)
{
    static const struct {
        unsigned char bytes[8];
        /* length of the stream, and number of decompressed bytes or 0 if the stream is refused */
        size_t n, want;
    } cases[] = {
        {{0x01, 1, 0, 0xfe, 0xff, 'a'}, 6, 11}, /* one stored byte in the last block */
        {{0x07}, 1, 0},                         /* a block of the reserved type */
        {{0x06}, 1, 0},
        {{0x01}, 1, 0},
        {{0x01, 1, 0}, 3, 0},
        {{0x01, 1, 0, 0xfe, 0xff}, 5, 0},
        {{0x01, 1, 0, 0xfe, 0xff, 'a', 'b'}, 7, 0},
        {{0x00, 1, 0, 0xfe, 0xff, 'a'}, 6, 0}, /* no last block */
        {{0x03, 0x00}, 2, 6},                  /* an empty block of fixed codes */
        {{0x03, 0x00, 0x00}, 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char *copy = malloc(cases[i].n + GI_DEFLATE_JOIN_NBYTES);
        memcpy(copy, cases[i].bytes, cases[i].n);
        size_t got = gi_deflate_open(copy, cases[i].n);
        if (got != cases[i].want)
            fail_msg("case %zu: %zu bytes, want %zu", i, got, cases[i].want);
        free(copy);
    }
}
