/* The CPU's measuring primitives equal their definitions at every instruction level and several
 * numbers of threads, on images whose last row ends at an inaccessible page.
 * Sources: statistics regions
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "guard.h"
#include "measure_oracle.h"

enum { BANDED_WIDTH = 391, BANDED_HEIGHT = 203, SIZES = 7, LEVELS = 4, THREAD_COUNTS = 4 };

/* The last one is cut into bands for each number of threads. */
static const int sizes[SIZES][2] = {
    {1, 1}, {1, 17}, {17, 1}, {31, 33}, {67, 5}, {257, 129}, {BANDED_WIDTH, BANDED_HEIGHT}};
static const char *const levels[LEVELS] = {"scalar", "avx2", "avx512", "neon"};
static const int thread_counts[THREAD_COUNTS] = {1, 2, 3, 7};

static struct gi_queue *contexts[LEVELS * THREAD_COUNTS];
static int ncontexts;

static int open_all(void **state)
{
    (void)state;
    printf("seed %llu\n", (unsigned long long)seed);
    for (int l = 0; l < LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(levels[l]);
        if (!k)
            printf("not tested: this machine has no %s\n", levels[l]);
        for (int t = 0; k && t < THREAD_COUNTS; t++)
            if (gi_queue_open_alone(&contexts[ncontexts++], k,
                                    &(struct gi_open_options){.threads = thread_counts[t]}, NULL))
                return -1;
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    while (ncontexts > 0) {
        struct gi_queue *queue = contexts[--ncontexts];
        gi_queue_close_alone(&queue);
    }
    return 0;
}

static double any_sample(enum gi_type type)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1.0f, 0.5f, 1e-40f};
    if (type != GI_F32)
        return draw() & (type == GI_U8 ? 255 : 65535);
    return draw() % 8 == 0 ? (double)odd[draw() % 8]
                           : (double)((float)(draw() % 65536) / 32768.0f - 0.5f);
}

static void fill(struct gi_image *image, bool constant)
{
    double v = any_sample(image->type);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++)
                put(image, x, y, c, constant ? v : any_sample(image->type));
}

/* Compares `counts` with the oracle's; both start from 5. */
static void check_histogram(const struct guard *g, const struct gi_histogram_spec *spec)
{
    const struct gi_image *image = &g->image;
    size_t n = histogram_counters(image, spec);
    uint64_t *want = malloc(n * sizeof *want), *got = malloc(n * sizeof *got);
    for (size_t i = 0; i < n; i++)
        want[i] = 5;
    histogram_oracle(want, image, spec);
    for (int i = 0; i < ncontexts; i++) {
        struct gi_err err = {0};
        for (size_t j = 0; j < n; j++)
            got[j] = 5;
        assert_int_equal(contexts[i]->k->histogram(contexts[i], got, image, spec, &err), GI_OK);
        assert_memory_equal(got, want, n * sizeof *want);
    }
    free(want);
    free(got);
}

static void histograms_of(const struct guard *g)
{
    if (g->image.type != GI_F32) {
        int nbins = g->image.type == GI_U8 ? 256 : 65536;
        check_histogram(g, &(struct gi_histogram_spec){.key = GI_KEY_VALUE, .nbins = nbins});
        return;
    }
    static const struct gi_histogram_spec specs[] = {
        {.key = GI_KEY_RANGE, .nbins = 1, .lo = 0, .hi = 1},
        {.key = GI_KEY_RANGE, .nbins = 7, .lo = -0.25, .hi = 1.1},
        {.key = GI_KEY_RANGE, .nbins = 256, .lo = 0, .hi = 1},
        {.key = GI_KEY_RANGE, .nbins = 3, .lo = 0.5, .hi = 0.5},
        {.key = GI_KEY_RANGE, .nbins = 3, .lo = 1, .hi = 0},
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        check_histogram(g, &specs[i]);
}

static void test_histogram(void **state)
{
    (void)state;
    for (int i = 0; i < SIZES; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int type = GI_U8; type <= GI_F32; type++) {
                struct guard g;
                guard_alloc(&g, sizes[i][0], sizes[i][1], channels, (enum gi_type)type, 12);
                fill(&g.image, (i + channels) % 5 == 0);
                histograms_of(&g);
                guard_check(&g);
                guard_free(&g);
            }
}

/* Pieces of equal samples are counted at once: whole pieces, pieces broken at one place, and pieces
 * broken repeatedly. */
static void test_histogram_of_flat_pieces(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels++)
        for (int width = 20; width <= 220; width += width < 110 ? 45 : 110) {
            struct guard g;
            guard_alloc(&g, width, 230, channels, GI_U8, 12);
            for (int y = 0; y < g.image.height; y++)
                for (int x = 0; x < width; x++)
                    for (int c = 0; c < channels; c++)
                        put(&g.image, x, y, c, 60 * c + (x == y ? 200 : x > y + 100 ? 3 : 7));
            histograms_of(&g);
            guard_check(&g);
            guard_free(&g);
        }
}

