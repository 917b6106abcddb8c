/* Adaptive (local) thresholds on every level of the CPU and on CUDA, against a definition in plain
 * loops.
 * Sources: tone
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/tone.h"

static uint64_t seed = 20261123;

__extension__ typedef unsigned __int128 wide;

/* The sums of the window at one sample, and the sample's own level. */
struct plain {
    uint64_t v, s;
    wide q;
};

static uint64_t level(const struct gi_local *spec, const struct gi_image *image, double sample)
{
    if (image->type != GI_F32)
        return (uint64_t)sample;
    double x = (sample - spec->lo) * spec->scale, most = GI_LOCAL_LEVELS - 1;
    return x > 0 ? (uint64_t)((x > most ? most : x) + 0.5) : 0;
}

static struct plain plain_at(const struct gi_image *src, const struct gi_local *spec, int y, int x,
                             int c)
{
    struct plain p = {0, 0, 0};
    int half = spec->k / 2;
    float full = gi_type_full_scale(src->type);
    for (int j = -half; j <= half; j++) {
        int yi = gi_border_index((long long)y + j, src->height, spec->border.mode);
        for (int i = -half; i <= half; i++) {
            int xi = gi_border_index((long long)x + i, src->width, spec->border.mode);
            double v = (double)spec->border.value[c];
            if (yi >= 0 && xi >= 0)
                v = gi_sample(gi_row(src, yi), (size_t)xi * (size_t)src->channels + (size_t)c,
                              src->type);
            else if (src->type != GI_F32)
                v = rint(fmin(fmax(v, 0), (double)full));
            uint64_t l = level(spec, src, v);
            p.s += l;
            p.q += (wide)l * l;
        }
    }
    p.v =
        level(spec, src,
              gi_sample(gi_row(src, y), (size_t)x * (size_t)src->channels + (size_t)c, src->type));
    return p;
}

static double spread_of(const struct plain *p, uint64_t n)
{
    wide d = (wide)n * p->q - (wide)p->s * p->s;
    return (double)(uint64_t)(d >> 64) * 0x1p64 + (double)(uint64_t)d;
}

/* Returns whether the sample exceeds its threshold. The last digits of the exponential may differ
 * from those of the code under test. */
static bool above(const struct gi_local *spec, const struct plain *p)
{
    uint64_t n = (uint64_t)spec->k * (uint64_t)spec->k;
    double rest = (double)((int64_t)(n * p->v) - (int64_t)p->s), s = (double)p->s;
    if (spec->mean)
        return rest + spec->shift > 0;
    double a = fma(spec->part, s, rest + spec->shift), t = fma(spec->slope, s, spec->level);
    if (spec->swell != 0)
        a -= spec->swell * gi_local_fall(spec->decay * (s - spec->base)) * (s - spec->base);
    double square = a * a, limit = t * t * spread_of(p, n);
    return t < 0 ? a > 0 || square < limit : a > 0 && square > limit;
}

static void put(const struct gi_image *image, int y, size_t i, double v)
{
    void *row = gi_row(image, y);
    if (image->type == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)v;
    else if (image->type == GI_U16)
        ((uint16_t *)row)[i] = (uint16_t)v;
    else
        ((float *)row)[i] = (float)v;
}

/* Computes the mask, and returns the maximum spread D over the rows that count. */
static double define(const struct gi_image *dst, const struct gi_image *src,
                     const struct gi_local *spec)
{
    double most = 0;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int c = 0; c < src->channels; c++) {
                size_t i = (size_t)x * (size_t)src->channels + (size_t)c;
                if (c == gi_colour_channels(src)) {
                    put(dst, y, i, gi_sample(gi_row(src, y), i, src->type));
                    continue;
                }
                struct plain p = plain_at(src, spec, y, x, c);
                bool on = above(spec, &p) != spec->invert;
                if (y >= spec->above && y < src->height - spec->below)
                    most = fmax(most, spread_of(&p, (uint64_t)spec->k * (uint64_t)spec->k));
                put(dst, y, i, on ? (double)gi_type_full_scale(src->type) : 0);
            }
    return most;
}

static void check_way(struct gi_queue *queue, int way, const struct gi_image *src,
                      const struct gi_image *want, const struct gi_local *spec)
{
    struct gi_image dst, back;
    struct gi_err err = {0};
    assert_int_equal(
        queue->k->alloc(queue, &dst, src->width, src->height, src->channels, src->type, &err),
        GI_OK);
    enum gi_status status = queue->k->local_threshold(queue, &dst, src, spec, &err);
    if (!walk_ran(queue, "local_threshold", way, status, &err)) {
        queue->k->release(queue, &dst);
        return;
    }
    assert_int_equal(queue->k->download(queue, &back, &dst, NULL, &err), GI_OK);
    case_equal(&back, want, walk_what(queue, "local_threshold", way));
    gi_image_free(&back);
}

