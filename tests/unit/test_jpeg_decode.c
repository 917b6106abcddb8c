/* The primitive jpeg_decode gives the samples of libjpeg-turbo for JPEGs of all samplings,
 * qualities, restart intervals and kinds of Huffman tables, and refuses damaged scans.
 * Sources: codec imgio/jpeg/jpeg_coded.c imgio/coded.h kernels/jpeg_decode.h
 * SPDX-License-Identifier: MIT */
#include "jpeg_device.h"
#include "primitives.h"

#include "imgio/coded.h"
#include "kernels/codec.h"

/* ---- the walk ---- */

struct decode_spec {
    struct gi_jpeg_decode decode;
    struct gi_jpeg_frame frame;
};

static void draw_decode(struct walk_case *c)
{
    struct decode_spec *spec = WALK_SPEC(c, struct decode_spec);
    struct jpeg_making made;
    struct gi_image picture = jpeg_picture(c->width, c->height, c->channels == 1 ? 1 : 3,
                                           walk_between(c, 0, 60), c->seed);
    jpeg_begin_random(&made, &picture, walk_between(c, 1, 100), c->seed);
    struct bytes file = jpeg_end(&made, &picture);
    struct gi_image coded, want;
    int denominator = c->turn % 2 ? 1 << walk_between(c, 1, 3) : 1;
    assert_int_equal(coded_load(&coded, &file, denominator, true, NULL), GI_OK);
    assert_int_equal(coded_load(&want, &file, denominator, false, NULL), GI_OK);
    assert_non_null(coded.coded);
    const struct gi_image scan = gi_coded_scan(coded.coded);
    memcpy(walk_source(c, scan.width, 1, 1, GI_U8)->data, scan.data, (size_t)scan.width);
    spec->frame = coded.coded->frame;
    spec->decode.denominator = denominator;
    c->inner_at = offsetof(struct decode_spec, decode.frame);
    c->inner_to = offsetof(struct decode_spec, frame);
    struct gi_image *result = walk_result(c, want.width, want.height, want.channels, GI_U8);
    for (int y = 0; y < want.height; y++)
        memcpy(gi_row(result, y), gi_row(&want, y), gi_row_nbytes(&want));
    gi_image_free(&picture);
    gi_image_free(&coded);
    gi_image_free(&want);
    free(file.at);
}

/* The result is defined by libjpeg-turbo when the case is drawn. */
static void define_nothing(struct walk_case *c)
{
}

static const int sizes[][2] = {
    {1, 1},  {1, 17}, {17, 1},  {2, 3},   {5, 4},     {7, 9},    {8, 8},      {9, 8},   {15, 16},
    {16, 9}, {17, 5}, {31, 33}, {32, 32}, {33, 65},   {40, 100}, {65, 17},    {67, 67}, {100, 33},
    {3, 50}, {6, 21}, {19, 2},  {64, 48}, {257, 129}, {311, 97}, {1021, 733}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("jpeg_decode", "all samplings", draw_decode, define_nothing, .sizes = sizes,
             .few = true, .may_refuse = "don't synchronise"),
    WALK_ROW("jpeg_decode", "more of them", draw_decode, define_nothing, .sizes = sizes,
             .few = true, .may_refuse = "don't synchronise"),
};

/* ---- whole files ---- */

/* Scans of ordinary pictures are decoded on each backend. Only scans that are nearly periodic may
 * be refused because their subsequences don't synchronise. */
TEST(ordinary_scans_are_decoded)
{
    static const struct jpeg_recipe ordinary[] = {{.space = JCS_GRAYSCALE},
                                                  {.space = JCS_YCbCr, .sampling = 1},
                                                  {.space = JCS_YCbCr, .sampling = 2}};
    uint64_t seed = 3;
    int decoded[2] = {0};
    for (int turn = 0; turn < 24; turn++) {
        struct gi_image coded, got,
            picture = jpeg_picture(200 + 12 * turn, case_between(&seed, 200, 400), turn % 3 ? 3 : 1,
                                   20 + turn, &seed);
        struct bytes file = jpeg_make(&picture, &ordinary[turn % 3], case_between(&seed, 50, 95));
        assert_int_equal(coded_load(&coded, &file, 1, true, NULL), GI_OK);
        for (int cuda = 0; cuda < 2; cuda++) {
            struct gi_queue *queue = coded_queue(cuda);
            if (queue && !coded_decode_on(queue, &got, &coded)) {
                decoded[cuda]++;
                gi_image_free(&got);
            }
            if (!queue)
                decoded[cuda] = -1;
        }
        gi_image_free(&picture);
        gi_image_free(&coded);
        free(file.at);
    }
    print_message("decoded: %d on the CPU, %d on CUDA\n", decoded[0], decoded[1]);
    assert_int_equal(decoded[0], 24);
    if (decoded[1] >= 0)
        assert_in_range(decoded[1], 23, 24);
}

/* A scan that has only its restart marker is refused. */
TEST(scans_without_bits_are_refused)
{
    uint64_t seed = 5;
    struct coded_counts counts = {0};
    struct jpeg_making made;
    struct gi_image image = jpeg_picture(16, 8, 1, 20, &seed);
    jpeg_begin(&made, &image, JCS_GRAYSCALE, 50);
    made.cinfo.restart_interval = 1;
    struct bytes file = jpeg_end(&made, &image);
    unsigned char *scan = memmem(file.at, file.n, "\xff\xda", 2);
    scan += 2 + scan[3];
    memcpy(scan, "\xff\xd0\xff\xd9", 4);
    file.n = (size_t)(scan - file.at) + 4;
    coded_check(&file, "a file without bits", 1, &counts);
    assert_int_equal(counts.coded, 1);
    assert_int_equal(counts.decoded[0], 0);
    gi_image_free(&image);
    free(file.at);
}

/* Files of large steps and random coefficients have values that leave 16 bits. They are refused. */
TEST(coefficients_that_leave_16_bits_are_refused)
{
    uint64_t seed = 1;
    struct coded_counts counts = {0};
    for (int turn = 0; turn < 100; turn++) {
        const struct jpeg_recipe gray = {.space = JCS_GRAYSCALE};
        struct gi_image image = jpeg_picture(64, 64, 1, case_between(&seed, 0, 60), &seed);
        struct bytes file = jpeg_make(&image, &gray, 100);
        unsigned char *table = memmem(file.at, file.n, "\xff\xdb", 2);
        for (int i = 0; i < 64; i++)
            table[5 + i] = (uint8_t)(1 + case_random(&seed) % (1u << (turn % 8 + 1)));
        coded_check(&file, "a file of large steps", turn % 3 ? 1 : 4, &counts);
        gi_image_free(&image);
        free(file.at);
    }
    print_message("of %d files of large steps %d are decoded\n", counts.coded, counts.decoded[0]);
    assert_int_equal(counts.coded, 100);
    assert_in_range(counts.decoded[0], 1, 99);
}

WALK_ROWS(rows)
