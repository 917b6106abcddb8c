/* The primitive png_decode gives the samples of imgio for PNGs of all types, filters, kinds of
 * blocks and chunks, and refuses or equals imgio where the stream is damaged.
 * Sources: codec imgio/png/png_coded imgio/png/png_quick.c imgio/coded
 * SPDX-License-Identifier: MIT */
#include "png_device.h"

#include <zlib.h>

/* ---- the walk ---- */

struct decode_spec {
    struct gi_png_decode decode;
    struct gi_png_frame frame;
};

static struct gi_image picture(int width, int height, int channels, enum gi_type type,
                               const struct png_recipe *recipe, uint64_t *seed)
{
    struct gi_image image;
    assert_int_equal(gi_image_alloc(&image, width, height, channels, type, NULL), GI_OK);
    unsigned levels = recipe->ncolors ? (unsigned)recipe->ncolors : type == GI_U16 ? 65536 : 256;
    png_draw(&image, case_between(seed, 0, PNG_PICTURES - 1), levels, seed);
    return image;
}

/* Makes the source: the chunks, or in a third of the cases the stream alone. */
static void draw_source(struct walk_case *c, struct gi_png_decode *decode,
                        const struct gi_coded *coded)
{
    const struct gi_image scan = gi_coded_scan(coded);
    const size_t nbytes = coded->nidats * sizeof *coded->idats;
    struct bytes stream = png_stream(coded);
    if (walk_between(c, 0, 2)) {
        decode->idats = memcpy(walk_alloc(c, nbytes), coded->idats, nbytes);
        decode->nidats = coded->nidats;
        memcpy(walk_source(c, scan.width, 1, 1, GI_U8)->data, scan.data, (size_t)scan.width);
    } else {
        memcpy(walk_source(c, (int)stream.n, 1, 1, GI_U8)->data, stream.at, stream.n);
    }
    free(stream.at);
}

static void draw_decode(struct walk_case *c)
{
    struct decode_spec *spec = WALK_SPEC(c, struct decode_spec);
    bool palette = c->turn % 5 == 0;
    struct png_recipe recipe = png_random(palette, c->seed);
    enum gi_type type = !palette && walk_between(c, 0, 2) == 0 ? GI_U16 : GI_U8;
    struct gi_image image =
        picture(c->width, c->height, palette ? 1 : c->channels, type, &recipe, c->seed);
    struct bytes file = png_make(&image, &recipe, c->seed);
    struct gi_image coded, want;
    assert_int_equal(coded_load(&coded, &file, 1, true, NULL), GI_OK);
    assert_int_equal(coded_load(&want, &file, 1, false, NULL), GI_OK);
    assert_non_null(coded.coded);
    draw_source(c, &spec->decode, coded.coded);
    spec->frame = coded.coded->png;
    c->inner_at = offsetof(struct decode_spec, decode.frame);
    c->inner_to = offsetof(struct decode_spec, frame);
    struct gi_image *result = walk_result(c, want.width, want.height, want.channels, want.type);
    for (int y = 0; y < want.height; y++)
        memcpy(gi_row(result, y), gi_row(&want, y), gi_row_nbytes(&want));
    gi_image_free(&image);
    gi_image_free(&coded);
    gi_image_free(&want);
    free(file.at);
}

/* The result is defined by imgio when the case is drawn. */
static void define_nothing(struct walk_case *c)
{
}

static const int sizes[][2] = {{1, 1},    {1, 17},    {17, 1},    {2, 3},   {5, 4},
                               {7, 9},    {8, 8},     {15, 16},   {16, 9},  {31, 33},
                               {33, 65},  {40, 100},  {65, 17},   {67, 67}, {3, 200},
                               {5000, 3}, {257, 129}, {700, 410}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("png_decode", "all kinds", draw_decode, define_nothing, .sizes = sizes, .few = true,
             .may_refuse = "png_decode"),
    WALK_ROW("png_decode", "more of them", draw_decode, define_nothing, .sizes = sizes, .few = true,
             .may_refuse = "png_decode"),
};

/* ---- whole files ---- */

