/* The PNG coder "runs" writes the bytes that its definition in plain loops writes, and zlib
 * inflates them to the data. Also tests the choice between runs and a search for matches. Sources:
 * imgio/png/png_runs imgio/png/runs_tokens imgio/png/runs_code SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include <zlib.h>

#include "imgio/png/png_filter.h"
#include "imgio/png/png_runs.h"
#include "imgio/png/runs_tokens.h"
#include "runs_definition.h"

enum content { ZEROS, NOISE, FEW, RAMP, SPARSE, RUNS, LONG_RUNS, STEEP, MIXED, CONTENTS };

/* Fills by content. The lengths of RUNS go around 3 and 258, and those of LONG_RUNS around a block.
 * STEEP has values whose counts are Fibonacci's numbers, so that their codes would be too long. */
static void fill(uint8_t *data, size_t n, enum content content, uint64_t *seed)
{
    for (size_t i = 0; i < n;) {
        uint32_t v = next_random(seed);
        size_t times = 1;
        uint8_t byte = (uint8_t)(v >> 8);
        if (content == ZEROS) {
            byte = 0;
        } else if (content == FEW) {
            byte = (uint8_t)(v % 5 ? v >> 8 & 3 : v >> 8 & 15);
        } else if (content == RAMP) {
            byte = (uint8_t)i;
        } else if (content == SPARSE) {
            byte = v % 50 ? 0 : byte;
        } else if (content == RUNS) {
            times = v % 3 ? 1 + v / 3 % 9 : 250 + v / 3 % 280;
        } else if (content == LONG_RUNS) {
            times = 1 + v % 3 * 65530 + v / 3 % 12;
        } else if (content == STEEP) {
            byte = 0;
            for (uint32_t left = v % 46368, a = 28657, b = 17711; left >= a && byte < 40; byte++) {
                left -= a;
                uint32_t c = a - b;
                a = b;
                b = c;
            }
        } else if (content == MIXED) {
            times = 1 + v % 7;
            byte = i / 30000 % 2 ? (uint8_t)(v >> 30) : byte;
        }
        for (; times && i < n; times--)
            data[i++] = byte;
    }
}

static void check_inflate(const uint8_t *stream, size_t nbytes, const uint8_t *data, size_t n,
                          bool last)
{
    uint8_t *got = malloc(n + 1);
    z_stream z = {.next_in = (uint8_t *)stream,
                  .avail_in = (uInt)nbytes,
                  .next_out = got,
                  .avail_out = (uInt)(n + 1)};
    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    assert_int_equal(inflate(&z, Z_SYNC_FLUSH), last ? Z_STREAM_END : Z_OK);
    assert_int_equal(z.total_out, n);
    assert_int_equal(z.avail_in, 0);
    assert_memory_equal(got, data, n);
    inflateEnd(&z);
    free(got);
}

static void check(struct gi_runs *runs, const uint8_t *data, size_t n, bool last)
{
    size_t want_nbytes;
    uint8_t *want = plain_runs(&want_nbytes, data, n, last);
    check_inflate(want, want_nbytes, data, n, last);
    assert_true(want_nbytes <= gi_runs_bound(n));
    for (int avx2 = 0; avx2 <= gi_png_has_avx2(); avx2++) {
        uint8_t *got = malloc(gi_runs_bound(n));
        runs->avx2 = avx2;
        size_t nbytes = gi_runs_code(runs, got, data, n, last);
        assert_int_equal(nbytes, want_nbytes);
        assert_memory_equal(got, want, nbytes);
        free(got);
    }
    free(want);
}

TEST(as_defined)
{
    static const size_t sizes[] = {1,   2,   5,   6,     7,     63,    64,     65,    66,
                                   127, 128, 300, 65535, 65536, 65537, 131072, 150001};
    struct gi_runs *runs = malloc(sizeof *runs);
    uint64_t seed = 2027;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int content = 0; content < CONTENTS; content++)
            for (int last = 0; last < 2; last++) {
                uint8_t *data = malloc(sizes[i]);
                fill(data, sizes[i], (enum content)content, &seed);
                check(runs, data, sizes[i], last);
                free(data);
            }
    free(runs);
}

/* Every length of a run up to three matches, at every place within a group of 64 bytes. */
TEST(every_run)
{
    enum { ROOM = 1024 };
    struct gi_runs *runs = malloc(sizeof *runs);
    for (size_t length = 1; length < 800; length += length < 30 ? 1 : 13)
        for (size_t at = 0; at < 70; at++) {
            uint8_t data[ROOM];
            int tokens[ROOM];
            size_t n = at + length + 3;
            for (size_t i = 0; i < n; i++)
                data[i] = i >= at && i < at + length ? 200 : (uint8_t)(3 * i);
            size_t want = plain_tokens(tokens, data, n);
            assert_int_equal(gi_runs_tokens(runs->tokens, data, n), want);
            for (size_t i = 0; i < want; i++)
                assert_int_equal(runs->tokens[i],
                                 tokens[i] < 1000 ? tokens[i] : 256 + tokens[i] - 1000 - 3);
        }
    free(runs);
}

/* The counts 1, 1, 2, 3, 5 ... make codes that are longer than the limit by any number of bits. */
TEST(longest_codes)
{
    for (uint32_t n = 2; n <= 24; n++) {
        uint16_t order[24], parents[48];
        uint32_t weights[48] = {1, 1}, counts[24], sum = 0, longest = 0;
        unsigned want[24];
        uint8_t lengths[24];
        for (uint32_t i = 0; i < n; i++) {
            order[i] = (uint16_t)i;
            counts[i] = weights[i] = i < 2 ? 1 : weights[i - 1] + weights[i - 2];
        }
        gi_runs_lengths(lengths, order, weights, parents, n, GI_RUNS_CODE_BITS);
        plain_lengths(want, counts, (int)n, GI_RUNS_CODE_BITS);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(lengths[i], want[i]);
            sum += 1u << (GI_RUNS_CODE_BITS - lengths[i]);
            longest = lengths[i] > longest ? lengths[i] : longest;
        }
        assert_int_equal(sum, 1u << GI_RUNS_CODE_BITS); /* the code is complete */
        assert_int_equal(longest, n - 1 < GI_RUNS_CODE_BITS ? n - 1 : GI_RUNS_CODE_BITS);
    }
}

/* Lines of text repeat, and noise and separate bytes among zeros do not. */
TEST(choice)
{
    enum { N = 300000 };
    static const char line[] = "Neither runs nor rare letters, but the same line time after time\n";
    struct gi_runs *runs = malloc(sizeof *runs);
    uint8_t *data = malloc(N);
    uint64_t seed = 9;
    for (size_t n = 1; n <= N; n = n < N && 7 * n > N ? N : 7 * n) {
        fill(data, n, NOISE, &seed);
        assert_true(gi_runs_suit(runs, data, n));
        fill(data, n, SPARSE, &seed);
        assert_true(gi_runs_suit(runs, data, n));
        for (size_t i = 0; i < n; i++)
            data[i] = (uint8_t)line[i % (sizeof line - 1)];
        assert_int_equal(gi_runs_suit(runs, data, n), n < 300);
    }
    free(data);
    free(runs);
}
