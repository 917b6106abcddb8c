/* The primitive resample, by every way, at every level and on CUDA, against its definition in plain
 * loops.
 * Sources: geometry
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/geometry.h"

enum { SEED = 20261123, TAPS_MAX = 150, RESULTS_MAX = 700 };

static uint64_t seed = SEED;

/* The tables of one direction. */
struct side {
    int32_t first[RESULTS_MAX], phase[RESULTS_MAX], integers[RESULTS_MAX * TAPS_MAX];
    float weights[RESULTS_MAX * TAPS_MAX], sums[RESULTS_MAX];
};

static struct side sides[2];

/* ---- the definition ---- */

static float long_sum(const float *weights, const float *v, size_t step, int n)
{
    float s = 0, c = 0;
    for (int from = 0; from < n; from += GI_TAPS_BLOCK) {
        float p = 0;
        for (int t = from; t < n && t < from + GI_TAPS_BLOCK; t++)
            p = fmaf(weights[t], v[(size_t)t * step], p);
        float y = p - c, sum = s + y, e = (sum - s) - y;
        c = from == 0 || !(fabsf(e) < INFINITY) ? 0 : e;
        s = from == 0 ? p : sum;
    }
    return s;
}

static void put(struct gi_image *image, int y, size_t i, float v)
{
    if (image->type == GI_F32) {
        ((float *)gi_row(image, y))[i] = v != v ? NAN : v;
        return;
    }
    float full = gi_type_full_scale(image->type);
    long n = lrintf(v > 0 ? v < full ? v : full : 0);
    if (image->type == GI_U8)
        ((uint8_t *)gi_row(image, y))[i] = (uint8_t)n;
    else
        ((uint16_t *)gi_row(image, y))[i] = (uint16_t)n;
}

static const float *row_of(const struct gi_resample_side *side, int i)
{
    return side->weights + (size_t)side->phase[i] * (size_t)side->taps;
}

/* Applies the alpha rule to the sums f of one pixel, in place. */
static void finish(float *f, int channels, bool weigh)
{
    float a = f[channels - 1];
    for (int c = 0; c < channels && weigh; c++)
        f[c] = !(a > 0) ? 0 : c == channels - 1 ? a : f[c] / a;
}

static void define(struct gi_image *dst, const struct gi_image *src, const struct gi_resample *spec)
{
    size_t channels = (size_t)src->channels, n = gi_row_samples(src);
    bool weigh = channels % 2 == 0 && spec->alpha == GI_ALPHA_WEIGH;
    const struct gi_resample_side *row = &spec->row, *col = &spec->col;
    float *all = calloc(n * (size_t)src->height + n, sizeof *all),
          *c = all + n * (size_t)src->height;
    for (int y = 0; y < src->height; y++)
        for (size_t i = 0; i < n; i++) {
            float v = (float)gi_sample(gi_row(src, y), i, src->type);
            size_t a = i / channels * channels + channels - 1;
            bool colour = weigh && i != a;
            all[(size_t)y * n + i] =
                colour ? v * (float)gi_sample(gi_row(src, y), a, src->type) : v;
        }
    for (int y = 0; y < dst->height; y++) {
        for (size_t i = 0; i < n; i++)
            c[i] = long_sum(row_of(col, y), all + (size_t)(col->first[y] - col->origin) * n + i, n,
                            col->taps);
        for (int x = 0; x < dst->width; x++) {
            float f[GI_MAX_CHANNELS];
            for (size_t i = 0; i < channels; i++) {
                f[i] = long_sum(row_of(row, x), c + (size_t)row->first[x] * channels + i, channels,
                                row->taps);
                if (row->sums)
                    f[i] /= col->sums[col->phase[y]] * row->sums[row->phase[x]];
            }
            finish(f, (int)channels, weigh);
            for (size_t i = 0; i < channels; i++)
                put(dst, y, (size_t)x * channels + i, f[i]);
        }
    }
    free(all);
}

static int cut_off(int32_t sum)
{
    int64_t v = (int64_t)sum >> 22;
    return v < 0 ? 0 : v > 255 ? 255 : (int)v;
}

