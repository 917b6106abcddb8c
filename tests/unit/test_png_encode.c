/* Every way of encoding the strips of a PNG gives the filtered rows and the streams of the
 * definition, for all channels and sizes, with strips of any number of rows and several blocks.
 * Sources: codec kernels/png_encode imgio/coded imgio/png/runs_code
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <zlib.h>

#include "imgio/png/png_runs.h"
#include "kernels/codec.h"
#include "kernels/png_encode.h"
#include "primitives.h"
#include "runs_definition.h"

enum { CONTENTS = 7 };

static int sample_of(int content, int x, int y, int c, uint32_t random, uint32_t base)
{
    switch (content) {
    case 0: /* noise */
        return (int)(random >> 8);
    case 1: /* smooth */
        return (int)(30 * sin(0.05 * x + 0.1 * c) + 60 * sin(0.03 * y)) + 128 +
               (int)(random >> 12) % 4;
    case 2: /* flat areas */
        return (x / 40 + y / 9 + c) % 3 * 100;
    case 3: /* few values */
        return random >> 12 & 3 ? 17 : 200;
    case 4: /* repeats, so that runs don't suit */
        return (int)((unsigned)(x % 23 * 7919 + (c + 1) * 104729) >> 3) & 255;
    case 5: /* noise above, flat below */
        return y % 64 < 30 ? (int)(random >> 8) : 9;
    default:
        return (int)base;
    }
}

static void fill(struct gi_image *image, int content, uint64_t *seed)
{
    uint32_t base = case_random(seed);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                size_t i = (size_t)(x * image->channels + c);
                int v = sample_of(content, x, y, c, case_random(seed), base);
                if (image->type == GI_U8)
                    ((uint8_t *)gi_row(image, y))[i] = (uint8_t)v;
                else
                    ((uint16_t *)gi_row(image, y))[i] = (uint16_t)(content % 2 ? v : 77 * v);
            }
}

static void draw(struct walk_case *c)
{
    struct gi_png_encode *spec = WALK_SPEC(c, struct gi_png_encode);
    spec->strip_rows = walk_between(c, 0, 1) ? walk_between(c, 1, c->height) : c->height;
    walk_source_here(c);
    fill(&c->srcs[0].image, walk_between(c, 0, CONTENTS - 1), c->seed);
}

/* The predictor Paeth (PNG 1.2, 6.6). */
static int paeth(int left, int up, int corner)
{
    int guess = left + up - corner;
    int a = abs(guess - left), b = abs(guess - up), c = abs(guess - corner);
    return a <= b && a <= c ? left : b <= c ? up : corner;
}

/* Appends a row, filtered by the filter with the minimum sum of absolute values. */
static void filter(uint8_t *out, const uint8_t *row, const uint8_t *above, size_t n, size_t bpp)
{
    long least = LONG_MAX;
    uint8_t *by = malloc(n);
    for (int kind = 4; kind >= 0; kind--) {
        long sum = 0;
        for (size_t i = 0; i < n; i++) {
            int left = i < bpp ? 0 : row[i - bpp], corner = i < bpp ? 0 : above[i - bpp];
            int guesses[] = {0, left, above[i], (left + above[i]) / 2,
                             paeth(left, above[i], corner)};
            by[i] = (uint8_t)(row[i] - guesses[kind]);
            sum += abs((int8_t)by[i]);
        }
        if (sum >= least)
            continue;
        least = sum;
        out[0] = (uint8_t)kind;
        memcpy(out + 1, by, n);
    }
    free(by);
}

/* Returns all filtered rows. */
static uint8_t *filter_image(const struct gi_image *image)
{
    size_t n = gi_row_nbytes(image), bpp = n / (size_t)image->width;
    uint8_t *out = malloc((size_t)image->height * (n + 1)), *rows[2] = {calloc(1, n), malloc(n)};
    for (int y = 0; y < image->height; y++) {
        memcpy(rows[1], gi_row(image, y), n);
        for (size_t i = 0; i < n && image->type == GI_U16; i += 2) {
            uint8_t low = rows[1][i];
            rows[1][i] = rows[1][i + 1];
            rows[1][i + 1] = low;
        }
        filter(out + (size_t)y * (n + 1), rows[1], rows[0], n, bpp);
        memcpy(rows[0], rows[1], n);
    }
    free(rows[0]);
    free(rows[1]);
    return out;
}

/* The strips, as one list: each followed by its bytes. */
struct wanted {
    uint32_t adler;
    bool deflated;
    size_t nbytes;
    uint8_t *bytes;
};

