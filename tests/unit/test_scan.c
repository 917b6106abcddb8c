/* Prefix sums along rows and columns on every level of the CPU and on CUDA, against a definition in
 * plain loops.
 * Sources: statistics
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/statistics.h"

static uint64_t seed = 20261123;

/* Returns a sample as an integer; floats of these images times 2^40 are integers or not finite. */
static int64_t value(double v, const struct gi_scan *spec, enum gi_type type)
{
    if (type == GI_F32)
        return isfinite(v) ? (int64_t)nearbyint(ldexp(spec->squares ? v * v : v, spec->shift)) : 0;
    return (int64_t)(spec->squares ? v * v : v);
}

/* Computes sums[y * n + i] for the n samples of a row, each from its neighbours. */
static void define(int64_t *sums, const struct gi_image *src, const struct gi_scan *spec)
{
    size_t n = gi_row_samples(src), c = (size_t)src->channels;
    for (size_t y = 0; y < (size_t)src->height; y++)
        for (size_t i = 0; i < n; i++) {
            bool left = i >= c && spec->along != GI_SCAN_COLUMNS;
            bool up = y > 0 && spec->along != GI_SCAN_ROWS;
            int64_t *at = sums + y * n + i;
            *at = value(gi_sample(gi_row(src, (int)y), i, src->type), spec, src->type);
            *at += left ? at[-(ptrdiff_t)c] : 0;
            *at += up ? at[-(ptrdiff_t)n] : 0;
            *at -= left && up ? at[-(ptrdiff_t)n - (ptrdiff_t)c] : 0;
        }
}

static void compare(const struct gi_image *got, const int64_t *want, const struct gi_image *src,
                    const struct gi_scan *spec, const char *what)
{
    size_t n = gi_row_samples(src);
    for (int y = 0; y < src->height; y++)
        for (size_t i = 0; i < n; i++) {
            const void *row = gi_row(got, y);
            int64_t w = want[(size_t)y * n + i];
            bool same = src->type == GI_F32
                            ? ((const double *)row)[i] == ldexp((double)w, -spec->shift)
                        : spec->words == 1 ? ((const uint32_t *)row)[i] == (uint32_t)w
                                           : ((const uint64_t *)row)[i] == (uint64_t)w;
            if (!same)
                fail_msg(
                    "%s: type %d, %d x %d x %d, along %d, squares %d, words %d: row %d sample %zu",
                    what, (int)src->type, src->width, src->height, src->channels, (int)spec->along,
                    spec->squares, spec->words, y, i);
        }
}

static void check_way(struct gi_queue *queue, int way, const struct gi_image *src,
                      const int64_t *want, const struct gi_image *host, const struct gi_scan *spec)
{
    struct gi_image dst, back;
    struct gi_err err = {0};
    assert_int_equal(queue->k->alloc(queue, &dst, src->width * spec->words, src->height,
                                     src->channels, GI_U32, &err),
                     GI_OK);
    enum gi_status status = queue->k->scan(queue, &dst, src, spec, &err);
    if (!walk_ran(queue, "scan", way, status, &err)) {
        queue->k->release(queue, &dst);
        return;
    }
    assert_int_equal(queue->k->download(queue, &back, &dst, NULL, &err), GI_OK);
    compare(&back, want, host, spec, walk_what(queue, "scan", way));
    gi_image_free(&back);
}

static void check(const struct gi_image *host, const struct gi_scan *spec)
{
    struct gi_image src;
    int64_t *want = calloc((size_t)host->height * gi_row_samples(host), sizeof *want);
    define(want, host, spec);
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        if (!queue)
            continue;
        assert_int_equal(queue->k->upload(queue, &src, host, NULL, NULL), GI_OK);
        for (int i = -1; walk_force(queue, "scan", i); i++)
            check_way(queue, i, &src, want, host, spec);
        queue->k->release(queue, &src);
    }
    free(want);
}

static void fill(struct gi_image *image)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f};
    case_fill(image, &seed);
    for (int y = 0; y < image->height && image->type == GI_F32; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            float *at = (float *)gi_row(image, y) + i;
            *at = case_between(&seed, 0, 50) ? 2 * *at - 1 : odd[case_between(&seed, 0, 3)];
        }
}

static void test_shapes(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1},  {1, 17},    {17, 1},   {31, 33},
                                   {67, 5}, {257, 129}, {1300, 3}, {2, 2100}};
    int n = getenv("GPUIMG_TEST_QUICK") ? 5 : 8;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < n; i++)
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
                for (int mode = 0; mode < 12; mode++) {
                    struct gi_scan spec = {(enum gi_scan_along)(mode % 3), mode / 3 % 2,
                                           type == GI_F32 ? 2 : mode / 6 + 1, 40};
                    struct guard g;
                    if (type == GI_F32 && mode >= 6)
                        continue;
                    guard_alloc(&g, sizes[i][0], sizes[i][1], channels, (enum gi_type)type, 16);
                    fill(&g.image);
                    check(&g.image, &spec);
                    guard_check(&g);
                    guard_free(&g);
                }
}

/* Sums beyond 32 bits, along one row and down the columns. */
static void test_full(void **state)
{
    (void)state;
    for (int along = 0; along < 3; along++) {
        struct guard g;
        struct gi_scan spec = {(enum gi_scan_along)along, true, 2, 0};
        guard_alloc(&g, 300, 300, 1, GI_U16, 0);
        for (int y = 0; y < 300; y++)
            memset(gi_row(&g.image, y), 0xff, 600);
        check(&g.image, &spec);
        guard_free(&g);
    }
}

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_scan spec = {.words = 1};
    return queue->k->scan(queue, dst, labels, &spec, err);
}

static void test_types(void **state)
{
    (void)state;
    walk_refuses("scan", of_labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_types),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