/* Filters the middle axis of `from`, an array of outer x n x inner samples, which is freed. */
static uint8_t *integer_pass(uint8_t *from, int outer, int n, int inner,
                             const struct gi_resample_side *side)
{
    uint8_t *to = malloc((size_t)outer * (size_t)side->n * (size_t)inner), *at = to;
    for (int o = 0; o < outer; o++)
        for (int i = 0; i < side->n; i++)
            for (int k = 0; k < inner; k++) {
                int first = o * n + side->first[i] - side->origin;
                int32_t sum = 1 << 21;
                for (int t = 0; t < side->taps; t++)
                    sum += side->integers[side->phase[i] * side->taps + t] *
                           from[(first + t) * inner + k];
                *at++ = (uint8_t)cut_off(sum);
            }
    free(from);
    return to;
}

static void define_integer(struct gi_image *dst, const struct gi_image *src,
                           const struct gi_resample *spec)
{
    int channels = src->channels, n = src->width * channels, m = dst->width * channels;
    bool weigh = channels % 2 == 0 && spec->alpha == GI_ALPHA_WEIGH;
    uint8_t *v = malloc((size_t)n * (size_t)src->height);
    for (int y = 0; y < src->height; y++)
        for (int i = 0; i < n; i++) {
            const uint8_t *row = gi_row(src, y);
            int a = i / channels * channels + channels - 1, w = row[i] * row[a] + 128;
            v[y * n + i] = weigh && i != a ? (uint8_t)(((w >> 8) + w) >> 8) : row[i];
        }
    if (spec->columns_first)
        v = integer_pass(v, 1, src->height, n, &spec->col);
    v = integer_pass(v, spec->columns_first ? dst->height : src->height, src->width, channels,
                     &spec->row);
    if (!spec->columns_first)
        v = integer_pass(v, 1, src->height, m, &spec->col);
    for (int y = 0; y < dst->height; y++) {
        uint8_t *out = gi_row(dst, y);
        memcpy(out, v + (size_t)y * (size_t)m, (size_t)m);
        for (int i = 0; i < m && weigh; i++) {
            int a = out[i / channels * channels + channels - 1];
            if (i % channels != channels - 1 && a != 0 && a != 255)
                out[i] = (uint8_t)(255 * out[i] / a < 255 ? 255 * out[i] / a : 255);
        }
    }
    free(v);
}

/* ---- random tables of one direction ---- */

static void random_weights(struct side *s, const struct gi_resample_side *side, bool whole)
{
    for (int p = 0; p < side->nphases; p++) {
        s->sums[p] = (float)(1 + side->taps * (whole ? 1 : 2) / 2);
        int32_t left = 1 << 22;
        for (int t = 0; t < side->taps; t++) {
            int i = p * side->taps + t;
            s->weights[i] = whole ? 1.0f : (case_real(&seed) + 0.3f) / (float)side->taps * 2;
            int32_t part = (1 << 22) / side->taps * 2;
            s->integers[i] = t == side->taps - 1 ? left : case_between(&seed, -part / 4, part);
            left -= s->integers[i];
        }
    }
}

/* Draws the tables from n samples to m. If `regular`, all samples except those at the ends have the
 * same weights, as in reductions by an integer. */
static struct gi_resample_side random_side(struct side *s, int n, int m, int taps, bool regular,
                                           bool whole)
{
    struct gi_resample_side side = {.n = m,
                                    .taps = taps < n ? taps : n,
                                    .first = s->first,
                                    .phase = s->phase,
                                    .weights = s->weights,
                                    .sums = whole ? s->sums : NULL,
                                    .integers = s->integers};
    int lead = side.taps / 2;
    for (int i = 0; i < m; i++) {
        int64_t at = !regular ? (int64_t)i * n / m
                     : m < n  ? (int64_t)i * (n / m) + n / m / 2
                              : ((2 * i + 1) * (int64_t)n + m) / (2 * m); /* the nearest pixel */
        int64_t first = at - lead, latest = n - side.taps;
        bool end = first < 0 || first > latest;
        s->first[i] = (int32_t)(first < 0 ? 0 : first > latest ? latest : first);
        s->phase[i] = regular && !end && m < n ? 0
                      : regular && !end        ? i % (m / n ? m / n : 1)
                                               : (side.nphases ? side.nphases : 4);
        side.nphases = s->phase[i] + 1 > side.nphases ? s->phase[i] + 1 : side.nphases;
    }
    random_weights(s, &side, whole);
    return side;
}

static void spoil(struct gi_image *image)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-40f, -1e30f, 3e38f};
    for (int i = 0; i < image->width; i++) {
        float *row = gi_row(image, case_between(&seed, 0, image->height - 1));
        row[case_between(&seed, 0, (int)gi_row_samples(image) - 1)] =
            odd[case_between(&seed, 0, 6)];
    }
}