static void print_counts(const char *what, const struct coded_counts *counts)
{
    print_message("%s: of %d files %d stay coded; the CPU decodes %d, ", what, counts->files,
                  counts->coded, counts->decoded[0]);
    if (coded_queue(true))
        print_message("CUDA %d\n", counts->decoded[1]);
    else
        print_message("there is no CUDA device\n");
}

/* All types, levels, strategies, windows, sizes of tables, filters and pictures, in cycles whose
 * lengths have no common factor or are drawn, so that they meet in every combination of two. */
TEST(made_files)
{
    struct coded_counts counts = {0};
    uint64_t seed = case_seed();
    for (int turn = 0; turn < 700; turn++) {
        char name[64];
        struct gi_image image;
        bool palette = turn % 9 == 0;
        struct png_recipe recipe = png_random(palette, &seed);
        recipe.level = turn % 10;
        recipe.strategy = turn / 10 % 5;
        recipe.filter = turn % 7 < 6 ? turn % 7 : recipe.filter;
        int width = turn % 50 == 49 ? 5000 : 1 + turn % 71, height = case_between(&seed, 1, 200);
        enum gi_type type = !palette && turn % 4 == 1 ? GI_U16 : GI_U8;
        if (case_is_left_out())
            continue;
        snprintf(name, sizeof name, "file %d, %d x %d", turn, width, height);
        assert_int_equal(gi_image_alloc(&image, width, width == 5000 ? 1 + height % 4 : height,
                                        palette ? 1 : 1 + turn % 4, type, NULL),
                         GI_OK);
        png_draw(&image, turn / 3 % PNG_PICTURES,
                 palette          ? (unsigned)recipe.ncolors
                 : type == GI_U16 ? 65536
                                  : 256,
                 &seed);
        struct bytes file = png_make(&image, &recipe, &seed);
        coded_check(&file, name, 1, &counts);
        gi_image_free(&image);
        free(file.at);
    }
    print_counts("made", &counts);
    assert_int_equal(counts.coded, counts.files);
    assert_int_equal(counts.decoded[0], counts.coded);
    if (coded_queue(true))
        assert_in_range(counts.decoded[1], counts.coded / 2, counts.coded);
}

/* Draws bytes of very different frequencies, and copies of bytes before them, so that the code
 * lengths of a DEFLATE block hardly repeat: zlib needs about 1,060 bits for them. */
static void draw_frequencies(struct gi_image *image, uint64_t *seed)
{
    unsigned sums[256], sum = 0;
    uint8_t *bytes = image->data;
    size_t n = image->stride * (size_t)image->height;
    for (int v = 0; v < 256; v++)
        sums[v] = sum += (unsigned)case_between(seed, 1, 256) << case_between(seed, 0, 7);
    for (size_t i = 0; i < n;) {
        if (i && case_between(seed, 0, 15) == 0) {
            size_t back = (size_t)case_between(seed, 1, 1 << case_between(seed, 1, 14));
            size_t end = i + 3 + (size_t)case_between(seed, 0, 1 << case_between(seed, 0, 6));
            for (back = back < i ? back : i; i < n && i < end; i++)
                bytes[i] = bytes[i - back];
        } else {
            unsigned at = (unsigned)case_between(seed, 0, (int)sum - 1), v = 0;
            while (sums[v] <= at)
                v++;
            bytes[i++] = (uint8_t)v;
        }
    }
}

/* No backend refuses blocks whose header is long. */
TEST(long_headers)
{
    const struct png_recipe recipe = {.level = 9, .window_bits = 15, .mem_level = 8};
    struct coded_counts counts = {0};
    uint64_t seed = case_seed();
    for (int turn = 0; turn < 12; turn++) {
        struct gi_image image;
        if (case_is_left_out())
            continue;
        assert_int_equal(gi_image_alloc(&image, 320, 200, 1, GI_U8, NULL), GI_OK);
        draw_frequencies(&image, &seed);
        struct bytes file = png_make(&image, &recipe, &seed);
        coded_check(&file, "a long header", 1, &counts);
        gi_image_free(&image);
        free(file.at);
    }
    print_counts("long headers", &counts);
    assert_int_equal(counts.decoded[0], counts.files);
    if (coded_queue(true))
        assert_int_equal(counts.decoded[1], counts.files);
}

