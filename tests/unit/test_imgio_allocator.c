/* Images in memory that a caller's allocator lends. Their samples are in the lent memory, which is
 * returned exactly once. When nothing is left to lend, images use plain memory.
 * Sources: imgio/image* imgio/buffer*
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

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
