/* The measuring primitives on a CUDA device against oracles in plain loops: histogram, sums, stream
 * compaction, labels and sums of regions, over types, sizes, patterns and connectivity.
 * Sources: statistics regions
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernels/kernels.h"
#include "measure_oracle.h"

static struct gi_queue *queue; /* NULL: there is no device */

static const int sizes[][2] = {{1, 1},  {1, 17},    {17, 1},     {31, 33},
                               {67, 5}, {257, 129}, {1031, 517}, {3, 9001}};
enum { SIZES = sizeof sizes / sizeof *sizes, QUICK_SIZES = 6 };

/* Under compute-sanitizer, which is slow, GPUIMG_TEST_QUICK leaves out the larger images. */
static bool quick(void)
{
    return getenv("GPUIMG_TEST_QUICK") != NULL;
}

static struct gi_image new_image(int width, int height, int channels, enum gi_type type)
{
    struct gi_image image;
    assert_int_equal(gi_image_alloc(&image, width, height, channels, type, NULL), GI_OK);
    return image;
}

/* Returns any value of an integer type, or a float from -1 to 2, sometimes an unusual one or NaN.
 */
static double any_sample(enum gi_type type)
{
    static const double odd[] = {0.0, -0.0, 1.0, INFINITY, -INFINITY, NAN, 0.5, 1e-40};
    if (type == GI_U8)
        return draw() % 256;
    if (type == GI_U16)
        return draw() % 65536;
    return draw() % 16 ? (double)draw() / (1u << 31) * 3 - 1 : odd[draw() % 8];
}

static struct gi_image random_image(int width, int height, int channels, enum gi_type type,
                                    bool constant)
{
    struct gi_image image = new_image(width, height, channels, type);
    double v = any_sample(type);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < channels; c++)
                put(&image, x, y, c, constant ? v : any_sample(type));
    return image;
}

static struct gi_image on_device(const struct gi_image *host)
{
    struct gi_image image;
    struct gi_err err = {0};
    if (queue->k->upload(queue, &image, host, NULL, &err))
        fail_msg("upload: %s", err.text);
    return image;
}

static void check(enum gi_status status, const struct gi_err *err)
{
    if (status)
        fail_msg("%s", err->text);
}

/* ---- histogram and sums ---- */

static void check_histogram(const struct gi_image *image, const struct gi_image *device,
                            const struct gi_histogram_spec *spec)
{
    size_t n = histogram_counters(image, spec);
    uint64_t *want = malloc(n * sizeof *want), *got = malloc(n * sizeof *got);
    for (size_t i = 0; i < n; i++)
        want[i] = got[i] = i % 3; /* counts add up over bands */
    histogram_oracle(want, image, spec);
    struct gi_err err = {0};
    check(queue->k->histogram(queue, got, device, spec, &err), &err);
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("key %d, %d bins, %d x %d x %d type %d: counter %zu is %llu, want %llu",
                     spec->key, spec->nbins, image->width, image->height, image->channels,
                     image->type, i, (unsigned long long)got[i], (unsigned long long)want[i]);
    free(want);
    free(got);
}

static void check_sums(const struct gi_image *image, const struct gi_image *device, const float *lo,
                       const float *hi)
{
    struct gi_sums got[4] = {{1, 2, 3, 4}}, want[4] = {{1, 2, 3, 4}};
    struct gi_sums_range range = {lo, hi};
    sums_oracle(want, image, lo, hi);
    struct gi_err err = {0};
    check(queue->k->sums(queue, got, device, &range, &err), &err);
    assert_memory_equal(got, want, (size_t)image->channels * sizeof *got);
}

