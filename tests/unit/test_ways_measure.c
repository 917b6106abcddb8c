/* Every way of the measuring primitives gives the result of oracles in plain loops.
 * Sources: statistics regions
 * SPDX-License-Identifier: MIT */
#include "guard.h"
#include "measure_oracle.h"
#include "ways_walk.h"

/* The last one is large enough for ways that need many samples. */
static const int sizes[][2] = {{1, 1},  {1, 17},    {17, 1},    {31, 33},
                               {67, 5}, {257, 129}, {1537, 517}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static double any_sample(enum gi_type type)
{
    static const double odd[] = {0.0, -0.0, 1.0, INFINITY, -INFINITY, NAN, 0.5, 1e-40};
    if (type != GI_F32)
        return draw() & (type == GI_U8 ? 255 : 65535);
    return draw() % 16 ? (double)draw() / (1u << 31) * 3 - 1 : odd[draw() % 8];
}

static void fill(struct gi_image *image, bool constant)
{
    double v = any_sample(image->type);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++)
                put(image, x, y, c, constant ? v : any_sample(image->type));
}

static struct gi_image upload(struct gi_queue *queue, const struct gi_image *host)
{
    struct gi_image image;
    assert_int_equal(queue->k->upload(queue, &image, host, NULL, NULL), GI_OK);
    return image;
}

/* ---- histogram and sums ---- */

static void histogram_by(struct gi_queue *queue, int way, const struct gi_image *src,
                         const struct gi_histogram_spec *spec, const uint64_t *want, size_t n)
{
    struct gi_err err = {0};
    uint64_t *got = malloc(n * sizeof *got);
    for (size_t i = 0; i < n; i++)
        got[i] = i % 3;
    enum gi_status status = queue->k->histogram(queue, got, src, spec, &err);
    if (walk_ran(queue, "histogram", way, status, &err))
        for (size_t i = 0; i < n; i++)
            if (got[i] != want[i])
                fail_msg("%s: %d x %d x %d, type %d, key %d, %d bins: counter %zu differs",
                         walk_what(queue, "histogram", way), src->width, src->height, src->channels,
                         (int)src->type, (int)spec->key, spec->nbins, i);
    free(got);
}

static void check_histogram(const struct gi_image *host, const struct gi_histogram_spec *spec)
{
    size_t n = histogram_counters(host, spec);
    uint64_t *want = malloc(n * sizeof *want);
    for (size_t i = 0; i < n; i++)
        want[i] = i % 3; /* counts are added over bands */
    histogram_oracle(want, host, spec);
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        if (!queue)
            continue;
        struct gi_image src = upload(queue, host);
        for (int i = -1; walk_force(queue, "histogram", i); i++)
            histogram_by(queue, i, &src, spec, want, n);
        queue->k->release(queue, &src);
    }
    free(want);
}

static void histograms_of(const struct gi_image *host)
{
    static const struct gi_histogram_spec floats[] = {
        {GI_KEY_RANGE, 1, 0, 1, {0}, 0},
        {GI_KEY_RANGE, 7, -0.25, 1.1, {0}, 0},
        {GI_KEY_RANGE, 256, 0, 1, {0}, 0},
        {GI_KEY_RANGE, 3, 0.5, 0.5, {0}, 0},
        {GI_KEY_FLOAT_HIGH, 65536, 0, 0, {0}, 0},
        {GI_KEY_FLOAT_LOW, 65536, 0, 0, {0x8000, 0xff80, 0xbf80}, 3},
    };
    struct gi_histogram_spec value = {.key = GI_KEY_VALUE,
                                      .nbins = host->type == GI_U8 ? 256 : 65536};
    if (host->type != GI_F32)
        check_histogram(host, &value);
    for (size_t i = 0; host->type == GI_F32 && i < sizeof floats / sizeof *floats; i++)
        if (host->width < 1000 || floats[i].nbins == 7)
            check_histogram(host, &floats[i]);
    if (host->type == GI_F32 && host->width == 31)
        check_histogram(host, &(struct gi_histogram_spec){GI_KEY_RANGE, 65536, -1, 2, {0}, 0});
}

