/* PNGs of random sizes, kinds and damage get the samples, the status and the messages of imgio from
 * png_decode, or are refused. `make test-pngs` makes 2,000 files and damages as many, `make test`
 * fewer. Prints the times of pictures that are hard to decode on a GPU.
 * Sources: codec imgio/png/png_coded
 * SPDX-License-Identifier: MIT */
#include "png_device.h"

#include <math.h>
#include <time.h>
#include <zlib.h>

enum { FILES = 80 /* of `make test` */ };

static uint64_t base; /* seed at the beginning of each test */

static int files_to_make(void)
{
    const char *text = getenv("GPUIMG_TEST_PNGS");
    return text ? atoi(text) : FILES;
}

/* Sizes from 1 x 1 to 1021 x 733, mostly small ones. */
static void draw_size(int *width, int *height, int turn, uint64_t *seed)
{
    static const int most[][2] = {{24, 24},   {70, 70},  {200, 200}, {16, 300},
                                  {3000, 16}, {120, 90}, {40, 40},   {512, 400}};
    *width = turn % 100 == 1 ? 1021 : case_between(seed, 1, most[turn % 8][0]);
    *height = turn % 100 == 1 ? 733 : case_between(seed, 1, most[turn % 8][1]);
}

/* Makes a random file, whose stream may be damaged, with right checksums of the chunks, and of two
 * in three streams. */
static struct bytes make(int turn, bool damaged, uint64_t *seed)
{
    struct gi_image image;
    int width, height;
    bool palette = case_between(seed, 0, 5) == 0;
    struct png_recipe recipe = png_random(palette, seed);
    enum gi_type type = !palette && case_between(seed, 0, 3) == 0 ? GI_U16 : GI_U8;
    draw_size(&width, &height, turn, seed);
    assert_int_equal(
        gi_image_alloc(&image, width, height, palette ? 1 : case_between(seed, 1, 4), type, NULL),
        GI_OK);
    png_draw(&image, case_between(seed, 0, PNG_PICTURES - 1),
             palette          ? (unsigned)recipe.ncolors
             : type == GI_U16 ? 65536
                              : 256,
             seed);
    struct bytes raw = png_filter_rows(&image, recipe.filter, seed);
    struct bytes stream = png_deflate(&raw, &recipe, gi_row_nbytes(&image) + 1);
    if (damaged)
        coded_damage(&stream, turn, seed);
    if (damaged && turn % 3)
        png_mend_sum(&stream, raw.n);
    struct bytes file = png_wrap(&image, &stream, &recipe);
    gi_image_free(&image);
    free(raw.at);
    free(stream.at);
    return file;
}

static void check_many(const char *what, bool damaged)
{
    struct coded_counts counts = {0};
    uint64_t seed = base + damaged;
    int n = files_to_make();
    for (int turn = 0; turn < n; turn++) {
        char name[64];
        if (case_is_left_out())
            continue;
        snprintf(name, sizeof name, "%s file %d", what, turn);
        struct bytes file = make(turn, damaged, &seed);
        coded_check(&file, name, 1, &counts);
        free(file.at);
    }
    print_message("%s: of %d files %d stay coded; the CPU decodes %d, CUDA %d\n", what,
                  counts.files, counts.coded, counts.decoded[0], counts.decoded[1]);
    assert_in_range(counts.coded, damaged ? counts.files / 2 : counts.files, counts.files);
    assert_in_range(counts.decoded[0], damaged ? 0 : counts.coded, counts.coded);
    if (coded_queue(true) && !damaged)
        assert_in_range(counts.decoded[1], counts.coded / 2, counts.coded);
}

TEST(made_files)
{
    check_many("made", false);
}

TEST(damaged_files)
{
    check_many("damaged", true);
}

/* ---- times ---- */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Prints the shortest time of three runs of imgio, and of png_decode on CUDA with upload and
 * download. A file that CUDA refuses takes both. */
static void time_file(const struct bytes *file, const char *name)
{
    struct gi_image image, coded;
    double libdeflate = INFINITY, cuda = INFINITY;
    enum gi_status made = GI_OK;
    assert_int_equal(coded_load(&coded, file, 1, true, NULL), GI_OK);
    for (int run = 0; run < 3; run++) {
        double start = now_ms();
        assert_int_equal(coded_load(&image, file, 1, false, NULL), GI_OK);
        libdeflate = fmin(libdeflate, now_ms() - start);
        gi_image_free(&image);
        start = now_ms();
        made = coded_decode_on(coded_queue(true), &image, &coded);
        cuda = fmin(cuda, now_ms() - start);
        if (!made)
            gi_image_free(&image);
    }
    print_message("%-40s %8zu bytes, libdeflate %7.2f ms, CUDA %7.2f ms, %s: %.2f times\n", name,
                  file->n, libdeflate, cuda, made ? "refused" : "decoded",
                  (made ? cuda + libdeflate : cuda) / libdeflate);
    gi_image_free(&coded);
}

/* If GPUIMG_TEST_PNGS is set and there is a CUDA device, prints times, and tests nothing. */
TEST(times_of_pictures)
{
    static const char *const pictures[PNG_PICTURES] = {
        "one value",     "noise",      "waves",   "runs",
        "repeated rows", "two values", "periods", "noise above flat areas"};
    static const struct {
        const char *name;
        int level, strategy;
    } ways[] = {{"stored", 0, Z_DEFAULT_STRATEGY},         {"level 1", 1, Z_DEFAULT_STRATEGY},
                {"level 6", 6, Z_DEFAULT_STRATEGY},        {"level 9", 9, Z_DEFAULT_STRATEGY},
                {"Huffman codes only", 6, Z_HUFFMAN_ONLY}, {"fixed codes", 6, Z_FIXED}};
    if (!getenv("GPUIMG_TEST_PNGS") || !coded_queue(true))
        skip();
    uint64_t seed = base;
    for (int picture = 0; picture < PNG_PICTURES; picture++) {
        struct gi_image image;
        assert_int_equal(gi_image_alloc(&image, 1920, 1080, 3, GI_U8, NULL), GI_OK);
        png_draw(&image, picture, 256, &seed);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            char name[64];
            const struct png_recipe recipe = {.filter = picture == 2 ? PNG_MIXED : 0,
                                              .level = ways[i].level,
                                              .strategy = ways[i].strategy,
                                              .window_bits = 15,
                                              .mem_level = 8,
                                              .part = 8192};
            struct bytes file = png_make(&image, &recipe, &seed);
            snprintf(name, sizeof name, "%s, %s", pictures[picture], ways[i].name);
            time_file(&file, name);
            free(file.at);
        }
        gi_image_free(&image);
    }
}

static int start(void **state)
{
    base = case_seed();
    return 0;
}

TEST_FRAME(.first = start)