static void histograms_of(int width, int height, int channels, enum gi_type type, bool constant)
{
    static const float lo[4] = {0, -1, 0.25f, 1}, hi[4] = {1, 2, 0.5f, 1};
    struct gi_image image = random_image(width, height, channels, type, constant);
    struct gi_image device = on_device(&image);
    struct gi_histogram_spec spec = {.key = GI_KEY_VALUE, .nbins = type == GI_U8 ? 256 : 65536};
    if (type != GI_F32) {
        check_histogram(&image, &device, &spec);
    } else {
        static const struct gi_histogram_spec specs[] = {
            {GI_KEY_RANGE, 1, 0, 1, {0}, 0},
            {GI_KEY_RANGE, 7, 0.1, 0.9, {0}, 0},
            {GI_KEY_RANGE, 256, -1, 2, {0}, 0},
            {GI_KEY_RANGE, 3, 0.5, 0.5, {0}, 0},
            {GI_KEY_RANGE, 10, 1, 0, {0}, 0},
            {GI_KEY_RANGE, 5, 0, INFINITY, {0}, 0},
            {GI_KEY_FLOAT_HIGH, 65536, 0, 0, {0}, 0},
            {GI_KEY_FLOAT_LOW, 65536, 0, 0, {0xbf80}, 1},
            {GI_KEY_FLOAT_LOW, 65536, 0, 0, {0x8000, 0xff80, 0xbf80}, 3}};
        for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
            if (isfinite(specs[i].hi) && specs[i].hi >= specs[i].lo)
                check_histogram(&image, &device, &specs[i]);
        if (width == 31) {
            spec = (struct gi_histogram_spec){GI_KEY_RANGE, 65536, -1, 2, {0}, 0};
            check_histogram(&image, &device, &spec);
        }
    }
    check_sums(&image, &device, lo, hi);
    queue->k->release(queue, &device);
    gi_image_free(&image);
}

static void test_histograms(void **state)
{
    (void)state;
    if (!queue)
        skip();
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= 4; channels++)
            for (int s = 0; s < (quick() ? QUICK_SIZES : SIZES); s++)
                histograms_of(sizes[s][0], sizes[s][1], channels, (enum gi_type)type, s % 2);
}

/* ---- select, label, region_stats ---- */

/* Returns an image whose pixels exceed `above` wherever the pattern is set. */
static struct gi_image pattern_image(enum pattern pattern, int width, int height, enum gi_type type,
                                     float above)
{
    struct gi_image image = new_image(width, height, 1, type);
    double top = (double)gi_type_full_scale(type), t = (double)above;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double part = (double)draw() / (1u << 31);
            bool on = pattern_on(pattern, x, y, width, height);
            double v = type == GI_F32
                           ? (on ? t + 0.01 + part : t - part)
                           : (on ? t + 1 + floor(part * (top - t)) : floor(part * (t + 1)));
            put(&image, x, y, 0, type == GI_F32 && !on && part < 0.05 ? NAN : v);
        }
    return image;
}

static void check_select(const struct gi_predicate *host, const struct gi_predicate *device,
                         const struct gi_image *values, const struct gi_image *device_values)
{
    struct gi_pixel_list points;
    struct gi_err err = {0};
    uint64_t n = 0;
    check(queue->k->compact(queue, &points, device_values, device, &err), &err);
    for (int y = 0; y < values->height; y++)
        for (int x = 0; x < values->width; x++)
            if (is_on(host, x, y)) {
                float v = (float)get(values, x, y, 0);
                assert_true(n < points.n);
                if (points.x[n] != (uint32_t)x || points.y[n] != (uint32_t)y ||
                    memcmp(&points.value[n], &v, 4) != 0)
                    fail_msg("point %llu: %u %u %g, want %d %d %g", (unsigned long long)n,
                             points.x[n], points.y[n], (double)points.value[n], x, y, (double)v);
                n++;
            }
    assert_int_equal(points.n, n);
    gi_pixel_list_free(&points);
}

static void check_regions(const struct grid *g, uint32_t n, const struct gi_image *device_labels,
                          const struct gi_image *values, const struct gi_image *device_values)
{
    struct gi_region_sums *want = calloc(n + 1, sizeof *want), *got = calloc(n + 1, sizeof *got);
    struct gi_region_stats spec = {device_labels, n, -0.5f, 1.5f};
    struct gi_err err = {0};
    region_oracle(want, n, g, values, -0.5f, 1.5f);
    check(queue->k->region_stats(queue, got, device_values, &spec, &err), &err);
    for (uint32_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0)
            fail_msg("region %u of %u, %d x %d, values %d: area %llu (%llu) x %llu (%llu) q %llu "
                     "(%llu) straight %llu (%llu)",
                     i + 1, n, g->width, g->height, values->type, (unsigned long long)got[i].area,
                     (unsigned long long)want[i].area, (unsigned long long)got[i].sum_x,
                     (unsigned long long)want[i].sum_x, (unsigned long long)got[i].value.q,
                     (unsigned long long)want[i].value.q, (unsigned long long)got[i].straight,
                     (unsigned long long)want[i].straight);
    free(want);
    free(got);
}