static void check_way(struct gi_queue *queue, const struct gi_resample *spec, int way,
                      const struct gi_image *src, const struct gi_image *want)
{
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct guard got;
    struct gi_image dst, back;
    guard_alloc(&got, want->width, want->height, want->channels, want->type,
                gi_type_nbytes(want->type) * 3);
    assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
    if (walk_ran(queue, "resample", way, k->resample(queue, &dst, src, spec, &err), &err)) {
        assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
        case_equal(&back, want, walk_what(queue, "resample", way));
        guard_check(&got);
        gi_image_free(&back);
    } else {
        k->release(queue, &dst);
    }
    guard_free(&got);
}

static void check(const struct gi_resample *spec, int width, int height, int channels,
                  enum gi_type type, bool odd)
{
    if (case_is_left_out())
        return;
    struct guard src, want;
    guard_alloc(&src, width, height, channels, type, gi_type_nbytes(type) * 5);
    guard_alloc(&want, spec->row.n, spec->col.n, channels, type, 0);
    case_fill(&src.image, &seed);
    if (odd)
        spoil(&src.image);
    if (spec->integer)
        define_integer(&want.image, &src.image, spec);
    else
        define(&want.image, &src.image, spec);
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_image device;
        if (!queue)
            continue;
        assert_int_equal(queue->k->upload(queue, &device, &src.image, NULL, NULL), GI_OK);
        for (int i = -1; walk_force(queue, "resample", i); i++)
            check_way(queue, spec, i, &device, &want.image);
        queue->k->release(queue, &device);
    }
    guard_check(&src);
    guard_free(&src);
    guard_free(&want);
}

/* Draws sizes of source and result: reduced, enlarged, or an integer ratio. */
static void random_shape(int *n, int *m)
{
    static const int ratios[] = {1, 2, 2, 3, 4, 8};
    *n = case_between(&seed, 1, case_between(&seed, 0, 3) ? 60 : 400);
    switch (case_between(&seed, 0, 3)) {
    case 0:
        *m = case_between(&seed, 1, 90);
        break;
    case 1:
        *m = *n * (*n < 150 ? ratios[case_between(&seed, 0, 4)] : 1);
        break;
    default:
        *m = *n / ratios[case_between(&seed, 0, 5)];
        *m = *m < 1 ? 1 : *m;
    }
}

static int random_taps(void)
{
    static const int counts[] = {1, 2, 2, 4, 6, 8, 12, 16, 24, 31, 32, 33, 48, 64, 65, TAPS_MAX};
    return counts[case_between(&seed, 0, 15)];
}

static void random_cases(void **state)
{
    (void)state;
    bool quick = getenv("GPUIMG_TEST_QUICK") != NULL;
    print_message("seed %d\n", SEED);
    for (int i = 0; i < (quick ? 48 : 600); i++) {
        enum gi_type type = (enum gi_type)(i % 3);
        int channels = i / 3 % GI_MAX_CHANNELS + 1, width, height, w, h;
        bool regular = case_between(&seed, 0, 1), whole = case_between(&seed, 0, 3) == 0;
        int taps = random_taps();
        random_shape(&width, &w);
        random_shape(&height, &h);
        struct gi_resample spec = {
            .row = random_side(&sides[0], width, w, taps, regular, whole),
            .col =
                random_side(&sides[1], height, h, regular ? taps : random_taps(), regular, whole),
            .alpha = case_between(&seed, 0, 3) ? GI_ALPHA_WEIGH : GI_ALPHA_PLAIN,
            .integer = type == GI_U8 && case_between(&seed, 0, 1),
            .columns_first = case_between(&seed, 0, 1)};
        check(&spec, width, height, channels, type, type == GI_F32 && i % 5 == 0);
    }
}

/* Reductions by integers of images that are divided into several blocks and strips. */
static void large_cases(void **state)
{
    static const int cases[][2] = {{2, 2},  {2, 4},  {2, 8},  {2, 12}, {4, 4},
                                   {4, 24}, {8, 16}, {8, 48}, {1, 6}};
    (void)state;
    for (int i = 0; i < 9 * 3 * 4; i++) {
        int ratio = cases[i % 9][0], taps = cases[i % 9][1], w = case_between(&seed, 250, 330);
        enum gi_type type = (enum gi_type)(i / 9 % 3);
        int h = case_between(&seed, 40, 90), up = ratio == 1 ? 2 : 1;
        struct gi_resample spec = {
            .row = random_side(&sides[0], w * ratio, w * up, taps, true, taps == ratio),
            .col = random_side(&sides[1], h * ratio, h * up, taps, true, taps == ratio),
            .alpha = GI_ALPHA_WEIGH};
        check(&spec, w * ratio, h * ratio, i / 27 + 1, type, false);
    }
}