static void sums_by(struct gi_queue *queue, int way, const struct gi_image *src, const float *lo,
                    const float *hi, const struct gi_sums *want)
{
    struct gi_sums got[GI_MAX_CHANNELS] = {{1, 2, 3, 4}};
    struct gi_sums_range range = {lo, hi};
    struct gi_err err = {0};
    enum gi_status status = queue->k->sums(queue, got, src, &range, &err);
    if (walk_ran(queue, "sums", way, status, &err) && memcmp(got, want, sizeof got))
        fail_msg("%s: %d x %d x %d, type %d", walk_what(queue, "sums", way), src->width,
                 src->height, src->channels, (int)src->type);
}

static void sums_of(const struct gi_image *host)
{
    static const float lo[] = {0, -0.5f, 0.25f, 0.5f}, hi[] = {1, 1.5f, 0.75f, 0.5f};
    struct gi_sums want[GI_MAX_CHANNELS] = {{1, 2, 3, 4}};
    sums_oracle(want, host, lo, hi);
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        if (!queue)
            continue;
        struct gi_image src = upload(queue, host);
        for (int i = -1; walk_force(queue, "sums", i); i++)
            sums_by(queue, i, &src, lo, hi, want);
        queue->k->release(queue, &src);
    }
}

static void counts(void **state)
{
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < SIZES; i++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int type = GI_U8; type <= GI_F32; type++)
                for (int constant = 0; constant < 2; constant++) {
                    struct guard g;
                    guard_alloc(&g, sizes[i][0], sizes[i][1], channels, (enum gi_type)type, 12);
                    fill(&g.image, constant);
                    histograms_of(&g.image);
                    sums_of(&g.image);
                    guard_check(&g);
                    guard_free(&g);
                }
}

/* ---- select, label, region_stats ---- */

static void select_by(struct gi_queue *queue, int way, const struct gi_predicate *on_device,
                      const struct gi_image *values, const struct gi_predicate *p,
                      const struct gi_image *host)
{
    struct gi_pixel_list points;
    struct gi_err err = {0};
    uint64_t n = 0;
    enum gi_status status = queue->k->compact(queue, &points, values, on_device, &err);
    if (!walk_ran(queue, "compact", way, status, &err))
        return;
    for (int y = 0; y < host->height; y++)
        for (int x = 0; x < host->width; x++) {
            float want = (float)get(host, x, y, 0);
            if (!is_on(p, x, y))
                continue;
            assert_true(n < points.n && points.x[n] == (uint32_t)x && points.y[n] == (uint32_t)y);
            assert_memory_equal(&points.value[n++], &want, sizeof want);
        }
    assert_int_equal(points.n, n);
    gi_pixel_list_free(&points);
}

/* The labels and sums that flood() and region_oracle() give for a predicate. */
struct regions {
    uint32_t *labels, n;
    struct gi_region_sums *sums;
};

static void stats_by(struct gi_queue *queue, int way, const struct gi_image *labels,
                     const struct gi_image *values, const struct regions *want)
{
    struct gi_region_sums *got = calloc(want->n + 1, sizeof *got);
    struct gi_region_stats spec = {labels, want->n, 0, 1};
    struct gi_err err = {0};
    enum gi_status status = queue->k->region_stats(queue, got, values, &spec, &err);
    if (walk_ran(queue, "region_stats", way, status, &err))
        for (uint32_t i = 0; i < want->n; i++)
            if (memcmp(&got[i], &want->sums[i], sizeof *got))
                fail_msg("%s: %d x %d: region %u of %u differs",
                         walk_what(queue, "region_stats", way), labels->width, labels->height,
                         i + 1, want->n);
    free(got);
}

static void label_by(struct gi_queue *queue, int way, const struct gi_predicate *on_device,
                     const struct gi_image *values, int connectivity, const struct regions *want)
{
    struct gi_image host;
    struct gi_labels labels;
    struct gi_label spec = {on_device->above, on_device->invert, connectivity};
    struct gi_err err = {0};
    enum gi_status status = queue->k->label(queue, &labels, on_device->on, &spec, &err);
    if (!walk_ran(queue, "label", way, status, &err))
        return;
    assert_int_equal(labels.n, want->n);
    for (int i = -1; way < 0 && walk_force(queue, "region_stats", i); i++)
        stats_by(queue, i, &labels.image, values, want);
    size_t width = (size_t)labels.image.width;
    assert_int_equal(queue->k->download(queue, &host, &labels.image, NULL, &err), GI_OK);
    for (int y = 0; y < host.height; y++)
        if (memcmp(gi_row(&host, y), want->labels + (size_t)y * width, width * sizeof(uint32_t)))
            fail_msg("%s: %d x %d: row %d differs", walk_what(queue, "label", way), host.width,
                     host.height, y);
    gi_image_free(&host);
}

