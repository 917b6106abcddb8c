/* The primitive convert, on every level and on CUDA, gives the results of gi_image_convert() for
 * all integers, for floats at ties, for unusual floats, and for rows that do not fill a vector.
 * Sources: color imgio/image*
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "test.h"
#include "kernels/kernels.h"

/* Fills an integer image with all values of its type. Fills a float image with the midpoints
 * between integer codes, with the floats next to these midpoints, and with unusual values. */
static void fill(struct gi_image *image)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-40f, -1e30f, 3e38f, 1, 0.5f};
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < (int)gi_row_samples(image); x++) {
            int i = y * (int)gi_row_samples(image) + x;
            float middle = ((float)(i / 3 % 65536) + 0.5f) / (i % 2 ? 255.0f : 65535.0f);
            if (image->type == GI_U8)
                ((uint8_t *)gi_row(image, y))[x] = (uint8_t)i;
            else if (image->type == GI_U16)
                ((uint16_t *)gi_row(image, y))[x] = (uint16_t)i;
            else
                ((float *)gi_row(image, y))[x] = i < 9 ? odd[i]
                                                 : i % 3 == 0
                                                     ? middle
                                                     : nextafterf(middle, (float)(i % 3 - 1) * 9);
        }
}

static void check(struct gi_queue *queue, struct gi_image *src, enum gi_type type)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image want, from, to, got;
    struct gi_err err = {0};
    assert_int_equal(gi_image_convert(&want, src, type, &err), GI_OK);
    assert_int_equal(k->upload(queue, &from, src, NULL, &err), GI_OK);
    assert_int_equal(k->alloc(queue, &to, src->width, src->height, src->channels, type, &err),
                     GI_OK);
    if (k->convert(queue, &to, &from, NULL, &err))
        fail_msg("%s: %s", k->name, err.text);
    assert_int_equal(k->download(queue, &got, &to, NULL, &err), GI_OK);
    for (int y = 0; y < want.height; y++)
        if (memcmp(gi_row(&got, y), gi_row(&want, y), gi_row_nbytes(&want)) != 0)
            fail_msg("%s: row %d of %d x %d x %d, type %d to %d", k->name, y, want.width,
                     want.height, want.channels, (int)src->type, (int)type);
    k->release(queue, &from);
    gi_image_free(&got);
    gi_image_free(&want);
}

static void check_shapes(const struct gi_kernels *kernels)
{
    static const int shapes[][3] = {{1, 1, 1}, {5, 3, 3}, {129, 2, 4}, {331, 594, 1}, {97, 7, 2}};
    struct gi_open_options options = {.threads = 3};
    struct gi_queue *queue;
    assert_int_equal(gi_queue_open_alone(&queue, kernels, &options, NULL), GI_OK);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int from = GI_U8; from <= GI_F32; from++) {
            struct gi_image src;
            assert_int_equal(gi_image_alloc(&src, shapes[s][0], shapes[s][1], shapes[s][2],
                                            (enum gi_type)from, NULL),
                             GI_OK);
            fill(&src);
            for (int to = GI_U8; to <= GI_F32; to++)
                check(queue, &src, (enum gi_type)to);
            gi_image_free(&src);
        }
    gi_queue_close_alone(&queue);
}

TEST(equals_host)
{
    static const char *const levels[] = {"scalar", "avx2", "avx512", "neon"};
    const struct gi_kernels *cuda = gi_kernels_cuda();
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (gi_kernels_cpu_level(levels[i]))
            check_shapes(gi_kernels_cpu_level(levels[i]));
    if (cuda && cuda->probe(NULL, 0, NULL) > 0)
        check_shapes(cuda);
    else
        print_message("not tested: no CUDA device\n");
}