static void check(const struct gi_image *host, const struct gi_local *spec)
{
    struct gi_image want, src;
    assert_int_equal(
        gi_image_alloc(&want, host->width, host->height, host->channels, host->type, NULL), GI_OK);
    double most = define(&want, host, spec), got;
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_err err = {0};
        if (!queue)
            continue;
        assert_int_equal(queue->k->upload(queue, &src, host, NULL, &err), GI_OK);
        for (int i = -1; walk_force(queue, "local_threshold", i); i++)
            check_way(queue, i, &src, &want, spec);
        for (int i = -1; !spec->mean && walk_force(queue, "local_spread", i); i++) {
            enum gi_status status = queue->k->local_spread(queue, &got, &src, spec, &err);
            if (walk_ran(queue, "local_spread", i, status, &err) && got != most)
                fail_msg("%s: %.17g, not %.17g", walk_what(queue, "local_spread", i), got, most);
        }
        queue->k->release(queue, &src);
    }
    gi_image_free(&want);
}

/* Returns a rule of each kind: the mean, with the deviation below or above it, times the mean, and
 * with the exponential. */
static struct gi_local random_rule(int kind, int k, enum gi_border border, enum gi_type type)
{
    double n = (double)k * k, full = type == GI_F32 ? GI_LOCAL_LEVELS : gi_type_full_scale(type);
    struct gi_local spec = {.k = k, .mean = kind == 0, .invert = case_between(&seed, 0, 3) == 0};
    spec.border = case_border(&seed, border, type);
    spec.lo = -0.25;
    spec.scale = GI_LOCAL_LEVELS / 1.5;
    if (case_between(&seed, 0, 1))
        spec.shift = n * rint(full * (double)case_real(&seed) / 8) / 2;
    if (kind == 1 || kind == 2)
        spec.level = kind == 1 ? -0.2 : 0.3;
    if (kind > 2) {
        spec.part = 0.2 * kind - 0.4;
        spec.slope = spec.part / (n * full / 2);
    }
    if (kind == 4) {
        spec.swell = 2;
        spec.decay = 10 / (n * full);
        spec.base = full;
    }
    return spec;
}

enum { KINDS = 5 };

static void make(int width, int height, int channels, enum gi_type type, int k, int kind,
                 int border)
{
    struct guard g;
    guard_alloc(&g, width, height, channels, type, 16);
    case_fill(&g.image, &seed);
    if (case_between(&seed, 0, 3) == 0) /* half the image is constant, as on a blank page */
        for (int y = 0; y < height; y++)
            for (size_t i = 0; i < gi_row_samples(&g.image) / 2; i++)
                put(&g.image, y, i, (double)gi_type_full_scale(type));
    if (type == GI_F32)
        ((float *)gi_row(&g.image, height / 2))[0] = NAN;
    struct gi_local spec = random_rule(kind, k, (enum gi_border)border, type);
    spec.above = case_between(&seed, 0, 1) * case_between(&seed, 0, height);
    spec.below = case_between(&seed, 0, 1) * case_between(&seed, 0, height - spec.above);
    check(&g.image, &spec);
    guard_check(&g);
    guard_free(&g);
}

static void test_shapes(void **state)
{
    (void)state;
    static const int ks[] = {1, 3, 5, 9, 17};
    int n = getenv("GPUIMG_TEST_QUICK") ? 4 : 5, turn = 0;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < n; i++)
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
                for (int kind = 0; kind < KINDS; kind++, turn++)
                    make(case_sizes[i][0], case_sizes[i][1], channels, (enum gi_type)type,
                         ks[turn % 5], kind, turn % CASE_BORDERS);
    for (int kind = 0; kind < KINDS; kind++)
        make(1100, 9, 1, kind % 2 ? GI_U8 : GI_U16, 3, kind, kind);
}

/* Bytes in widths that devices divide: several threads, warps and bands, each rule and border mode.
 */
static void test_bytes(void **state)
{
    (void)state;
    static const int ks[] = {3, 7, 15, 21, 31, 33};
    for (int i = 0; i < 6; i++)
        for (int kind = 1; kind < KINDS; kind++)
            make(1100 - 37 * kind, 20 + ks[i], 1, GI_U8, ks[i], kind, (i + kind) % CASE_BORDERS);
}

/* Sums of squares that just fit, or don't, in black images with a few white samples. */
static void test_black(void **state)
{
    (void)state;
    static const int ks[] = {361, 511, 513};
    for (int i = 0; i < 3; i++)
        for (int kind = 1; kind < 4; kind++) {
            struct guard g;
            guard_alloc(&g, 3, 260, 1, GI_U8, 16);
            for (int y = 0; y < 260; y++)
                for (size_t x = 0; x < 3; x++)
                    put(&g.image, y, x, case_between(&seed, 0, 99) || y < 200 ? 0 : 255);
            struct gi_local spec = random_rule(kind, ks[i], GI_BORDER_VALUE, GI_U8);
            spec.border.value[0] = 0;
            if (kind == 3 &&
                i == 0) { /* the threshold of black must not be below black, not even with -0 */
                spec.part = -spec.part;
                spec.slope = -spec.slope;
                spec.shift = 0;
                spec.level = -0.0;
            }
            check(&g.image, &spec);
            guard_check(&g);
            guard_free(&g);
        }
}

/* Windows whose sums don't fit in 32 bits, in 2^53 or in 64 bits, and windows wider than the image.
 */
