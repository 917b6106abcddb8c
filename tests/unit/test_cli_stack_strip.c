/* When a transfer to or from the temporary file of stacked images is interrupted or short, it goes
 * on. When it fails, the result is an error that names the reason.
 * Sources: cli/commands/stack_strip* imgio/scratch_file*
 * SPDX-License-Identifier: MIT */
#include "failing_calls.h"
#include "imgio_folder.h"

#include "cli/commands/stack_strip.h"

/* With little memory a part has 4096 bytes of each image, which are fewer than these images
 * have. */
enum { IMAGES = 3, HEIGHT = 130 };

/* Adds three images to a strip, and compares the parts that are read with them. */
static enum gi_status pass_through(int width, struct gi_err *err)
{
    struct gi_image images[IMAGES];
    struct gi_stack_strip *strip = NULL;
    struct gi_stack_strip_part part = {0};
    struct gi_pool *pool;
    bool more = true;
    int rows = 0;
    assert_int_equal(gi_pool_new(&pool, 1, NULL), GI_OK);
    for (int i = 0; i < IMAGES; i++)
        images[i] = random_image(width, HEIGHT, 1, GI_U8, (uint64_t)i);
    enum gi_status status = gi_stack_strip_new(&strip, &images[0], IMAGES, 1, 1, err);
    for (int i = 0; i < IMAGES && !status; i++)
        status = gi_stack_strip_add(strip, &images[i], err);
    while (!status && !(status = gi_stack_strip_next(strip, &part, &more, pool, err)) && more) {
        for (int y = 0; y < part.image.height; y++)
            for (int i = 0; i < IMAGES; i++)
                assert_memory_equal((char *)gi_row(&part.image, y) + i * width,
                                    gi_row(&images[i], rows + y), width);
        rows += part.image.height;
    }
    assert_true(status || rows == HEIGHT);
    for (int i = 0; i < IMAGES && !status; i++) {
        struct gi_image got = random_image(width, HEIGHT, 1, GI_U8, 9);
        status = gi_stack_strip_get(strip, &got, i, err);
        for (int y = 0; y < HEIGHT && !status; y++)
            assert_memory_equal(gi_row(&got, y), gi_row(&images[i], y), width);
        gi_image_free(&got);
    }
    gi_stack_strip_free(&strip);
    gi_pool_free(&pool);
    for (int i = 0; i < IMAGES; i++)
        gi_image_free(&images[i]);
    return status;
}

TEST(transfers)
{
    static const struct fault faults[] = {
        {"pwrite", EINTR, false, true},   {"pwrite", 0, false, true},
        {"pwrite", ENOSPC, false, false}, {"pread", EINTR, false, true},
        {"pread", 0, false, true},        {"pread", EIO, false, false}};
    static const int widths[] = {GI_ROW_ALIGN, GI_ROW_ALIGN + 1}; /* without and with padding */
    for (int w = 0; w < 2; w++)
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
            for (int n = 1, done = 0; !done; n += 1 + n / 2) {
                struct gi_err err = {0};
                arm(faults[f], n);
                enum gi_status status = pass_through(widths[w], &err);
                done = disarm("a strip", status, &err);
                assert_int_equal(status == GI_OK, done || faults[f].works);
                assert_true(!status || strstr(err.text, strerror(faults[f].why)));
                assert_true(n > 1 || !done); /* the file is used */
            }
}

static int start(void **state)
{
    setup(state);
    return setenv("TMPDIR", folder, 1);
}

TEST_FRAME(.first = start, .last = teardown)
