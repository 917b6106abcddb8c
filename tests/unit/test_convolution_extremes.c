/* Convolutions and box filters of extreme images: constant ones, lines of millions of pixels,
 * infinite samples, sums beyond 32 bits, and means next to a half. Sources: convolution
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "cases.h"
#include "kernels/kernels.h"

enum { SEED = 7 };

/* Computes the weights of a Gaussian whose sum is 1. Each weight is rounded once. */
static void gaussian(float *taps, int n, double sigma)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += exp(-(i - n / 2) * (double)(i - n / 2) / (2 * sigma * sigma));
    for (int i = 0; i < n; i++)
        taps[i] = (float)(exp(-(i - n / 2) * (double)(i - n / 2) / (2 * sigma * sigma)) / sum);
}

static float many_taps[GI_TAPS_MAX];

static struct gi_separable long_gaussian(int n, double sigma)
{
    gaussian(many_taps, n, sigma);
    return (struct gi_separable){.row = many_taps,
                                 .col = many_taps,
                                 .nrow = n,
                                 .ncol = n,
                                 .row_anchor = n / 2,
                                 .col_anchor = n / 2,
                                 .sum = 1};
}

/* A constant image is unchanged by a kernel of any length. */
TEST(constant)
{
    static const int lengths[] = {3, 31, 33, 65, 401, 1601, GI_TAPS_MAX};
    static const uint16_t values[] = {1, 255, 40001, 65535};
    struct gi_queue *queue;
    struct gi_err err;
    queue = case_open(gi_kernels_cpu(), 2);
    for (int i = 0; i < 7; i++)
        for (int v = 0; v < 4; v++) {
            struct gi_separable spec = long_gaussian(lengths[i], lengths[i] / 8.0);
            struct guard src, got;
            guard_alloc(&src, 70, 40, 1, GI_U16, 0);
            guard_alloc(&got, 70, 40, 1, GI_U16, 0);
            for (int p = 0; p < 70 * 40; p++)
                ((uint16_t *)src.image.data)[p] = values[v];
            assert_int_equal(
                queue->k->convolve_separable(queue, &got.image, &src.image, &spec, &err), 0);
            case_equal(&got.image, &src.image, "Gaussian of a constant");
            struct gi_box box = {.k = lengths[i]};
            assert_int_equal(queue->k->box(queue, &got.image, &src.image, &box, &err), 0);
            case_equal(&got.image, &src.image, "box of a constant");
            guard_free(&src);
            guard_free(&got);
        }
    gi_queue_close_alone(&queue);
}

/* Filters a row of 3 000 000 pixels, and a column of as many pixels. Because of the border mode,
 * all rows outside the image equal its row, and all columns outside equal its column. */
TEST(long_images)
{
    struct gi_queue *queue;
    struct gi_err err;
    uint64_t seed = SEED;
    queue = case_open(gi_kernels_cpu(), 2);
    for (int turn = 0; turn < 2; turn++) {
        int n = 3000000, width = turn ? 1 : n, height = turn ? n : 1;
        struct gi_separable spec = long_gaussian(7, 1.2);
        struct guard src, got, want;
        guard_alloc(&src, width, height, 1, GI_U8, 0);
        guard_alloc(&got, width, height, 1, GI_U8, 0);
        guard_alloc(&want, width, height, 1, GI_U8, 0);
        case_fill(&src.image, &seed);
        exact_separable(&want.image, &src.image, &spec);
        assert_int_equal(queue->k->convolve_separable(queue, &got.image, &src.image, &spec, &err),
                         0);
        case_equal(&got.image, &want.image, "long image");
        guard_free(&src);
        guard_free(&got);
        guard_free(&want);
    }
    gi_queue_close_alone(&queue);
}

/* An infinite sample makes a result infinite only if the taps of that result reach the sample. */
TEST(infinite)
{
    struct gi_separable spec = long_gaussian(65, 40);
    struct gi_queue *queue;
    struct gi_err err;
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        if (!k)
            continue;
        struct guard src, got;
        guard_alloc(&src, 160, 100, 1, GI_F32, 0);
        guard_alloc(&got, 160, 100, 1, GI_F32, 0);
        for (int p = 0; p < 160 * 100; p++)
            ((float *)src.image.data)[p] = 0.5f;
        ((float *)gi_row(&src.image, 60))[80] = -INFINITY;
        queue = case_open(k, 1);
        assert_int_equal(k->convolve_separable(queue, &got.image, &src.image, &spec, &err), 0);
        gi_queue_close_alone(&queue);
        for (int y = 0; y < 100; y++)
            for (int x = 0; x < 160; x++) {
                float v = ((float *)gi_row(&got.image, y))[x];
                bool met = abs(x - 80) <= 32 && abs(y - 60) <= 32;
                assert_true(met ? v == -INFINITY : fabsf(v - 0.5f) < 1e-6f);
            }
        guard_free(&src);
        guard_free(&got);
    }
}

