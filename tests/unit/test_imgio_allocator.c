/* Images in memory that a caller's allocator lends. Their samples, or their file if they stay
 * coded, are in the lent memory, which is returned exactly once. When nothing is left to lend,
 * images use plain memory. Sources: imgio/image* imgio/buffer* imgio/coded.c imgio/source.c
 * SPDX-License-Identifier: MIT */
#include "png_device.h"

#include "imgio/codecs.h"
#include "imgio/metadata/exif.h"

enum { BLOCKS_MAX = 8 };

/* An allocator that lends a limited number of blocks at a time, and keeps track of the lent
 * blocks. */
struct lender {
    void *lent[BLOCKS_MAX];
    int room, given;
};

static void *lend(void *self, size_t nbytes)
{
    struct lender *lender = self;
    for (int i = 0; i < lender->room; i++)
        if (!lender->lent[i]) {
            lender->given++;
            assert_int_equal(posix_memalign(&lender->lent[i], GI_ROW_ALIGN, nbytes), 0);
            return lender->lent[i];
        }
    return NULL;
}

static void take_back(void *self, void *samples)
{
    struct lender *lender = self;
    for (int i = 0; i < lender->room; i++)
        if (lender->lent[i] == samples) {
            free(samples);
            lender->lent[i] = NULL;
            return;
        }
    fail_msg("samples that were not lent came back");
}

static int out(const struct lender *lender)
{
    int n = 0;
    for (int i = 0; i < lender->room; i++)
        n += lender->lent[i] != NULL;
    return n;
}

TEST(decoders_take_it)
{
    static const char pgm[] = "P5 2 3 255\nabcdef";
    struct lender lender = {.room = 1};
    struct gi_allocator allocator = {&lender, lend, take_back};
    struct gi_load_options options = strictly;
    struct gi_image image, second;
    struct gi_err err;
    options.allocator = &allocator;
    assert_int_equal(load_bytes(&image, pgm, sizeof pgm - 1, &options, NULL, &err), GI_OK);
    assert_ptr_equal(image.data, lender.lent[0]);
    assert_memory_equal(gi_row(&image, 2), "ef", 2);

    /* Nothing is left to lend, so the image uses plain memory. */
    assert_int_equal(load_bytes(&second, pgm, sizeof pgm - 1, &options, NULL, &err), GI_OK);
    assert_memory_equal(gi_row(&second, 2), "ef", 2);
    gi_image_free(&second);
    assert_int_equal(out(&lender), 1);

    struct gi_image view = gi_image_rows(&image, 1, 2);
    gi_image_free(&view);
    assert_int_equal(out(&lender), 1);
    gi_image_free(&image);
    gi_image_free(&image);
    assert_int_equal(out(&lender), 0);

    /* A partial image uses plain memory, which occupies only those pages that are written. Lent
     * memory would be occupied as a whole. */
    options.allow_partial = true;
    assert_int_equal(load_bytes(&image, pgm, sizeof pgm - 1, &options, NULL, &err), GI_OK);
    assert_int_equal(out(&lender), 0);
    gi_image_free(&image);
    options.allow_partial = false;

    /* After a decoder has failed, its memory has been returned. */
    assert_int_not_equal(load_bytes(&image, pgm, sizeof pgm - 2, &options, NULL, &err), GI_OK);
    assert_int_equal(out(&lender), 0);
}

/* Loads a file, or its image number `number` if that is not 0, with at most `room` lent blocks.
 * Tests that it stays coded, that `given` blocks were lent, and that the image holds the first one
 * of these if `kept`. The first n bytes of the file are those of the image. */
static void check_file(const struct bytes *file, size_t n, int number, int room, int given,
                       bool kept)
{
    const char *folder = make_folder();
    char path[512];
    struct lender lender = {.room = room};
    struct gi_allocator allocator = {&lender, lend, take_back};
    struct gi_load_options options = strictly;
    struct gi_image image;
    options.allocator = &allocator;
    options.coded = GI_CODED_ANY;
    options.image = number;
    snprintf(path, sizeof path, "%s/file", folder);
    write_file(path, file->at, file->n);
    assert_int_equal(gi_load(&image, NULL, NULL, path, &options, NULL, NULL), GI_OK);
    assert_non_null(image.coded);
    assert_int_equal(lender.given, given);
    assert_int_equal(out(&lender), given > 0);
    assert_int_equal(lender.lent[0] == image.coded->file.data, kept);
    assert_int_equal(image.coded->file.width, n);
    assert_memory_equal(image.coded->file.data, file->at, n);
    gi_image_free(&image);
    assert_int_equal(out(&lender), 0);

    write_file(path, file->at, n / 2);
    assert_int_not_equal(gi_load(&image, NULL, NULL, path, &options, NULL, NULL), GI_OK);
    assert_int_equal(out(&lender), 0);
    remove_folder(folder);
}

/* A file that stays coded is not copied, unless it is one of several images, or the list of its
 * chunks does not fit behind it. */
TEST(coded_files_stay_where_they_were_read)
{
    uint64_t seed = CASE_SEED;
    struct png_recipe recipe = {.level = 6, .window_bits = 15, .mem_level = 8};
    struct gi_image image = case_image(120, 90, 3, GI_U8, &seed);
    struct bytes whole = png_make(&image, &recipe, &seed);
    check_file(&whole, whole.n, 0, 2, 1, true);
    check_file(&whole, whole.n, 0, 0, 0, false);
    recipe.part = 8;
    struct bytes parts = png_make(&image, &recipe, &seed);
    check_file(&parts, parts.n, 0, 2, 2, false);
    struct bytes two = {malloc(2 * whole.n), 2 * whole.n};
    memcpy(two.at, whole.at, whole.n);
    memcpy(two.at + whole.n, whole.at, whole.n);
    check_file(&two, whole.n, 1, 2, 2, false);
    const struct gi_save_options options = {.format = "jpeg", .quality = 90};
    struct bytes jpeg;
    void *bytes;
    assert_int_equal(gi_save_memory(&bytes, &jpeg.n, &image, NULL, "x", &options, NULL, NULL),
                     GI_OK);
    jpeg.at = bytes;
    check_file(&jpeg, jpeg.n, 0, 2, 1, true);
    free(whole.at);
    free(parts.at);
    free(two.at);
    free(jpeg.at);
    gi_image_free(&image);
}

TEST(copies_stay_there)
{
    struct lender lender = {.room = 2};
    struct gi_allocator allocator = {&lender, lend, take_back};
    struct gi_image image, wide;
    assert_int_equal(gi_image_alloc_from(&image, &allocator, 2, 1, 1, GI_U8, NULL), GI_OK);
    memcpy(image.data, "\x01\xff", 2);
    assert_int_equal(gi_orientation_apply(&image, 2, NULL), GI_OK); /* mirrored */
    assert_memory_equal(image.data, "\xff\x01", 2);
    assert_int_equal(lender.given, 2);
    assert_int_equal(out(&lender), 1);
    assert_int_equal(gi_image_convert(&wide, &image, GI_U16, NULL), GI_OK);
    assert_int_equal(((uint16_t *)wide.data)[1], 257);
    assert_int_equal(out(&lender), 2);
    gi_image_free(&wide);
    gi_image_free(&image);
    assert_int_equal(out(&lender), 0);
}