/* Changes every byte of the streams of small files in several ways, once with the right checksum of
 * the changed rows. */
TEST(damaged_streams)
{
    struct coded_counts counts = {0};
    uint64_t seed = case_seed();
    for (int turn = 0; turn < 12; turn++) {
        struct png_recipe recipe = png_random(turn % 4 == 0, &seed);
        recipe.level = turn % 3 ? 9 : 0;
        recipe.strategy = turn % 5 == 4 ? Z_FIXED : Z_DEFAULT_STRATEGY;
        recipe.part = 0;
        struct gi_image image = picture(6, 7, turn % 4 ? turn % 4 : 1,
                                        turn % 2 && turn % 4 ? GI_U16 : GI_U8, &recipe, &seed);
        struct bytes raw = png_filter_rows(&image, recipe.filter, &seed);
        struct bytes stream = png_deflate(&raw, &recipe, raw.n);
        for (size_t at = 0; at < stream.n; at++)
            for (int way = 0; way < 4; way++) {
                char name[64];
                struct bytes damaged = {malloc(stream.n), stream.n};
                if (case_is_left_out()) {
                    free(damaged.at);
                    continue;
                }
                memcpy(damaged.at, stream.at, stream.n);
                damaged.at[at] ^= (uint8_t)(1 << (way / 2 * 4 + case_between(&seed, 0, 3)));
                if (way % 2)
                    png_mend_sum(&damaged, raw.n);
                snprintf(name, sizeof name, "stream %d, byte %zu, way %d", turn, at, way);
                struct bytes file = png_wrap(&image, &damaged, &recipe);
                coded_check(&file, name, 1, &counts);
                free(damaged.at);
                free(file.at);
            }
        gi_image_free(&image);
        free(raw.at);
        free(stream.at);
    }
    print_counts("damaged", &counts);
    assert_int_equal(counts.coded, counts.files);
    assert_in_range(counts.decoded[0], 10, counts.coded / 2);
}

/* Changes every byte of a whole file, so that most checksums of chunks are wrong. Those of IDAT
 * chunks are checked by the primitive. */
TEST(damaged_files)
{
    struct coded_counts counts = {0};
    uint64_t seed = case_seed();
    for (int turn = 0; turn < 2; turn++) {
        struct png_recipe recipe = png_random(turn, &seed);
        recipe.part = 40;
        struct gi_image image = picture(9, 5, 1, GI_U8, &recipe, &seed);
        struct bytes file = png_make(&image, &recipe, &seed);
        for (size_t at = 0; at < file.n; at++) {
            char name[64];
            uint8_t was = file.at[at];
            snprintf(name, sizeof name, "file %d, byte %zu", turn, at);
            file.at[at] ^= (uint8_t)case_between(&seed, 1, 255);
            coded_check(&file, name, 1, &counts);
            file.at[at] = was;
        }
        gi_image_free(&image);
        free(file.at);
    }
    print_counts("changed", &counts);
    assert_in_range(counts.coded, counts.files / 4, counts.files);
    assert_in_range(counts.decoded[0], 0, counts.files / 10);
}

TEST(files_of_others)
{
    static const char *const folders[] = {"pngsuite", "kodak"};
    struct coded_counts counts = {0};
    for (int i = 0; i < 2; i++) {
        const char *folder = corpora(folders[i]);
        DIR *dir = folder ? opendir(folder) : NULL;
        if (!dir)
            skip();
        int left = i ? 3 : 1000;
        for (struct dirent *entry; left && (entry = readdir(dir));) {
            char path[2048];
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            if (!strstr(entry->d_name, ".png") || case_is_left_out())
                continue;
            struct bytes file = read_file(path);
            coded_check(&file, path, 1, &counts);
            free(file.at);
            left--;
        }
        closedir(dir);
    }
    print_counts("corpora", &counts);
    assert_int_equal(counts.decoded[0], counts.coded);
    assert_in_range(counts.coded, 1, counts.files - 1);
}

WALK_ROWS(rows)
