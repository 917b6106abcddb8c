/* Differences of two images (MSE, PSNR, SSIM and others) equal numbers worked out on paper.
 * Sources: statistics
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "test.h"
#include "filters/pipeline.h"
#include "filters/statistics/compare.h"

/* rules by which all pixels count, unless a test changes them */
static struct gi_compare_rules rules;

static struct gi_image bytes(uint8_t *samples, int width, int height, int channels)
{
    return (struct gi_image){.data = samples,
                             .stride = (size_t)(width * channels),
                             .width = width,
                             .height = height,
                             .channels = channels,
                             .type = GI_U8};
}

static enum gi_status compare(struct gi_comparison *result, const struct gi_image *a,
                              const struct gi_image *b, int threads, struct gi_err *err)
{
    struct gi_open_options options = {.threads = threads};
    struct gi_step step = {
        .filter = &gi_filter_compare, .params = &rules, .others = b, .nothers = 1};
    struct gi_side side = {.others = b, .result = result};
    struct gi_pipeline *pipeline;
    struct gi_queue *queue;
    enum gi_status status = gi_pipeline_new(&pipeline, &step, 1, a, NULL, err);
    if (status)
        return status;
    assert_int_equal(gi_queue_open_alone(&queue, gi_kernels_cpu(), &options, err), GI_OK);
    memset(result, 0, sizeof *result);
    status = gi_pipeline_run(pipeline, queue, NULL, a, &side, NULL, err);
    gi_queue_close_alone(&queue);
    gi_pipeline_free(&pipeline);
    return status;
}

TEST(test_known)
{
    uint8_t x[] = {10, 20, 30, 40}, y[] = {10, 22, 30, 36};
    struct gi_image a = bytes(x, 2, 2, 1), b = bytes(y, 2, 2, 1);
    struct gi_comparison got;
    assert_int_equal(compare(&got, &a, &b, 1, NULL), GI_OK);
    assert_true(got.all.samples == 4 && got.all.differing == 2 && got.all.max == 4);
    assert_true(got.all.mse == 5);
    assert_true(fabs(got.all.psnr - 41.141103565318915) < 1e-12); /* 10 log10(65025 / 5) */
    assert_int_equal(compare(&got, &a, &a, 1, NULL), GI_OK);
    assert_true(got.all.differing == 0 && got.all.mse == 0 && isinf(got.all.psnr));
    assert_true(fabs(got.all.ssim - 1) < 1e-12);
}

/* In images of one pixel, SSIM's windows hold one sample and have no variance. So SSIM is (2 x y +
 * C1) / (x^2 + y^2 + C1). */
TEST(test_one_pixel)
{
    uint8_t x[] = {100}, y[] = {50};
    struct gi_image a = bytes(x, 1, 1, 1), b = bytes(y, 1, 1, 1);
    struct gi_comparison got;
    assert_int_equal(compare(&got, &a, &b, 1, NULL), GI_OK);
    double c1 = 6.5025;
    assert_true(fabs(got.all.ssim - (2 * 5000 + c1) / (12500 + c1)) < 1e-12);
}

/* The bits of the result do not depend on the number of threads. */
TEST(test_threads)
{
    enum { W = 37, H = 113 };
    static uint8_t x[W * H * 3], y[W * H * 3];
    for (int i = 0; i < W * H * 3; i++) {
        x[i] = (uint8_t)(i * i / 7);
        y[i] = (uint8_t)(x[i] + i % 5);
    }
    struct gi_image a = bytes(x, W, H, 3), b = bytes(y, W, H, 3);
    struct gi_comparison one, many;
    assert_int_equal(compare(&one, &a, &b, 1, NULL), GI_OK);
    for (int threads = 2; threads < 9; threads++) {
        assert_int_equal(compare(&many, &a, &b, threads, NULL), GI_OK);
        assert_memory_equal(&one.all, &many.all, sizeof one.all);
        assert_memory_equal(one.channels, many.channels, sizeof one.channels);
    }
}

TEST(test_odd_floats)
{
    float x[] = {NAN, INFINITY, 1, NAN}, y[] = {NAN, INFINITY, 1, 2};
    struct gi_image a = {
        .data = x, .stride = sizeof x, .width = 4, .height = 1, .channels = 1, .type = GI_F32};
    struct gi_image b = a;
    struct gi_comparison got;
    b.data = y;
    assert_int_equal(compare(&got, &a, &b, 1, NULL), GI_OK);
    assert_true(got.all.differing == 1 && isinf(got.all.max) && isinf(got.all.mse));
}

TEST(test_shapes)
{
    uint8_t x[12] = {0};
    struct gi_image a = bytes(x, 2, 2, 1), b = bytes(x, 4, 1, 1), c = bytes(x, 2, 2, 3), picture;
    struct gi_comparison got;
    struct gi_err err = {0};
    assert_int_equal(compare(&got, &a, &b, 1, &err), GI_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "2 x 2"));
    assert_non_null(strstr(err.text, "4 x 1"));
    assert_int_equal(compare(&got, &a, &c, 1, NULL), GI_E_UNSUPPORTED);
    assert_int_equal(gi_compare_picture(&picture, &a, &c, 1, &rules, NULL), GI_E_UNSUPPORTED);
}

