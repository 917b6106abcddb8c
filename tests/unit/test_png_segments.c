/* Streams of PNGs that a GPU divides at the headers of blocks: streams whose blocks are stored or
 * have fixed codes in between, and rows that themselves hold blocks, so that more headers are found
 * than the stream has.
 * Sources: codec
 * SPDX-License-Identifier: MIT */
#include "png_device.h"

#include <zlib.h>

enum { WIDTH = 40000, HEIGHT = 3 };

/* Compares the decoders with imgio for a file of the image, and returns whether CUDA decoded it, or
 * would have to, because there is no CUDA device. */
static bool is_decoded(const struct gi_image *image, const struct png_recipe *recipe,
                       const char *what)
{
    struct coded_counts counts = {0};
    uint64_t seed = 1;
    struct bytes file = png_make(image, recipe, &seed);
    coded_check(&file, what, 1, &counts);
    assert_int_equal(counts.decoded[0], 1);
    free(file.at);
    return !coded_queue(true) || counts.decoded[1] == 1;
}

static struct gi_image image_of(int width, int height)
{
    struct gi_image image;
    assert_int_equal(gi_image_alloc(&image, width, height, 1, GI_U8, NULL), GI_OK);
    return image;
}

TEST(kinds_of_blocks_change)
{
    uint64_t seed = case_seed();
    int ndecoded = 0;
    for (int kind = 0; kind < PNG_PICTURES; kind++)
        for (int flush = 0; flush < 2; flush++) {
            char what[64];
            struct gi_image image = image_of(1 + 700 * kind, 97);
            const struct png_recipe recipe = {.level = 6,
                                              .window_bits = 15,
                                              .mem_level = 1 + kind,
                                              .filter = PNG_MIXED,
                                              .changes = true,
                                              .flush = flush ? Z_FULL_FLUSH : Z_NO_FLUSH};
            png_draw(&image, kind, 256, &seed);
            snprintf(what, sizeof what, "picture %d, flush %d", kind, flush);
            ndecoded += is_decoded(&image, &recipe, what);
            gi_image_free(&image);
        }
    /* Many small blocks with fixed codes behind one another may take too long. */
    assert_in_range(ndecoded, PNG_PICTURES, 2 * PNG_PICTURES);
}

/* Fills the rows with streams of many blocks, each as long as a row. */
static void fill_with_streams(struct gi_image *image, int mem_level)
{
    uint64_t seed = 1;
    struct gi_image inner = image_of(997, 60);
    for (int y = 0; y < image->height; y++) {
        const struct png_recipe recipe = {
            .level = 1 + y, .window_bits = 15, .mem_level = mem_level};
        png_draw(&inner, 2 + y % 2 * 5, 256, &seed);
        struct bytes raw = png_filter_rows(&inner, 2, &seed);
        struct bytes stream = png_deflate(&raw, &recipe, raw.n);
        uint8_t *row = gi_row(image, y);
        for (size_t at = 0; at < (size_t)image->width; at += stream.n) {
            size_t left = (size_t)image->width - at;
            memcpy(row + at, stream.at, stream.n < left ? stream.n : left);
        }
        free(raw.at);
        free(stream.at);
    }
    gi_image_free(&inner);
}

TEST(rows_hold_streams)
{
    static const struct {
        const char *what;
        int level, strategy, mem_level;
    } cases[] = {
        {"stored", 0, Z_DEFAULT_STRATEGY, 8},
        {"stored, with blocks of 128 symbols", 0, Z_DEFAULT_STRATEGY, 1},
        {"fixed codes, which hardly synchronise", 6, Z_FIXED, 8},
        {"literals", 6, Z_HUFFMAN_ONLY, 8},
        {"matches", 9, Z_DEFAULT_STRATEGY, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct png_recipe recipe = {.level = cases[i].level,
                                          .strategy = cases[i].strategy,
                                          .window_bits = 15,
                                          .mem_level = 9};
        struct gi_image image = image_of(WIDTH, HEIGHT);
        fill_with_streams(&image, cases[i].mem_level);
        bool decoded = is_decoded(&image, &recipe, cases[i].what);
        if (!decoded && cases[i].level && cases[i].strategy != Z_FIXED)
            fail_msg("%s: not decoded on CUDA", cases[i].what);
        gi_image_free(&image);
    }
}

/* The shortest block with dynamic codes, again and again, at all places within a byte, so that
 * there is a header at most of the bits where one may be. */
TEST(rows_are_headers)
{
    for (int shift = 0; shift < 8; shift++) {
        struct gi_image image = image_of(WIDTH, HEIGHT), line = image_of(WIDTH, 1);
        const struct png_recipe recipe = {.level = 0, .window_bits = 15, .mem_level = 9};
        /* Literal 0, the end of the block and one distance have codes of one bit, the codes of code
         * lengths are 0 for length 1 and 1 for a run of zeros; the end of the block follows. */
        static const struct {
            unsigned value, nbits;
        } parts[] = {{0, 1}, {2, 2}, {0, 5},   {0, 5}, {14, 4},  {0, 6}, {1, 3}, {0, 42}, {1, 3},
                     {0, 1}, {1, 1}, {127, 7}, {1, 1}, {106, 7}, {0, 1}, {0, 1}, {1, 1}};
        size_t nbits = 0, part = 0;
        while (nbits + 64 < (size_t)WIDTH * 8) {
            for (unsigned k = 0; k < parts[part].nbits; k++, nbits++)
                if (k < 32 && parts[part].value >> k & 1)
                    ((uint8_t *)line.data)[nbits / 8] |= (uint8_t)(1u << nbits % 8);
            part = part + 1 == sizeof parts / sizeof *parts ? 0 : part + 1;
            nbits += part == 0 ? (unsigned)shift : 0;
        }
        for (int y = 0; y < HEIGHT; y++)
            memcpy(gi_row(&image, y), line.data, WIDTH);
        is_decoded(&image, &recipe, "headers");
        gi_image_free(&line);
        gi_image_free(&image);
    }
}
