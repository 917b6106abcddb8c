/* The operation threshold, by a level or an automatic one, on floats, and on colour by its luma or
 * by channel. Sources: filters/tone/threshold.c filters/tone/threshold_level*
 * filters/tone/auto_threshold* filters/tone/luma* SPDX-License-Identifier: MIT */
#include "filter_cases.h"
#include "definitions.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"

/* OpenCV and scikit-image give the same thresholds for these counts. */
TEST(test_otsu)
{
    uint64_t counts[256] = {0};
    const struct gi_bins bins = {counts, 256, 0, 1, 0};
    assert_true(gi_auto_threshold(GI_THRESHOLD_OTSU, &bins) == 0);
    counts[40] = 9;
    assert_true(gi_auto_threshold(GI_THRESHOLD_OTSU, &bins) == 40);
    /* All levels between both groups are equally good, and the lowest level is taken. */
    counts[200] = 9;
    assert_true(gi_auto_threshold(GI_THRESHOLD_OTSU, &bins) == 40);
    counts[45] = 3;
    counts[190] = 1;
    assert_true(gi_auto_threshold(GI_THRESHOLD_OTSU, &bins) == 45);
}

/* No counts, one value, and fewer values than classes. tests/filters/threshold_oracle.py compares
 * all methods with scikit-image. */
TEST(test_few_values)
{
    uint64_t counts[256] = {0};
    const struct gi_bins bins = {counts, 256, -1, 0.5, 0.25};
    double levels[GI_THRESHOLD_CLASSES_MAX];
    for (int n = 0; n < 3; n++) {
        if (n)
            counts[10 * n] = (uint64_t)n;
        for (int m = 0; m < GI_THRESHOLD_METHODS && n < 2; m++)
            assert_true(gi_auto_threshold((enum gi_threshold_method)m, &bins) == (n ? 4 : 0));
        gi_multi_otsu(levels, 4, &bins);
        assert_true(levels[0] == (n ? 4 : 0));
        assert_true(levels[1] == (n == 2 ? 9 : levels[0]) && levels[2] == levels[1]);
    }
    /* One peak: the method minimum finds nothing. */
    for (int i = 0; i < 256; i++)
        counts[i] = (uint64_t)(i < 128 ? i + 1 : 256 - i);
    assert_true(isnan(gi_auto_threshold(GI_THRESHOLD_MINIMUM, &bins)));
}

/* Several levels against all divisions of a short histogram into four classes. */
TEST(test_multi_otsu)
{
    uint64_t counts[24];
    uint32_t seed = 11;
    const struct gi_bins bins = {counts, 24, 0, 1, 0};
    for (int round = 0; round < 20; round++) {
        double best = -1, want[3] = {0}, got[3];
        for (int i = 0; i < 24; i++)
            counts[i] = (seed = seed * 1664525 + 1013904223) >> 28;
        for (int t = 0; t < 24 * 24 * 24; t++) {
            const int ends[5] = {-1, t / 576, t / 24 % 24, t % 24, 23};
            double sum = 0;
            for (int c = 0; c < 4; c++) {
                double n = 0, v = 0;
                for (int i = ends[c] + 1; i <= ends[c + 1]; i++) {
                    n += (double)counts[i];
                    v += (double)counts[i] * i;
                }
                sum += n > 0 ? v * v / n : -1e9;
            }
            if (sum > best * (1 + 1e-12)) {
                best = sum;
                for (int i = 0; i < 3; i++)
                    want[i] = ends[i + 1];
            }
        }
        gi_multi_otsu(got, 4, &bins);
        for (int i = 0; i < 3; i++)
            assert_true(got[i] == want[i]);
    }
}

TEST(test_threshold)
{
    static const float pixels[8] = {-1, 0, 0.25f, 0.5f, 0.5000001f, NAN, INFINITY, 2};
    static const char *const half[] = {"threshold=50%", NULL};
    static const char *const not_half[] = {"threshold=0.5", "invert", NULL};
    const struct gi_filter *filter = gi_filter_find("threshold");
    struct gi_queue *queue = case_open(gi_kernels_cpu(), 1);
    struct gi_image src = {.data = (void *)(uintptr_t)pixels,
                           .stride = sizeof pixels,
                           .width = 8,
                           .height = 1,
                           .channels = 1,
                           .type = GI_F32},
                    got;
    for (int invert = 0; invert < 2; invert++) {
        void *params = case_params(filter, invert ? not_half : half);
        assert_int_equal(gi_run_one(queue, &got, NULL, &src, filter, params, NULL), GI_OK);
        for (int x = 0; x < 8; x++)
            assert_true(exact_sample(&got, 0, x, 0) == (((double)pixels[x] > 0.5) != invert));
        gi_image_free(&got);
        free(params);
    }
    /* Otsu's method over the range -1 to 2. NaN and infinity don't count. */
    void *params = case_params(filter, NULL);
    const struct gi_level level = {.kind = GI_LEVEL_AUTO};
    double otsu;
    float lo, hi;
    assert_int_equal(gi_level_find(queue, &otsu, &level, &lo, &hi, &src, NULL), GI_OK);
    assert_true(otsu > 0.5 && otsu < 2 && lo == -1 && hi == 2);
    assert_int_equal(gi_run_one(queue, &got, NULL, &src, filter, params, NULL), GI_OK);
    assert_true(exact_sample(&got, 0, 3, 0) == 0 && exact_sample(&got, 0, 7, 0) == 1);
    gi_image_free(&got);
    free(params);
    gi_queue_close_alone(&queue);
}

/* A colour image is thresholded per channel or by its luma. The test computes the luma in integers
 * of 1/10000. */
TEST(test_threshold_color)
{
    static const char *const luma[] = {"threshold=100", NULL};
    static const char *const apart[] = {"threshold=100", "per-channel", NULL};
    uint8_t pixels[64][4];
    uint32_t seed = 5;
    for (int i = 0; i < 256; i++)
        pixels[i / 4][i % 4] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    const struct gi_filter *filter = gi_filter_find("threshold");
    struct gi_queue *queue = case_open(gi_kernels_cpu(), 1);
    struct gi_image src = {.data = pixels,
                           .stride = 64,
                           .width = 16,
                           .height = 4,
                           .channels = 4,
                           .type = GI_U8},
                    got;
    void *params = case_params(filter, luma);
    assert_int_equal(gi_run_one(queue, &got, NULL, &src, filter, params, NULL), GI_OK);
    assert_int_equal(got.channels, 1);
    for (int i = 0; i < 64; i++) {
        const uint8_t *p = pixels[i];
        int sum = 2126 * p[0] + 7152 * p[1] + 722 * p[2]; /* luma rounds to more than 100 */
        assert_true(exact_sample(&got, i / 16, i % 16, 0) == (sum > 1005000 ? 255 : 0));
    }
    gi_image_free(&got);
    free(params);
    params = case_params(filter, apart);
    assert_int_equal(gi_run_one(queue, &got, NULL, &src, filter, params, NULL), GI_OK);
    assert_int_equal(got.channels, 4);
    for (int i = 0; i < 256; i++)
        assert_true(exact_sample(&got, i / 64, i / 4 % 16, i % 4) == (i % 4 == 3 ? pixels[i / 4][3]
                                                                      : pixels[i / 4][i % 4] > 100
                                                                          ? 255
                                                                          : 0));
    gi_image_free(&got);
    free(params);
    gi_queue_close_alone(&queue);
}