/* When an 8-bit image is compared with a 16-bit image, their full scales count as equal. */
TEST(test_types)
{
    uint8_t x[] = {0, 255, 128, 1};
    uint16_t y[] = {0, 65535, 128 * 257, 260};
    struct gi_image a = bytes(x, 4, 1, 1), b = a;
    b.data = y;
    b.stride = sizeof y;
    b.type = GI_U16;
    struct gi_comparison got;
    assert_int_equal(compare(&got, &a, &b, 1, NULL), GI_OK);
    assert_true(got.type == GI_U16 && got.all.differing == 1 && got.all.max == 3);
}

/* Neither differences within the tolerance count, nor pixels that `regions` or `mask` exclude. */
TEST(test_rules)
{
    uint8_t x[30 * 20] = {0}, y[30 * 20] = {0}, hidden[30 * 20] = {0};
    struct gi_image a = bytes(x, 30, 20, 1), b = bytes(y, 30, 20, 1),
                    mask = bytes(hidden, 30, 20, 1);
    struct gi_image small = bytes(hidden, 5, 5, 1);
    struct gi_comparison got;
    struct gi_err err = {0};
    y[3 * 30 + 4] = 3, y[5 * 30 + 7] = 4, y[19 * 30 + 29] = 200;
    rules.tolerance = 3;
    assert_int_equal(compare(&got, &a, &b, 1, NULL), GI_OK);
    assert_true(got.all.differing == 2 && got.all.max == 200 && got.all.samples == 600);
    rules.regions = "3x2+5+4,9x9+28+18";
    assert_int_equal(gi_compare_rules_check(&rules, &err), GI_OK);
    assert_int_equal(compare(&got, &a, &b, 1, NULL), GI_OK);
    assert_true(got.all.differing == 0 && got.all.max == 3);
    assert_true(got.all.samples == 600 - 6 - 4 && got.all.mse == 9.0 / 590);
    hidden[3 * 30 + 4] = 1;
    rules.mask = &mask;
    assert_int_equal(compare(&got, &a, &b, 2, NULL), GI_OK);
    assert_true(got.all.max == 0 && got.all.samples == 589 && got.all.ssim == 1);
    rules.mask = &small;
    assert_int_equal(compare(&got, &a, &b, 1, &err), GI_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "--ignore: 5 x 5 pixels: want 30 x 20"));
    rules.mask = NULL;
    rules.regions = "30x20+0+0";
    assert_int_equal(gi_compare_rules_check(&rules, NULL), GI_OK);
    assert_int_equal(compare(&got, &a, &b, 1, &err), GI_E_UNSUPPORTED);
    static const char *const wrong[] = {"3x2",      "3x2+1",    "0x2+1+1",         "3x2+1+1,",
                                        "3x2+-1+1", " 3x2+1+1", "3x2+1+1 4x4+1+1", "x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rules.regions = wrong[i];
        assert_int_equal(gi_compare_rules_check(&rules, &err), GI_E_USAGE);
    }
    rules = (struct gi_compare_rules){0};
}

TEST(test_picture)
{
    uint8_t x[] = {10, 20, 30, 255, 0, 0, 0, 255}, y[] = {15, 20, 200, 255, 0, 0, 0, 250};
    struct gi_image a = bytes(x, 2, 1, 4), b = bytes(y, 2, 1, 4), picture;
    assert_int_equal(gi_compare_picture(&picture, &a, &b, 2, &rules, NULL), GI_OK);
    const uint8_t want[] = {10, 0, 255, 10, 10, 10}; /* the second pixel: alpha's difference */
    assert_int_equal(picture.channels, 3);
    assert_memory_equal(picture.data, want, sizeof want);
    gi_image_free(&picture);
}

/* The 34 pairs of G. Sharma, W. Wu, E. N. Dalal: The CIEDE2000 color-difference formula, 2005,
 * table 1, with their colour differences of 4 digits after the point. */
