/* The primitive jpeg_decode gives the samples of libjpeg-turbo for JPEGs of all samplings,
 * qualities, restart intervals and kinds of Huffman tables, and refuses damaged scans.
 * Sources: codec imgio/jpeg_coded.c imgio/coded.h kernels/jpeg_decode.h
 * SPDX-License-Identifier: MIT */
#include "jpeg_device.h"
#include "primitives.h"

#include "imgio/coded.h"
#include "kernels/codec.h"

/* ---- JPEGs ---- */

static int picture_noise; /* minimum noise of the pictures, in samples */

/* A smooth picture with noise, edges and flat areas. */
static void draw(struct gi_image *image, uint64_t *seed)
{
    int kind = case_between(seed, 0, 3), noise = case_between(seed, picture_noise, 60);
    double fx = case_between(seed, 1, 40) * 0.01, fy = case_between(seed, 1, 40) * 0.01;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                double v = 128 + 100 * sin(fx * x + c) * cos(fy * y - c);
                if (kind == 1)
                    v = (x / 5 + y / 7 + c) % 2 ? 255 : 0;
                if (kind == 2 && x > y)
                    v = 40 * c;
                v += noise ? case_between(seed, -noise, noise) : 0;
                case_put(image, y, (size_t)(x * image->channels + c), (float)fmin(fmax(v, 0), 255));
            }
}

struct settings {
    int width, height;
    J_COLOR_SPACE space; /* in the file */
    int h[3], v[3];
    int quality, restart;
    bool optimize;
};

static struct bytes encode(const struct settings *s, uint64_t *seed)
{
    struct jpeg_making made;
    struct gi_image image;
    bool gray = s->space == JCS_GRAYSCALE;
    assert_int_equal(gi_image_alloc(&image, s->width, s->height, gray ? 1 : 3, GI_U8, NULL), GI_OK);
    draw(&image, seed);
    jpeg_begin(&made, &image, gray ? JCS_GRAYSCALE : JCS_RGB, s->quality);
    jpeg_set_colorspace(&made.cinfo, s->space);
    for (int i = 0; i < made.cinfo.num_components; i++) {
        made.cinfo.comp_info[i].h_samp_factor = s->h[i];
        made.cinfo.comp_info[i].v_samp_factor = s->v[i];
    }
    made.cinfo.restart_interval = (unsigned)s->restart;
    made.cinfo.optimize_coding = s->optimize;
    struct bytes bytes = jpeg_end(&made, &image);
    gi_image_free(&image);
    return bytes;
}

/* Draws settings whose blocks fit in an MCU and whose chroma has whole steps. */
static struct settings draw_settings(uint64_t *seed, int width, int height, int channels)
{
    static const int luma[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {1, 4}, {4, 2}, {3, 1}};
    static const int restarts[] = {0, 0, 0, 1, 2, 5, 17};
    struct settings s = {.width = width,
                         .height = height,
                         .quality = case_between(seed, 1, 100),
                         .restart = restarts[case_between(seed, 0, 6)],
                         .optimize = case_between(seed, 0, 2) == 0};
    s.space = channels == 1 ? JCS_GRAYSCALE : channels == 2 ? JCS_RGB : JCS_YCbCr;
    int kind = case_between(seed, 0, 11);
    for (int i = 0; i < 3; i++)
        s.h[i] = s.v[i] = 1;
    if (channels == 4 || (channels == 2 && kind > 5)) {
        s.h[0] = luma[kind % 8][0];
        s.v[0] = luma[kind % 8][1];
        s.h[1] = kind > 7 && s.h[0] % 2 == 0 && s.h[0] * s.v[0] < 8 ? 2 : 1;
    }
    return s;
}

/* ---- the walk ---- */

struct decode_spec {
    struct gi_jpeg_decode decode;
    struct gi_jpeg_frame frame;
};