static void check_labels(const struct gi_predicate *host, const struct gi_predicate *device,
                         int connectivity, const struct gi_image *values,
                         const struct gi_image *device_values)
{
    int width = host->on->width, height = host->on->height;
    uint32_t *want = malloc((size_t)width * (size_t)height * sizeof *want);
    uint32_t n = flood(want, host, connectivity);
    struct gi_image got;
    struct gi_labels labels = {.n = 77};
    struct gi_label spec = {device->above, device->invert, connectivity};
    struct gi_err err = {0};
    check(queue->k->label(queue, &labels, device->on, &spec, &err), &err);
    assert_int_equal(labels.n, n);
    struct grid grid = {want, width, height};
    check_regions(&grid, n, &labels.image, values, device_values);
    check(queue->k->download(queue, &got, &labels.image, NULL, &err), &err);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            if (get(&got, x, y, 0) != (double)at(&grid, x, y))
                fail_msg("label at %d %d of %d x %d, connectivity %d: %g, want %u", x, y, width,
                         height, connectivity, get(&got, x, y, 0), at(&grid, x, y));
    gi_image_free(&got);
    free(want);
}

static void regions_of(enum pattern pattern, int width, int height, enum gi_type type,
                       enum gi_type values_type, bool invert)
{
    float above = type == GI_U8 ? 127 : type == GI_U16 ? 20000.5f : 0.25f;
    struct gi_image on = pattern_image(pattern, width, height, type, above);
    struct gi_image values = random_image(width, height, 1, values_type, false);
    struct gi_image device_on = on_device(&on), device_values = on_device(&values);
    struct gi_predicate host = {&on, above, invert}, device = {&device_on, above, invert};
    check_select(&host, &device, &values, &device_values);
    check_labels(&host, &device, 4, &values, &device_values);
    check_labels(&host, &device, 8, &values, &device_values);
    queue->k->release(queue, &device_on);
    queue->k->release(queue, &device_values);
    gi_image_free(&on);
    gi_image_free(&values);
}

static void test_regions(void **state)
{
    (void)state;
    if (!queue)
        skip();
    int turn = 0;
    for (int s = 0; s < (quick() ? QUICK_SIZES : SIZES); s++)
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            for (int type = GI_U8; type <= GI_F32; type++, turn++)
                regions_of((enum pattern)pattern, sizes[s][0], sizes[s][1], (enum gi_type)type,
                           (enum gi_type)((type + turn / 3) % 3), turn % 4 == 3);
}

/* More components than 16 bits count, and more of them in a strip than a block's table holds. */
static void test_many_regions(void **state)
{
    (void)state;
    if (!queue || quick())
        skip();
    regions_of(CHECKERS, 1500, 1300, GI_U8, GI_U16, false);
    regions_of(NOISE_41, 2000, 1111, GI_U8, GI_U8, false);
}

static int open_device(void **state)
{
    (void)state;
    const struct gi_kernels *k = gi_kernels_cuda();
    struct gi_device_info info;
    struct gi_err err = {0};
    struct gi_open_options options = {.threads = 2};
    if (!k)
        printf("skipped: a build without CUDA\n");
    else if (k->probe(&info, 1, &err) < 1)
        printf("skipped: no CUDA device here %s\n", err.text);
    else if (gi_queue_open_alone(&queue, k, &options, &err))
        fail_msg("%s", err.text);
    printf("seed %llu\n", (unsigned long long)seed);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    if (queue)
        gi_queue_close_alone(&queue);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histograms),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_many_regions),
    };
    return cmocka_run_group_tests_name("cuda_measure", tests, open_device, close_device);
}