/* Sets the inner weights of the box or of the triangle: integers divided by a power of two. */
static void set_whole(struct side *s, int ratio, int taps)
{
    for (int t = 0; t < taps; t++) {
        int place = t < taps / 2 ? t : taps - 1 - t;
        s->weights[t] = taps == ratio ? 1 : (float)(2 * place + 1) / (float)(2 * ratio * ratio);
    }
    s->sums[0] = (float)ratio;
}

static void whole_cases(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * 2 * 8; i++) {
        int ratio = 2 << i % 3, taps = i / 3 % 2 ? ratio : 2 * ratio;
        int w = case_between(&seed, 9, RESULTS_MAX), h = case_between(&seed, 9, 60);
        struct gi_resample spec = {
            .row = random_side(&sides[0], w * ratio, w, taps, true, taps == ratio),
            .col = random_side(&sides[1], h * ratio, h, taps, true, taps == ratio),
            .alpha = GI_ALPHA_WEIGH};
        set_whole(&sides[0], ratio, taps);
        set_whole(&sides[1], ratio, taps);
        check(&spec, w * ratio, h * ratio, i % 8 == 7 ? 3 : 1, GI_U8, false);
    }
}

/* Enlargements by an integer, of the whole image or of a band of its rows. */
static void enlarged_cases(void **state)
{
    (void)state;
    int step = getenv("GPUIMG_TEST_QUICK") ? 7 : 1;
    for (int i = 0; i < 3 * 3 * 12 * 2; i += step) {
        int ratio = i % 3 + 2, taps = (i / 3 % 3 + 1) * 2;
        int w = case_between(&seed, 6, RESULTS_MAX / ratio), h = case_between(&seed, 9, 60);
        struct gi_resample spec = {.row = random_side(&sides[0], w, w * ratio, taps, true, false),
                                   .col = random_side(&sides[1], h, h * ratio, taps, true, false),
                                   .alpha = GI_ALPHA_WEIGH};
        if (i % 2) {
            int y0 = case_between(&seed, 0, h), y1 = case_between(&seed, y0 + 1, h * ratio);
            spec.col.first += y0;
            spec.col.phase += y0;
            spec.col.n = y1 - y0;
            spec.col.origin = spec.col.first[0];
            h = spec.col.first[spec.col.n - 1] - spec.col.origin + taps;
        }
        check(&spec, w, h, i / 9 % 4 + 1, (enum gi_type)(i / 36 % 3),
              i % 5 == 0 && i / 36 % 3 == 2);
    }
}

/* A band of the source gives those rows of the result that depend on no other source rows. */
static void bands(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct gi_resample spec = {.row = random_side(&sides[0], 31, 17, 6, true, false),
                                   .col = random_side(&sides[1], 90, 60, 12, false, false),
                                   .integer = i % 3 == 0 && i % 2,
                                   .columns_first = i % 4 == 1};
        int y0 = case_between(&seed, 0, 50), n = case_between(&seed, 1, 60 - y0);
        spec.col.first += y0;
        spec.col.phase += y0;
        spec.col.n = n;
        spec.col.origin = spec.col.first[0];
        check(&spec, 31, spec.col.first[n - 1] - spec.col.origin + spec.col.taps, 3,
              (enum gi_type)(i % 3), false);
    }
}

static void labels_are_no_samples(void **state)
{
    (void)state;
    struct gi_resample spec = {.row = random_side(&sides[0], 5, 5, 1, false, false),
                               .col = random_side(&sides[1], 5, 5, 1, false, false)};
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_image src, dst;
        struct gi_err err = {0};
        if (!queue)
            continue;
        assert_int_equal(queue->k->alloc(queue, &src, 5, 5, 1, GI_U32, &err), GI_OK);
        assert_int_equal(queue->k->alloc(queue, &dst, 5, 5, 1, GI_U32, &err), GI_OK);
        walk_refused("resample", queue->k->resample(queue, &dst, &src, &spec, &err), &err);
        queue->k->release(queue, &src);
        queue->k->release(queue, &dst);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),   cmocka_unit_test(large_cases),
        cmocka_unit_test(whole_cases),    cmocka_unit_test(enlarged_cases),
        cmocka_unit_test(bands),          cmocka_unit_test(labels_are_no_samples),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