TEST(test_ciede2000)
{
    static const struct {
        double x[3], y[3], want;
    } pairs[] = {
        {{50.0000, 2.6772, -79.7751}, {50.0000, 0.0000, -82.7485}, 2.0425},
        {{50.0000, 3.1571, -77.2803}, {50.0000, 0.0000, -82.7485}, 2.8615},
        {{50.0000, 2.8361, -74.0200}, {50.0000, 0.0000, -82.7485}, 3.4412},
        {{50.0000, -1.3802, -84.2814}, {50.0000, 0.0000, -82.7485}, 1.0000},
        {{50.0000, -1.1848, -84.8006}, {50.0000, 0.0000, -82.7485}, 1.0000},
        {{50.0000, -0.9009, -85.5211}, {50.0000, 0.0000, -82.7485}, 1.0000},
        {{50.0000, 0.0000, 0.0000}, {50.0000, -1.0000, 2.0000}, 2.3669},
        {{50.0000, -1.0000, 2.0000}, {50.0000, 0.0000, 0.0000}, 2.3669},
        {{50.0000, 2.4900, -0.0010}, {50.0000, -2.4900, 0.0009}, 7.1792},
        {{50.0000, 2.4900, -0.0010}, {50.0000, -2.4900, 0.0010}, 7.1792},
        {{50.0000, 2.4900, -0.0010}, {50.0000, -2.4900, 0.0011}, 7.2195},
        {{50.0000, 2.4900, -0.0010}, {50.0000, -2.4900, 0.0012}, 7.2195},
        {{50.0000, -0.0010, 2.4900}, {50.0000, 0.0009, -2.4900}, 4.8045},
        {{50.0000, -0.0010, 2.4900}, {50.0000, 0.0010, -2.4900}, 4.8045},
        {{50.0000, -0.0010, 2.4900}, {50.0000, 0.0011, -2.4900}, 4.7461},
        {{50.0000, 2.5000, 0.0000}, {50.0000, 0.0000, -2.5000}, 4.3065},
        {{50.0000, 2.5000, 0.0000}, {73.0000, 25.0000, -18.0000}, 27.1492},
        {{50.0000, 2.5000, 0.0000}, {61.0000, -5.0000, 29.0000}, 22.8977},
        {{50.0000, 2.5000, 0.0000}, {56.0000, -27.0000, -3.0000}, 31.9030},
        {{50.0000, 2.5000, 0.0000}, {58.0000, 24.0000, 15.0000}, 19.4535},
        {{50.0000, 2.5000, 0.0000}, {50.0000, 3.1736, 0.5854}, 1.0000},
        {{50.0000, 2.5000, 0.0000}, {50.0000, 3.2972, 0.0000}, 1.0000},
        {{50.0000, 2.5000, 0.0000}, {50.0000, 1.8634, 0.5757}, 1.0000},
        {{50.0000, 2.5000, 0.0000}, {50.0000, 3.2592, 0.3350}, 1.0000},
        {{60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}, 1.2644},
        {{63.0109, -31.0961, -5.8663}, {62.8187, -29.7946, -4.0864}, 1.2630},
        {{61.2901, 3.7196, -5.3901}, {61.4292, 2.2480, -4.9620}, 1.8731},
        {{35.0831, -44.1164, 3.7933}, {35.0232, -40.0716, 1.5901}, 1.8645},
        {{22.7233, 20.0904, -46.6940}, {23.0331, 14.9730, -42.5619}, 2.0373},
        {{36.4612, 47.8580, 18.3852}, {36.2715, 50.5065, 21.2231}, 1.4146},
        {{90.8027, -2.0831, 1.4410}, {91.1528, -1.6435, 0.0447}, 1.4441},
        {{90.9257, -0.5406, -0.9208}, {88.6381, -0.8985, -0.7239}, 1.5381},
        {{6.7747, -0.2908, -2.4247}, {5.8714, -0.0985, -2.2286}, 0.6377},
        {{2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}, 0.9082},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double got = gi_ciede2000(pairs[i].x, pairs[i].y);
        if (fabs(got - pairs[i].want) > 0.5001e-4)
            fail_msg("pair %zu: %.6f, want %.4f", i + 1, got, pairs[i].want);
        assert_true(fabs(got - gi_ciede2000(pairs[i].y, pairs[i].x)) < 1e-9);
    }
}

/* Only what --metric names is computed; windows of equal pieces count as 1 as if they were. */
TEST(test_metrics)
{
    enum { W = 700, H = 40 };
    static uint8_t x[W * H], y[W * H];
    for (int i = 0; i < W * H; i++)
        x[i] = y[i] = (uint8_t)(i * i / 7);
    y[20 * W + 300] ^= 255;
    struct gi_image a = bytes(x, W, H, 1), b = bytes(y, W, H, 1);
    struct gi_comparison all, part;
    struct gi_err err = {0};
    assert_int_equal(compare(&all, &a, &b, 2, NULL), GI_OK);
    rules.metric = "differing";
    assert_int_equal(gi_compare_rules_check(&rules, &err), GI_OK);
    assert_int_equal(compare(&part, &a, &b, 2, NULL), GI_OK);
    assert_true(part.all.differing == 1 && part.all.max == all.all.max);
    assert_true(isnan(part.all.mse) && isnan(part.all.psnr) && isnan(part.all.ssim));
    rules.metric = "ssim,ms-ssim,ciede2000";
    assert_int_equal(gi_compare_rules_check(&rules, &err), GI_OK);
    assert_int_equal(compare(&part, &a, &b, 2, NULL), GI_OK);
    assert_true(part.all.ssim == all.all.ssim && isnan(part.all.mse));
    assert_true(isnan(part.all.ms_ssim)); /* a side is too short */
    assert_true(part.all.ciede2000_max > 1 &&
                fabs(part.all.ciede2000 * W * H - part.all.ciede2000_max) < 1e-9);
    static const char *const wrong[] = {"", "psnr,", ",psnr", "psnr ssim", "PSN", "ms", "ssim,x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rules.metric = wrong[i];
        assert_int_equal(gi_compare_rules_check(&rules, &err), GI_E_USAGE);
    }
    rules = (struct gi_compare_rules){0};
}
