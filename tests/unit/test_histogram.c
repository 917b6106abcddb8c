/* The histogram's counts, percentiles and moments agree with sorting and with sums in double.
 * Sources: statistics
 * SPDX-License-Identifier: MIT */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>

#include "filters/statistics/histogram.h"
#include "filters/pipeline.h"

static uint64_t state;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static struct gi_histogram_params defaults(void)
{
    struct gi_histogram_params p = {0};
    gi_options_default(&p, gi_filter_histogram.options);
    return p;
}

static struct gi_histogram histogram_of(const struct gi_image *image,
                                        const struct gi_histogram_params *params)
{
    struct gi_queue *queue;
    struct gi_open_options options = {.threads = 3};
    struct gi_err err = {0};
    struct gi_histogram result = {0};
    assert_int_equal(gi_queue_open_alone(&queue, gi_kernels_cpu(), &options, &err), GI_OK);
    if (gi_run_one(queue, NULL, &result, image, &gi_filter_histogram, params, &err))
        fail_msg("%s", err.text);
    gi_queue_close_alone(&queue);
    return result;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sample(const struct gi_image *image, int y, size_t i)
{
    const void *row = gi_row(image, y);
    return image->type == GI_U8    ? ((const uint8_t *)row)[i]
           : image->type == GI_U16 ? ((const uint16_t *)row)[i]
                                   : (double)((const float *)row)[i];
}

/* Returns the value at this percentile of the sorted samples. */
static double quantile(const double *sorted, size_t n, double percent)
{
    double place = (double)(n - 1) * (percent / 100);
    size_t at = (size_t)place;
    return at + 1 < n ? sorted[at] + (sorted[at + 1] - sorted[at]) * (place - (double)at)
                      : sorted[n - 1];
}

static void check_channel(const struct gi_histogram *histogram, const struct gi_image *image, int c,
                          const struct gi_histogram_params *p)
{
    const struct gi_histogram_channel *got = &histogram->channels[c];
    size_t n = (size_t)image->width * (size_t)image->height;
    double *v = malloc(n * sizeof *v), sum = 0, squares = 0;
    uint64_t *bins = calloc((size_t)p->bins, sizeof *bins);
    for (size_t i = 0; i < n; i++) {
        int y = (int)(i / (size_t)image->width);
        size_t x = i % (size_t)image->width;
        v[i] = sample(image, y, x * (size_t)image->channels + (size_t)c);
        sum += v[i];
        for (int b = 0; b < p->bins; b++) {
            double w = (got->hi - got->lo) / p->bins;
            bool last = b == p->bins - 1;
            bins[b] +=
                v[i] >= got->lo + b * w && (last ? v[i] <= got->hi : v[i] < got->lo + (b + 1) * w);
        }
    }
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - sum / (double)n) * (v[i] - sum / (double)n);
    qsort(v, n, sizeof *v, by_value);
    double span = v[n - 1] - v[0], off = 1e-9 * span + 1e-12;
    assert_memory_equal(got->bins, bins, (size_t)p->bins * sizeof *bins);
    assert_int_equal(got->total, n);
    assert_true(got->min == v[0] && got->max == v[n - 1]);
    assert_true(fabs(got->mean - sum / (double)n) <= off);
    assert_true(fabs(got->stddev - sqrt(squares / (double)n)) <= 2 * off);
    assert_true(fabs(got->median - quantile(v, n, 50)) <= off);
    for (int i = 0; i < p->percentiles.n; i++)
        assert_true(fabs(got->percentiles[i] - quantile(v, n, p->percentiles.v[i])) <= off);
    free(v);
    free(bins);
}