static void draw_decode(struct walk_case *c)
{
    struct decode_spec *spec = WALK_SPEC(c, struct decode_spec);
    struct settings s = draw_settings(c->seed, c->width, c->height, c->channels);
    struct bytes file = encode(&s, c->seed);
    struct gi_image coded, want;
    int denominator = c->turn % 2 ? 1 << walk_between(c, 1, 3) : 1;
    assert_int_equal(jpeg_load(&coded, &file, denominator, true, NULL), GI_OK);
    assert_int_equal(jpeg_load(&want, &file, denominator, false, NULL), GI_OK);
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
    uint64_t seed = 3;
    int decoded[2] = {0};
    for (int turn = 0; turn < 24; turn++) {
        struct settings s = draw_settings(&seed, case_between(&seed, 200, 500),
                                          case_between(&seed, 200, 400), turn % 3 ? 4 : 1);
        s.quality = case_between(&seed, 50, 95);
        picture_noise = 20;
        struct bytes file = encode(&s, &seed);
        picture_noise = 0;
        struct gi_image coded, got;
        assert_int_equal(jpeg_load(&coded, &file, 1, true, NULL), GI_OK);
        for (int cuda = 0; cuda < 2; cuda++) {
            struct gi_queue *queue = jpeg_queue(cuda);
            if (queue && !jpeg_decode_on(queue, &got, &coded)) {
                decoded[cuda]++;
                gi_image_free(&got);
            }
            if (!queue)
                decoded[cuda] = -1;
        }
        gi_image_free(&coded);
        free(file.at);
    }
    print_message("decoded: %d on the CPU, %d on CUDA\n", decoded[0], decoded[1]);
    assert_int_equal(decoded[0], 24);
    if (decoded[1] >= 0)
        assert_in_range(decoded[1], 23, 24);
}

/* Scans with changed, missing and repeated bytes are refused, or decoded as libjpeg-turbo decodes
 * them. */
TEST(damaged_scans_are_refused)
{
    uint64_t seed = case_seed();
    struct jpeg_counts counts = {0};
    for (int turn = 0; turn < 400; turn++) {
        struct settings s = draw_settings(&seed, case_between(&seed, 1, 90),
                                          case_between(&seed, 1, 90), case_between(&seed, 1, 4));
        struct bytes file = encode(&s, &seed);
        jpeg_damage(&file, turn, &seed);
        jpeg_check(&file, "a damaged file", 1 << turn % 4, &counts);
        free(file.at);
    }
    print_message("of %d damaged files that stay coded %d are decoded\n", counts.coded,
                  counts.decoded[0]);
    assert_in_range(counts.coded, 100, 400);
}

/* A scan that has only its restart marker is refused. */
TEST(scans_without_bits_are_refused)
{
    uint64_t seed = 5;
    struct jpeg_counts counts = {0};
    const struct settings s = {.width = 16,
                               .height = 8,
                               .space = JCS_GRAYSCALE,
                               .h = {1},
                               .v = {1},
                               .quality = 50,
                               .restart = 1};
    struct bytes file = encode(&s, &seed);
    unsigned char *scan = memmem(file.at, file.n, "\xff\xda", 2);
    scan += 2 + scan[3];
    memcpy(scan, "\xff\xd0\xff\xd9", 4);
    file.n = (size_t)(scan - file.at) + 4;
    jpeg_check(&file, "a file without bits", 1, &counts);
    assert_int_equal(counts.coded, 1);
    assert_int_equal(counts.decoded[0], 0);
    free(file.at);
}

/* Files of large steps and random coefficients have values that leave 16 bits. They are refused. */
TEST(coefficients_that_leave_16_bits_are_refused)
{
    uint64_t seed = 1;
    struct jpeg_counts counts = {0};
    for (int turn = 0; turn < 100; turn++) {
        struct settings s = {
            .width = 64, .height = 64, .space = JCS_GRAYSCALE, .h = {1}, .v = {1}, .quality = 100};
        struct bytes file = encode(&s, &seed);
        unsigned char *table = memmem(file.at, file.n, "\xff\xdb", 2);
        for (int i = 0; i < 64; i++)
            table[5 + i] = (uint8_t)(1 + case_random(&seed) % (1u << (turn % 8 + 1)));
        jpeg_check(&file, "a file of large steps", turn % 3 ? 1 : 4, &counts);
        free(file.at);
    }
    print_message("of %d files of large steps %d are decoded\n", counts.coded, counts.decoded[0]);
    assert_int_equal(counts.coded, 100);
    assert_in_range(counts.decoded[0], 1, 99);
}

WALK_ROWS(rows)
