/* imgio leaves those PNGs coded that png_decode takes, with the shape, the properties, the metadata
 * and the limits that they have when they are decoded, and decodes all others.
 * Sources: imgio/png/png_coded.c imgio/png/png.c imgio/coded.c
 * SPDX-License-Identifier: MIT */
#include "png_device.h"

#include <zlib.h>

#include "imgio/integer.h"
#include "imgio/metadata/exif.h"
#include "imgio/png/png_quick.h"

enum { HEADER = 8 + 12 + 13 /* signature and IHDR, behind which chunks are inserted */ };

static const struct png_recipe usual = {.filter = 1, .level = 6, .window_bits = 15, .mem_level = 8};

/* The orientation 6. */
static const unsigned char exif[] = "MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0";

static struct gi_image picture(int width, int height, int channels, enum gi_type type)
{
    struct gi_image image;
    uint64_t seed = CASE_SEED;
    assert_int_equal(gi_image_alloc(&image, width, height, channels, type, NULL), GI_OK);
    png_draw(&image, 2, 200, &seed);
    return image;
}

static struct bytes make(int width, int height, int channels, const struct png_recipe *recipe)
{
    uint64_t seed = CASE_SEED;
    struct gi_image image = picture(width, height, channels, GI_U8);
    struct bytes file = png_make(&image, recipe, &seed);
    gi_image_free(&image);
    return file;
}

/* Inserts a chunk at an offset. Returns the offset behind it. */
static size_t insert(struct bytes *file, size_t at, const char *type, const void *data, size_t n)
{
    struct bytes chunk = {NULL, 0};
    png_append(&chunk, type, data, n);
    file->at = realloc(file->at, file->n + chunk.n);
    memmove(file->at + at + chunk.n, file->at + at, file->n - at);
    memcpy(file->at + at, chunk.at, chunk.n);
    file->n += chunk.n;
    at += chunk.n;
    free(chunk.at);
    return at;
}

/* Changes the header, in which `at` counts from the width. */
static void change_header(struct bytes *file, size_t at, uint8_t value)
{
    file->at[16 + at] = value;
    gi_put_big32(file->at + HEADER - 4, (uint32_t)crc32(0, file->at + 12, 17));
}

/* Loads the file, and returns whether it stays coded. */
static bool stays(const struct bytes *file, const struct gi_load_options *options)
{
    struct gi_image image;
    struct gi_load_options coded = *options;
    coded.coded = coded.coded ? coded.coded : GI_CODED_PNG;
    gi_load_memory(&image, NULL, NULL, file->at, file->n, "test", &coded, NULL, NULL);
    bool is_coded = image.coded != NULL;
    gi_image_free(&image);
    return is_coded;
}

static void check_block(const void *a, size_t a_nbytes, const void *b, size_t b_nbytes)
{
    assert_int_equal(a_nbytes, b_nbytes);
    if (a_nbytes)
        assert_memory_equal(a, b, a_nbytes);
}

/* Tests that everything but the samples is as if the file were decoded. */
static void check_properties(const struct bytes *file)
{
    struct gi_image images[2];
    struct gi_metadata m[2] = {{0}};
    struct gi_file_info infos[2];
    for (int coded = 0; coded < 2; coded++) {
        struct gi_load_options options = strictly;
        options.coded = coded ? GI_CODED_PNG : GI_CODED_NONE;
        assert_int_equal(gi_load_memory(&images[coded], &m[coded], &infos[coded], file->at, file->n,
                                        "test", &options, NULL, NULL),
                         GI_OK);
    }
    assert_non_null(images[1].coded);
    assert_null(images[1].data);
    assert_int_equal(images[0].width, images[1].width);
    assert_int_equal(images[0].height, images[1].height);
    assert_int_equal(images[0].channels, images[1].channels);
    assert_int_equal(images[0].type, images[1].type);
    assert_memory_equal(&infos[0], &infos[1], sizeof infos[0]);
    check_block(m[0].exif, m[0].exif_nbytes, m[1].exif, m[1].exif_nbytes);
    check_block(m[0].color, m[0].color_nbytes, m[1].color, m[1].color_nbytes);
    check_block(m[0].palette, m[0].palette_nbytes, m[1].palette, m[1].palette_nbytes);
    assert_true(m[0].dpi_x == m[1].dpi_x && m[0].few_colors == m[1].few_colors);
    assert_int_equal(m[0].ntexts, m[1].ntexts);
    for (int i = 0; i < 2; i++) {
        gi_image_free(&images[i]);
        gi_metadata_free(&m[i]);
    }
}