static void test_random(void **unused)
{
    static const int sizes[][2] = {{1, 1}, {1, 17}, {31, 33}, {67, 5}, {129, 65}};
    (void)unused;
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= 4; channels++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                struct guard guard;
                guard_alloc(&guard, sizes[s][0], sizes[s][1], channels, (enum gi_type)type, 12);
                for (int y = 0; y < guard.image.height; y++)
                    for (size_t i = 0; i < gi_row_samples(&guard.image); i++) {
                        void *row = gi_row(&guard.image, y);
                        if (type == GI_U8)
                            ((uint8_t *)row)[i] = (uint8_t)next();
                        else if (type == GI_U16)
                            ((uint16_t *)row)[i] = (uint16_t)(next() % 5000);
                        else
                            ((float *)row)[i] = (float)next() / 1e9f - 1;
                    }
                struct gi_histogram_params p = defaults();
                p.bins = 1 + (int)(next() % 40);
                if (s % 2)
                    p.range = (struct gi_reals){.v = {0.25, 100.75}, .n = 2};
                struct gi_histogram histogram = histogram_of(&guard.image, &p);
                assert_int_equal(histogram.nchannels, channels);
                for (int c = 0; c < channels; c++)
                    check_channel(&histogram, &guard.image, c, &p);
                gi_filter_histogram.result_free(&histogram);
                assert_true(guard_is_whole(&guard));
                guard_free(&guard);
            }
}

/* The results equal numbers that can be worked out on paper. */
static void test_known(void **unused)
{
    (void)unused;
    uint8_t samples[] = {1, 2, 3, 4};
    struct gi_image image = {
        .data = samples, .stride = 4, .width = 4, .height = 1, .channels = 1, .type = GI_U8};
    struct gi_histogram_params p = defaults();
    struct gi_histogram h = histogram_of(&image, &p);
    const struct gi_histogram_channel *c = &h.channels[0];
    assert_string_equal(c->name, "gray");
    assert_true(c->mean == 2.5 && c->stddev == sqrt(1.25) && c->median == 2.5 && c->entropy == 2);
    assert_true(c->percentiles[2] == 1.75 && c->percentiles[3] == 3.25); /* 25 and 75 per cent */
    for (int i = 0; i < 256; i++)
        assert_int_equal(c->bins[i], i >= 1 && i <= 4);
    gi_filter_histogram.result_free(&h);
}

static void test_odd_floats(void **unused)
{
    (void)unused;
    float samples[] = {NAN, INFINITY, 1, 3, -INFINITY, -NAN, 2};
    struct gi_image image = {.data = samples,
                             .stride = sizeof samples,
                             .width = 7,
                             .height = 1,
                             .channels = 1,
                             .type = GI_F32};
    struct gi_histogram_params p = defaults();
    p.bins = 2;
    struct gi_histogram h = histogram_of(&image, &p);
    const struct gi_histogram_channel *c = &h.channels[0];
    assert_true(c->total == 5 && c->nan == 2);
    assert_true(c->lo == 1 && c->hi == 3 && c->bins[0] == 1 && c->bins[1] == 2);
    assert_true(c->min == -INFINITY && c->max == INFINITY && c->median == 2);
    assert_true(isnan(c->mean) && isnan(c->stddev) &&
                fabs(c->entropy - 0.9182958340544896) < 1e-15);
    gi_filter_histogram.result_free(&h);
    for (int i = 0; i < 7; i++)
        samples[i] = NAN;
    h = histogram_of(&image, &p);
    assert_true(h.channels[0].total == 0 && isnan(h.channels[0].median));
    gi_filter_histogram.result_free(&h);
}

static void test_bad_range(void **unused)
{
    (void)unused;
    static const struct gi_reals bad[] = {
        {.v = {1}, .n = 1}, {.v = {2, 1}, .n = 2}, {.v = {1, 1}, .n = 2}, {.v = {1, 2, 3}, .n = 3}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gi_histogram_params p = defaults();
        struct gi_err err = {0};
        p.range = bad[i];
        assert_int_equal(gi_filter_histogram.check(&p, &err), GI_E_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_odd_floats),
        cmocka_unit_test(test_bad_range),
    };
    state = case_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