static unsigned wide_sample(const struct gi_image *image, uint64_t i)
{
    return image->type == GI_U8 ? ((uint8_t *)image->data)[i] : ((uint16_t *)image->data)[i];
}

/* Tests sums beyond 32 bits. The image wraps around, so that the mean over a box much larger than
 * the image equals the mean of whole periods. */
static void check_wide_box(const struct gi_kernels *k, enum gi_type type, int channels,
                           uint64_t *seed)
{
    /* 1023 is 33 * 31, so the window covers the wrapped 33 x 31 image exactly 31 x 33 times. */
    struct gi_queue *queue;
    struct gi_err err;
    struct guard src, got;
    struct gi_box box = {.k = 1023, .border = {.mode = GI_BORDER_WRAP}};
    box.alpha = channels % 2 ? GI_ALPHA_PLAIN : GI_ALPHA_WEIGH;
    guard_alloc(&src, 33, 31, channels, type, 0);
    guard_alloc(&got, 33, 31, channels, type, 0);
    case_fill(&src.image, seed);
    queue = case_open(k, 1);
    assert_int_equal(k->box(queue, &got.image, &src.image, &box, &err), 0);
    gi_queue_close_alone(&queue);
    uint64_t count = (uint64_t)channels, n = 33 * 31;
    for (uint64_t c = 0; c < count; c++) {
        uint64_t sum = 0, by = 0;
        for (uint64_t p = 0; p < n; p++) {
            uint64_t alpha = wide_sample(&src.image, p * count + count - 1);
            uint64_t weight = count % 2 || c == count - 1 ? 1 : alpha;
            sum += wide_sample(&src.image, p * count + c) * weight;
            by += weight;
        }
        for (uint64_t p = 0; p < n; p++)
            assert_int_equal(wide_sample(&got.image, p * count + c), (2 * sum + by) / (2 * by));
    }
    guard_free(&src);
    guard_free(&got);
}

TEST(wide_box)
{
    uint64_t seed = SEED;
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        for (int channels = 1; k && channels <= GI_MAX_CHANNELS; channels++)
            for (int type = GI_U8; type <= GI_U16; type++)
                check_wide_box(k, (enum gi_type)type, channels, &seed);
    }
}

/* Tests means just below and above a half, where float has the least precision left. The images
 * have k x k pixels and wrap around, so that each mean is the mean of the whole image. */
TEST(near_halves)
{
    static const int sizes[] = {7, 127, 129, 255};
    for (int i = 0; i < 2 * 4 * CASE_LEVELS; i++) {
        const struct gi_kernels *kernels = gi_kernels_cpu_level(case_levels[i / 8]);
        int k = sizes[i / 2 % 4], n = k * k;
        enum gi_type type = k == 7 ? GI_U16 : GI_U8;
        unsigned full = k == 7 ? 65535 : 255;
        if (!kernels)
            continue;
        struct gi_queue *queue;
        struct gi_err err;
        struct guard src, got;
        struct gi_box box = {.k = k, .border = {.mode = GI_BORDER_WRAP}};
        guard_alloc(&src, k, k, 1, type, 0);
        guard_alloc(&got, k, k, 1, type, 0);
        for (int p = 0; p < n; p++) { /* the mean is full - 1/2 -+ 1 / (2 n) */
            unsigned v = full - (p < n / 2 + i % 2);
            if (type == GI_U8)
                ((uint8_t *)src.image.data)[p] = (uint8_t)v;
            else
                ((uint16_t *)src.image.data)[p] = (uint16_t)v;
        }
        queue = case_open(kernels, 1);
        assert_int_equal(kernels->box(queue, &got.image, &src.image, &box, &err), 0);
        gi_queue_close_alone(&queue);
        for (int p = 0; p < n; p++)
            assert_int_equal(wide_sample(&got.image, (uint64_t)p), full - (unsigned)(i % 2));
        guard_free(&src);
        guard_free(&got);
    }
}