TEST(properties_are_those_of_the_decoded_image)
{
    struct png_recipe recipe = usual;
    static const unsigned char dpi[9] = {0, 0, 15, 97, 0, 0, 15, 97, 1},
                               gamma[4] = {0, 0, 177, 143};
    struct bytes file = make(30, 20, 3, &recipe);
    size_t at = insert(&file, HEADER, "gAMA", gamma, 4);
    at = insert(&file, at, "pHYs", dpi, 9);
    at = insert(&file, at, "tEXt", "Title\0a", 7);
    insert(&file, at, "eXIf", exif, sizeof exif);
    insert(&file, file.n - 12, "tEXt", "Comment\0b", 9);
    check_properties(&file);
    struct gi_image image;
    assert_int_equal(coded_load(&image, &file, 1, true, NULL), GI_OK);
    assert_int_equal(image.coded->layout, gi_orientation_layout(6));
    assert_int_equal(image.width, 20);
    gi_image_free(&image);
    free(file.at);

    recipe.ncolors = 200;
    for (int nalphas = 0; nalphas < 100; nalphas += 99) {
        recipe.nalphas = nalphas;
        file = make(30, 20, 1, &recipe);
        check_properties(&file);
        free(file.at);
    }
}

/* Tests that the scan is all IDAT chunks of the file, that they are listed, and that they hold the
 * bytes of the only IDAT chunk of another file. The file stays as it is. */
static void check_idats(const struct bytes *file, const struct bytes *whole, uint32_t nidats)
{
    struct gi_image image;
    assert_int_equal(coded_load(&image, file, 1, true, NULL), GI_OK);
    const struct gi_coded *coded = image.coded;
    struct gi_image scan = gi_coded_scan(coded);
    struct bytes stream = png_stream(coded);
    check_block(stream.at, stream.n, whole->at + HEADER + 8, whole->n - HEADER - 24);
    check_block(scan.data, (size_t)scan.width, file->at + HEADER, file->n - HEADER - 12);
    check_block(coded->file.data, (size_t)coded->file.width, file->at, file->n);
    assert_int_equal(coded->nidats, nidats);
    for (uint32_t i = 0; i < nidats; i++) {
        const uint8_t *data = (uint8_t *)scan.data + coded->idats[i].at;
        assert_memory_equal(data - 4, "IDAT", 4);
        assert_int_equal(gi_big32(data - 8), coded->idats[i].nbytes);
    }
    gi_image_free(&image);
    free(stream.at);
}

TEST(chunks_are_listed)
{
    static const size_t parts[] = {0, 8, 50, 51, 1000000};
    struct bytes whole = make(30, 20, 3, &usual);
    uint32_t n = (uint32_t)whole.n - HEADER - 24;
    for (int i = 0; i < 5; i++) {
        struct png_recipe recipe = usual;
        recipe.part = parts[i];
        uint32_t part = parts[i] && parts[i] < n ? (uint32_t)parts[i] : n;
        struct bytes file = make(30, 20, 3, &recipe);
        if (i == 2) { /* empty chunks at both ends */
            insert(&file, insert(&file, HEADER, "IDAT", "", 0), "IDAT", "", 0);
            insert(&file, file.n - 12, "IDAT", "", 0);
        }
        check_idats(&file, &whole, (n + part - 1) / part + (i == 2 ? 3 : 0));
        free(file.at);
    }
    free(whole.at);
}

/* Chunks may number 64, and one more per 8 bytes of the stream. */
TEST(too_many_chunks_are_decoded)
{
    struct bytes file = make(30, 20, 3, &usual), whole = make(30, 20, 3, &usual);
    size_t n = file.n - HEADER - 24;
    for (size_t nidats = 1; nidats < 64 + n / 8; nidats++)
        insert(&file, HEADER, "IDAT", "", 0);
    check_idats(&file, &whole, (uint32_t)(64 + n / 8));
    insert(&file, HEADER, "IDAT", "", 0);
    assert_false(stays(&file, &strictly));
    struct coded_counts counts = {0};
    coded_check(&file, "too many chunks", 1, &counts);
    free(file.at);
    free(whole.at);
}

/* libdeflate's way leaves files with an index without colour to libpng. */
TEST(quick_palettes)
{
    struct png_recipe recipe = usual;
    recipe.ncolors = 200;
    struct bytes file = make(30, 20, 1, &recipe);
    struct gi_image indices = picture(30, 20, 1, GI_U8), image, coded;
    int largest = 0;
    for (int y = 0; y < 20; y++)
        for (int x = 0; x < 30; x++)
            largest = (int)fmax(largest, case_get(&indices, y, (size_t)x));
    assert_int_equal(coded_load(&coded, &file, 1, true, NULL), GI_OK);
    struct gi_png_frame frame = coded.coded->png;
    assert_int_equal(frame.ncolors, 200);
    for (int channels = 3; channels <= 4; channels++) {
        assert_int_equal(gi_image_alloc(&image, 30, 20, channels, GI_U8, NULL), GI_OK);
        for (frame.ncolors = largest; frame.ncolors <= largest + 1; frame.ncolors++)
            assert_int_equal(
                gi_png_quick(&image, file.at, file.n, coded.coded->scan_at + 8, &frame),
                frame.ncolors > largest);
        for (int y = 0; y < 20; y++)
            for (int x = 0; x < 30; x++)
                assert_memory_equal((uint8_t *)gi_row(&image, y) + x * channels,
                                    frame.palette[(int)case_get(&indices, y, (size_t)x)],
                                    (size_t)channels);
        gi_image_free(&image);
    }
    gi_image_free(&coded);
    gi_image_free(&indices);
    free(file.at);
}