static void define(struct walk_case *c)
{
    const struct gi_png_encode *spec = c->spec;
    const struct gi_image *image = &c->srcs[0].image;
    size_t row = 1 + gi_row_nbytes(image);
    int n = 1 + (image->height - 1) / spec->strip_rows;
    struct gi_png_strips none = {0};
    uint8_t *rows = filter_image(image);
    struct gi_runs *runs = calloc(1, sizeof *runs);
    struct wanted *want = walk_alloc(c, (size_t)n * sizeof *want);
    for (int i = 0; i < n; i++) {
        int y = i * spec->strip_rows, end = i == n - 1 ? image->height : y + spec->strip_rows;
        const uint8_t *raw = rows + (size_t)y * row;
        size_t nraw = (size_t)(end - y) * row;
        want[i].adler = (uint32_t)adler32(1, raw, (uInt)nraw);
        want[i].deflated = gi_runs_suit(runs, raw, nraw);
        want[i].nbytes = nraw;
        uint8_t *bytes = want[i].deflated ? plain_runs(&want[i].nbytes, raw, nraw, i == n - 1)
                                          : memcpy(malloc(nraw), raw, nraw);
        want[i].bytes = walk_alloc(c, want[i].nbytes);
        memcpy(want[i].bytes, bytes, want[i].nbytes);
        free(bytes);
    }
    free(rows);
    free(runs);
    walk_data(c, &none, sizeof none);
    c->data = want;
}

static bool equal(struct gi_queue *queue, const struct walk_case *c, void *result)
{
    struct gi_png_strips *strips = result;
    const struct gi_png_encode *spec = c->spec;
    const struct wanted *want = c->data;
    int n = 1 + (c->height - 1) / spec->strip_rows;
    bool equal = strips->nstrips == n;
    for (int i = 0; i < n && equal; i++) {
        const struct gi_png_strip *strip = &strips->strips[i];
        equal = strip->adler == want[i].adler && strip->deflated == want[i].deflated &&
                strip->nbytes == want[i].nbytes && strip->at + strip->nbytes <= strips->nbytes &&
                memcmp(strips->bytes + strip->at, want[i].bytes, strip->nbytes) == 0;
    }
    gi_png_strips_free(strips);
    return equal;
}

/* The tokens of all groups of a block are those of the whole block, one by one and at
 * once. */
TEST(cursor)
{
    static const uint32_t sizes[] = {1, 63, 64, 65, 200, 1000, GI_RUNS_BLOCK - 1, GI_RUNS_BLOCK};
    uint8_t *bytes = malloc(GI_RUNS_BLOCK);
    int *want = malloc(GI_RUNS_BLOCK * sizeof *want);
    uint64_t seed = CASE_SEED;
    int many = 0; /* number of groups whose tokens were found at once */
    for (int turn = 0; turn < 200; turn++) {
        uint32_t n = sizes[turn % 8], longest = turn % 5 == 4 ? 2000u : turn % 5 * 130u + 1;
        uint64_t equal[GI_PNG_GROUPS] = {0};
        for (uint32_t i = 0; i < n;) {
            uint32_t times = 1 + (case_random(&seed) >> 8) % longest;
            uint8_t byte = (uint8_t)(case_random(&seed) >> 8);
            for (; times && i < n; times--)
                bytes[i++] = byte;
        }
        for (uint32_t i = 1; i < n; i++)
            equal[i / 64] |= (uint64_t)(bytes[i] == bytes[i - 1]) << i % 64;
        size_t nwant = plain_tokens(want, bytes, n), got = 0;
        for (uint32_t group = 0; group < (n + 63) / 64; group++) {
            struct gi_png_cursor c = gi_png_cursor_at(equal, group, n);
            struct gi_png_tokens tokens, seen = {0, 0};
            bool at_once = gi_png_tokens_of(&tokens, equal, group, n);
            for (uint32_t where, length; gi_png_next(&c, &where, &length); got++) {
                assert_true(got < nwant);
                assert_int_equal(length ? 1000 + (int)length : bytes[where], want[got]);
                seen.all |= (uint64_t)1 << where % 64;
                seen.runs |= (uint64_t)(length > 0) << where % 64;
                if (at_once && length)
                    assert_int_equal(gi_png_run_at(equal, group, n, where % 64), length);
            }
            many += at_once;
            if (at_once)
                assert_true(seen.all == tokens.all && seen.runs == tokens.runs);
        }
        assert_int_equal(got, nwant);
    }
    assert_true(many > 1000);
    free(bytes);
    free(want);
}

static const int sizes[][2] = {{1, 1},     {8, 8},    {17, 9},    {1, 300},   {300, 1},
                               {257, 129}, {511, 16}, {333, 222}, {640, 300}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("png_encode", "all contents", draw, define, .sizes = sizes, .few = true,
             .equal = equal),
};

WALK_ROWS(rows)