static void regions_of(const struct gi_predicate *p, const struct gi_image *values,
                       int connectivity)
{
    size_t pixels = (size_t)p->on->width * (size_t)p->on->height;
    struct regions want = {.labels = malloc(pixels * sizeof(uint32_t))};
    want.n = flood(want.labels, p, connectivity);
    want.sums = malloc((want.n + 1) * sizeof *want.sums);
    region_oracle(want.sums, want.n, &(struct grid){want.labels, p->on->width, p->on->height},
                  values, 0, 1);
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        if (!queue)
            continue;
        struct gi_image on = upload(queue, p->on), device = upload(queue, values);
        struct gi_predicate predicate = {&on, p->above, p->invert};
        for (int i = -1; walk_force(queue, "label", i); i++)
            label_by(queue, i, &predicate, &device, connectivity, &want);
        for (int i = -1; walk_force(queue, "compact", i); i++)
            select_by(queue, i, &predicate, &device, p, values);
        queue->k->release(queue, &on);
        queue->k->release(queue, &device);
    }
    free(want.labels);
    free(want.sums);
}

static void regions(void **state)
{
    (void)state;
    for (int i = 0; i < SIZES - 1; i++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            struct guard on, values;
            int width = sizes[i][0], height = sizes[i][1];
            guard_alloc(&on, width, height, 1, (enum gi_type)((i + pattern) % 3), 4);
            guard_alloc(&values, width, height, 1, (enum gi_type)((pattern + 2 * i) % 3), 8);
            fill(&values.image, false);
            for (int y = 0; y < height; y++)
                for (int x = 0; x < width; x++)
                    put(&on.image, x, y, 0, pattern_on((enum pattern)pattern, x, y, width, height));
            for (int connectivity = 4; connectivity <= 8; connectivity += 4)
                for (int invert = 0; invert < 2; invert++)
                    regions_of(&(struct gi_predicate){&on.image, 0.5f, invert}, &values.image,
                               connectivity);
            guard_free(&on);
            guard_free(&values);
        }
}

/* ---- labels are not samples ---- */

static void labels_are_no_samples(void **state)
{
    (void)state;
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        if (!queue)
            continue;
        const struct gi_kernels *k = queue->k;
        struct gi_image u32, u8;
        struct gi_labels made;
        struct gi_err err = {0};
        struct gi_histogram_spec spec = {.key = GI_KEY_VALUE, .nbins = 256};
        struct gi_sums sums[1];
        struct gi_pixel_list points;
        struct gi_region_sums region;
        uint64_t counters[256];
        const float lo = 0, hi = 1;
        assert_int_equal(k->alloc(queue, &u32, 5, 5, 1, GI_U32, &err), GI_OK);
        assert_int_equal(k->alloc(queue, &u8, 5, 5, 1, GI_U8, &err), GI_OK);
        struct gi_predicate on_u32 = {&u32, 1, false}, on_u8 = {&u8, 1, false};
        struct gi_sums_range range = {&lo, &hi};
        struct gi_label label = {1, false, 8};
        struct gi_region_stats stats = {&u32, 1, 0, 1};
        walk_refused("histogram", k->histogram(queue, counters, &u32, &spec, &err), &err);
        walk_refused("sums", k->sums(queue, sums, &u32, &range, &err), &err);
        walk_refused("compact", k->compact(queue, &points, &u32, &on_u8, &err), &err);
        walk_refused("compact", k->compact(queue, &points, &u8, &on_u32, &err), &err);
        walk_refused("label", k->label(queue, &made, &u32, &label, &err), &err);
        walk_refused("region_stats", k->region_stats(queue, &region, &u32, &stats, &err), &err);
        k->release(queue, &u32);
        k->release(queue, &u8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(regions),
        cmocka_unit_test(walk_check_all),
        cmocka_unit_test(labels_are_no_samples),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