static void test_wide(void **state)
{
    (void)state;
    static const int ks[] = {181, 183, 257, 259};
    int turn = 0;
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int i = 0; i < 4; i++, turn++)
            make(3, 2, 1, (enum gi_type)type, ks[i], turn % KINDS, turn % CASE_BORDERS);
    make(2, 2, 1, GI_U8, 611, 1, GI_BORDER_CLAMP);
    make(2, 1, 1, GI_U8, 611, 3, GI_BORDER_MIRROR);
    make(1, 1, 1, GI_U16, 1001, 1, GI_BORDER_WRAP);
}

/* ---- Bernsen: midway between minimum and maximum ---- */

static bool half_way(double v, double l, double g, double full, const struct gi_bernsen *spec)
{
    double twice = v + v - l - g;
    return g - l >= spec->contrast ? twice > spec->more : l + g > full;
}

static void check_bernsen(const struct gi_image *v, const struct gi_image *l,
                          const struct gi_image *g, struct gi_bernsen spec)
{
    struct gi_image want, in[3], dst, back;
    const struct gi_image *hosts[] = {v, l, g};
    double full = (double)gi_type_full_scale(v->type);
    assert_int_equal(gi_image_alloc(&want, v->width, v->height, v->channels, v->type, NULL), GI_OK);
    for (int y = 0; y < v->height; y++)
        for (size_t i = 0; i < gi_row_samples(v); i++) {
            double s = gi_sample(gi_row(v, y), i, v->type);
            bool alpha = gi_has_alpha(v) && (i + 1) % (size_t)v->channels == 0;
            bool on = half_way(s, gi_sample(gi_row(l, y), i, v->type),
                               gi_sample(gi_row(g, y), i, v->type), full, &spec) != spec.invert;
            put(&want, y, i, alpha ? s : on ? full : 0);
        }
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_err err = {0};
        for (int i = 0; queue && i < 3; i++)
            assert_int_equal(queue->k->upload(queue, &in[i], hosts[i], NULL, &err), GI_OK);
        spec.least = &in[1];
        spec.greatest = &in[2];
        for (int i = -1; queue && walk_force(queue, "bernsen", i); i++) {
            assert_int_equal(
                queue->k->alloc(queue, &dst, v->width, v->height, v->channels, v->type, &err),
                GI_OK);
            walk_ran(queue, "bernsen", i, queue->k->bernsen(queue, &dst, &in[0], &spec, &err),
                     &err);
            assert_int_equal(queue->k->download(queue, &back, &dst, NULL, &err), GI_OK);
            case_equal(&back, &want, walk_what(queue, "bernsen", i));
            gi_image_free(&back);
        }
        for (int i = 0; queue && i < 3; i++)
            queue->k->release(queue, &in[i]);
    }
    gi_image_free(&want);
}

/* Random images for all three sources, with ties among them. */
static void test_bernsen(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++) {
                struct guard g[3];
                double full = (double)gi_type_full_scale((enum gi_type)type);
                struct gi_bernsen spec = {.contrast = full * (i == 0   ? 0.06
                                                              : i == 1 ? 0.5
                                                                       : 0),
                                          .more = i == 2 ? full / 10 : 0,
                                          .invert = i == 3};
                for (int j = 0; j < 3; j++) {
                    guard_alloc(&g[j], case_sizes[i][0], case_sizes[i][1], channels,
                                (enum gi_type)type, 16);
                    case_fill(&g[j].image, &seed);
                }
                if (type == GI_F32)
                    ((float *)gi_row(&g[i % 3].image, 0))[0] = NAN;
                check_bernsen(&g[0].image, &g[1].image, &g[2].image, spec);
                for (int j = 0; j < 3; j++) {
                    guard_check(&g[j]);
                    guard_free(&g[j]);
                }
            }
}

static void test_fall(void **state)
{
    (void)state;
    for (double x = -690; x < 690; x += 0.37)
        assert_true(fabs(gi_local_fall(x) / exp(-x) - 1) < 1e-14);
    assert_true(gi_local_fall(0) == 1);
    assert_true(gi_local_fall(1e300) == gi_local_fall(700));
}

static enum gi_status thresholded(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *labels, struct gi_err *err)
{
    struct gi_local spec = {.k = 3};
    return queue->k->local_threshold(queue, dst, labels, &spec, err);
}

static enum gi_status between(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *labels, struct gi_err *err)
{
    struct gi_bernsen spec = {0};
    return queue->k->bernsen(queue, dst, labels, &spec, err);
}

static enum gi_status spread(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *labels, struct gi_err *err)
{
    struct gi_local spec = {.k = 3};
    double most;
    (void)dst;
    return queue->k->local_spread(queue, &most, labels, &spec, err);
}

static void test_types(void **state)
{
    (void)state;
    walk_refuses("local_threshold", thresholded);
    walk_refuses("bernsen", between);
    walk_refuses("local_spread", spread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),  cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_black),   cmocka_unit_test(test_wide),
        cmocka_unit_test(test_fall),    cmocka_unit_test(test_types),
        cmocka_unit_test(test_bernsen), cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