/* NaN's key follows infinity's, and 1500 bins use the large kind of table. */
static void test_float_keys(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels++) {
        struct guard g;
        guard_alloc(&g, 61, 43, channels, GI_F32, 4);
        fill(&g.image, false);
        check_histogram(&g, &(struct gi_histogram_spec){.key = GI_KEY_FLOAT_HIGH, .nbins = 65536});
        check_histogram(
            &g, &(struct gi_histogram_spec){
                    .key = GI_KEY_FLOAT_LOW, .nbins = 65536, .prefixes = {0xff80}, .nprefixes = 1});
        check_histogram(&g, &(struct gi_histogram_spec){.key = GI_KEY_FLOAT_LOW,
                                                        .nbins = 65536,
                                                        .prefixes = {0xff81, 0xbf80, 0, 0xff80, 7},
                                                        .nprefixes = 5});
        check_histogram(&g, &(struct gi_histogram_spec){
                                .key = GI_KEY_RANGE, .nbins = 1500, .lo = -0.3, .hi = 1.2});
        guard_free(&g);
    }
}

/* Every boundary of the bins and the floats next to it; also bins narrower than the spacing of
 * floats, so that boundaries coincide. */
static void test_range_edges(void **state)
{
    (void)state;
    static const double ranges[][2] = {
        {0, 1}, {0.1, 0.7}, {-3, 1e6}, {1e16, 1e16 + 64}, {0, 1e-44}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int nbins = 1; nbins <= 200; nbins += 33) {
            struct guard g;
            struct gi_histogram_spec spec = {GI_KEY_RANGE, nbins, ranges[r][0],
                                             ranges[r][1], {0},   0};
            guard_alloc(&g, 3 * (nbins + 1), 1, 1, GI_F32, 0);
            for (int i = 0; i <= nbins; i++) {
                float e = (float)(spec.lo + i * ((spec.hi - spec.lo) / nbins));
                put(&g.image, 3 * i, 0, 0, (double)nextafterf(e, -INFINITY));
                put(&g.image, 3 * i + 1, 0, 0, (double)e);
                put(&g.image, 3 * i + 2, 0, 0, (double)nextafterf(e, INFINITY));
            }
            check_histogram(&g, &spec);
            guard_free(&g);
        }
}

static void test_sums(void **state)
{
    (void)state;
    static const float lo[] = {0, -0.5f, 0.25f, 0.5f}, hi[] = {1, 1.5f, 0.75f, 0.5f};
    struct gi_sums_range range = {lo, hi};
    for (int i = 0; i < SIZES; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int type = GI_U8; type <= GI_F32; type++) {
                struct guard g;
                guard_alloc(&g, sizes[i][0], sizes[i][1], channels, (enum gi_type)type, 8);
                fill(&g.image, false);
                struct gi_sums want[4] = {{1, 2, 3, 4}};
                sums_oracle(want, &g.image, lo, hi);
                for (int k = 0; k < ncontexts; k++) {
                    struct gi_sums got[4] = {{1, 2, 3, 4}};
                    assert_int_equal(contexts[k]->k->sums(contexts[k], got, &g.image, &range, NULL),
                                     GI_OK);
                    assert_memory_equal(got, want, sizeof want);
                }
                guard_free(&g);
            }
}