TEST(options_that_need_samples)
{
    struct bytes file = make(30, 20, 3, &usual);
    struct gi_load_options options = strictly;
    assert_true(stays(&file, &options));
    options.coded = GI_CODED_JPEG;
    assert_false(stays(&file, &options));
    options.coded = GI_CODED_ANY;
    assert_true(stays(&file, &options));
    options.linear = true;
    assert_false(stays(&file, &options));
    options.linear = false;
    options.labels = true;
    assert_false(stays(&file, &options));
    options.labels = false;
    options.header_only = true;
    assert_false(stays(&file, &options));
    assert_false(stays(&file, &partially));
    free(file.at);
}

TEST(other_kinds_are_decoded)
{
    for (int bits = 1; bits <= 8; bits *= 2) { /* in rows of 8 bytes */
        struct bytes low = make(8, 5, 1, &usual);
        change_header(&low, 3, (uint8_t)(64 / bits));
        change_header(&low, 8, (uint8_t)bits);
        assert_int_equal(stays(&low, &strictly), bits == 8);
        free(low.at);
    }
    struct bytes file = make(1, 1, 1, &usual);
    change_header(&file, 12, 1);
    assert_false(stays(&file, &strictly)); /* interlaced */
    change_header(&file, 12, 0);
    assert_true(stays(&file, &strictly));
    insert(&file, HEADER, "tRNS", "\0\7", 2);
    assert_false(stays(&file, &strictly)); /* a transparent colour */
    free(file.at);
    file = make(9, 5, 1, &usual);
    insert(&file, file.n - 12, "eXIf", exif, sizeof exif);
    assert_false(stays(&file, &strictly)); /* other chunks behind the pixels */
    free(file.at);
    file = make(9, 5, 1, &usual);
    file.n -= 12;
    assert_false(stays(&file, &strictly)); /* no end */
    free(file.at);
}

/* An animation of one frame stays coded; images and frames of longer ones are decoded. */
TEST(frames_are_decoded)
{
    for (int frames = 1; frames <= 2; frames++) {
        const unsigned char animation[8] = {0, 0, 0, (unsigned char)frames};
        unsigned char control[26] = {0}, more[30] = {0};
        struct bytes file = make(9, 5, 1, &usual);
        control[7] = 9;
        control[11] = 5;
        size_t at = insert(&file, HEADER, "acTL", animation, 8);
        at = insert(&file, at, "fcTL", control, 26);
        if (frames == 2) {
            control[3] = 1;
            more[3] = 2;
            insert(&file, insert(&file, file.n - 12, "fcTL", control, 26), "fdAT", more, 30);
        }
        struct gi_load_options options = strictly;
        for (options.image = 0; options.image <= frames; options.image++)
            assert_int_equal(stays(&file, &options), frames == 1);
        free(file.at);
    }
}

/* Limits hold before anything else, and images of more than 2^27 bytes are decoded. The streams are
 * noise. */
TEST(limits)
{
    static const int sizes[][3] = {{8191, 16384, 1}, {8192, 16384, 0}};
    struct bytes noise = {malloc(200000), 200000};
    uint64_t seed = CASE_SEED;
    for (size_t i = 0; i < noise.n; i++)
        noise.at[i] = (uint8_t)case_random(&seed);
    for (int i = 0; i < 2; i++) {
        const struct gi_image shape = {
            .width = sizes[i][0], .height = sizes[i][1], .channels = 1, .type = GI_U8};
        struct bytes file = png_wrap(&shape, &noise, &usual);
        assert_int_equal(stays(&file, &strictly), sizes[i][2]);
        struct gi_load_options options = strictly;
        struct gi_image image;
        options.coded = GI_CODED_PNG;
        options.limits.max_pixels = 1000;
        assert_int_equal(
            gi_load_memory(&image, NULL, NULL, file.at, file.n, "test", &options, NULL, NULL),
            GI_E_LIMIT);
        free(file.at);
    }
    struct gi_image shape = {.width = 8000, .height = 8000, .channels = 4, .type = GI_U8};
    noise.n = 1000; /* too few bytes for these pixels */
    struct bytes file = png_wrap(&shape, &noise, &usual);
    shape.height = 10;
    assert_false(stays(&file, &strictly));
    free(file.at);
    file = png_wrap(&shape, &noise, &usual);
    assert_true(stays(&file, &strictly));
    free(file.at);
    free(noise.at);
}