/* A row so wide that 32-bit sums and 16-bit counters would overflow. */
static void test_full_scale_row(void **state)
{
    (void)state;
    const uint64_t n = 3300001;
    for (int type = GI_U8; type <= GI_U16; type++) {
        struct gi_image image;
        uint64_t most = type == GI_U8 ? 255 : 65535;
        assert_int_equal(gi_image_alloc(&image, (int)n, 1, 1, (enum gi_type)type, NULL), GI_OK);
        memset(image.data, 0xff, gi_row_nbytes(&image));
        for (int k = 0; k < ncontexts; k++) {
            struct gi_sums got = {0};
            struct gi_sums_range none = {0};
            assert_int_equal(contexts[k]->k->sums(contexts[k], &got, &image, &none, NULL), GI_OK);
            assert_true(got.n == n && got.q == n * most && got.q2_low == n * most * most);
            assert_true(got.q2_high == 0);
            uint64_t *counts = calloc(most + 1, sizeof *counts);
            struct gi_histogram_spec spec = {.key = GI_KEY_VALUE, .nbins = (int)most + 1};
            assert_int_equal(contexts[k]->k->histogram(contexts[k], counts, &image, &spec, NULL),
                             GI_OK);
            assert_true(counts[most] == n && counts[0] == 0);
            free(counts);
        }
        gi_image_free(&image);
    }
}

static void check_select(const struct gi_predicate *p, const struct gi_image *values)
{
    for (int k = 0; k < ncontexts; k++) {
        struct gi_pixel_list points;
        uint64_t n = 0;
        assert_int_equal(contexts[k]->k->compact(contexts[k], &points, values, p, NULL), GI_OK);
        for (int y = 0; y < values->height; y++)
            for (int x = 0; x < values->width; x++) {
                if (!is_on(p, x, y))
                    continue;
                assert_true(n < points.n);
                assert_int_equal(points.x[n], x);
                assert_int_equal(points.y[n], y);
                float want = (float)get(values, x, y, 0);
                assert_memory_equal(&points.value[n++], &want, sizeof want);
            }
        assert_int_equal(points.n, n);
        gi_pixel_list_free(&points);
    }
}

static void test_select(void **state)
{
    (void)state;
    static const float above[] = {-1,   0,        99.5f,     254, 255, 65535,
                                  1e9f, INFINITY, -INFINITY, NAN, 0.5f};
    for (int i = 0; i < SIZES; i++)
        for (int type = GI_U8; type <= GI_F32; type++) {
            struct guard on, values;
            int width = sizes[i][0], height = sizes[i][1];
            guard_alloc(&on, width, height, 1, (enum gi_type)type, 4);
            guard_alloc(&values, width, height, 1, (enum gi_type)((type + 1) % 3), 0);
            fill(&on.image, false);
            fill(&values.image, false);
            for (size_t a = 0; a < sizeof above / sizeof *above; a++)
                for (int invert = 0; invert < 2; invert++)
                    check_select(&(struct gi_predicate){&on.image, above[a], invert},
                                 &values.image);
            guard_free(&on);
            guard_free(&values);
        }
}

static void check_stats(struct gi_queue *queue, const struct gi_image *labels,
                        const struct gi_image *values, const struct gi_region_sums *want,
                        uint32_t n)
{
    struct gi_region_sums *got = malloc((n + 1) * sizeof *got);
    struct gi_region_stats spec = {labels, n, 0.0f, 1.0f};
    memset(got, 0xee, n * sizeof *got);
    assert_int_equal(queue->k->region_stats(queue, got, values, &spec, NULL), GI_OK);
    for (uint32_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0)
            fail_msg("%d x %d: region %u of %u differs", labels->width, labels->height, i + 1, n);
    free(got);
}

static void check_regions(const struct gi_predicate *p, const struct gi_image *values,
                          int connectivity)
{
    int width = p->on->width, height = p->on->height;
    size_t pixels = (size_t)width * (size_t)height;
    uint32_t *want = malloc(pixels * sizeof *want), n = flood(want, p, connectivity);
    struct gi_region_sums *sums = malloc((n + 1) * sizeof *sums);
    region_oracle(sums, n, &(struct grid){want, width, height}, values, 0.0f, 1.0f);
    for (int k = 0; k < ncontexts; k++) {
        struct gi_labels labels;
        struct gi_label spec = {p->above, p->invert, connectivity};
        struct gi_queue *queue = contexts[k];
        assert_int_equal(queue->k->label(queue, &labels, p->on, &spec, NULL), GI_OK);
        assert_int_equal(labels.n, n);
        for (int y = 0; y < height; y++)
            assert_memory_equal(gi_row(&labels.image, y), want + (size_t)y * (size_t)width,
                                (size_t)width * sizeof *want);
        check_stats(queue, &labels.image, values, sums, n);
        queue->k->release(queue, &labels.image);
    }
    free(want);
    free(sums);
}

static void test_regions(void **state)
{
    (void)state;
    for (int i = 0; i < SIZES; i++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            struct guard on, values;
            int width = sizes[i][0], height = sizes[i][1], type = (i + pattern) % 3;
            guard_alloc(&on, width, height, 1, (enum gi_type)type, 4);
            guard_alloc(&values, width, height, 1, (enum gi_type)((type + i) % 3), 8);
            fill(&values.image, false);
            for (int y = 0; y < height; y++)
                for (int x = 0; x < width; x++)
                    put(&on.image, x, y, 0, pattern_on((enum pattern)pattern, x, y, width, height));
            for (int connectivity = 4; connectivity <= 8; connectivity += 4)
                for (int invert = 0; invert < 2; invert++)
                    check_regions(&(struct gi_predicate){&on.image, 0.5f, invert}, &values.image,
                                  connectivity);
            guard_check(&on);
            guard_check(&values);
            guard_free(&on);
            guard_free(&values);
        }
}

/* Labels that no labelling produces: unordered, scattered, with gaps, and adjacent to each other.
 */
static void test_any_labels(void **state)
{
    (void)state;
    enum { LABELS = 300 };
    struct guard labels, values;
    static uint32_t flat[BANDED_WIDTH * BANDED_HEIGHT];
    struct gi_region_sums want[LABELS];
    guard_alloc(&labels, BANDED_WIDTH, BANDED_HEIGHT, 1, GI_U32, 4);
    guard_alloc(&values, BANDED_WIDTH, BANDED_HEIGHT, 1, GI_F32, 0);
    fill(&values.image, false);
    for (int y = 0; y < BANDED_HEIGHT; y++)
        for (int x = 0; x < BANDED_WIDTH; x++) {
            uint32_t l = draw() % 4 ? (uint32_t)(x / 9 + y / 7) % 40 : draw() % (LABELS - 3);
            flat[y * BANDED_WIDTH + x] = ((uint32_t *)gi_row(&labels.image, y))[x] = l;
        }
    region_oracle(want, LABELS, &(struct grid){flat, BANDED_WIDTH, BANDED_HEIGHT}, &values.image,
                  0.0f, 1.0f);
    for (int k = 0; k < ncontexts; k++)
        check_stats(contexts[k], &labels.image, &values.image, want, LABELS);
    guard_check(&labels);
    guard_free(&labels);
    guard_free(&values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histogram),  cmocka_unit_test(test_histogram_of_flat_pieces),
        cmocka_unit_test(test_float_keys), cmocka_unit_test(test_range_edges),
        cmocka_unit_test(test_sums),       cmocka_unit_test(test_full_scale_row),
        cmocka_unit_test(test_select),     cmocka_unit_test(test_regions),
        cmocka_unit_test(test_any_labels),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
