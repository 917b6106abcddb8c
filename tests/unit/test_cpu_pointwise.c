/* Pointwise operations of the CPU equal their definitions to the bit, at every instruction level
 * and number of threads, also in place, and touch only the samples of their images.
 * Sources: tone
 * SPDX-License-Identifier: MIT */
#include "pointwise_cases.h"

enum { SEED = 20240619 };

static struct pointwise_tables tables;

static float get(const struct gi_image *image, int y, size_t i)
{
    const void *row = gi_row(image, y);
    if (image->type == GI_U8)
        return ((const uint8_t *)row)[i];
    return image->type == GI_U16 ? ((const uint16_t *)row)[i] : ((const float *)row)[i];
}

static void put(struct gi_image *image, int y, size_t i, float v)
{
    void *row = gi_row(image, y);
    float whole = v > 0 ? rintf(fminf(v, gi_type_full_scale(image->type))) : 0;
    if (image->type == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)whole;
    else if (image->type == GI_U16)
        ((uint16_t *)row)[i] = (uint16_t)whole;
    else
        ((float *)row)[i] = isnan(v) ? NAN : v;
}

/* Returns a b / full in integers; ties cannot occur because full scale is odd. */
static float product(float a, float b, enum gi_type type)
{
    uint64_t full = (uint64_t)gi_type_full_scale(type);
    return type == GI_F32 ? a * b : (float)((2 * (uint64_t)a * (uint64_t)b + full) / (2 * full));
}

static float entry(const void *table, float a, enum gi_type type)
{
    if (type == GI_F32) {
        double bin = floor(65536 * (double)a);
        return !table || isnan(a) ? a : ((const float *)table)[(int)fmin(fmax(bin, 0), 65535)];
    }
    return type == GI_U8 ? ((const uint8_t *)table)[(int)a] : ((const uint16_t *)table)[(int)a];
}

static float defined(const struct gi_pointwise *spec, enum gi_type type, int c, float a, float b)
{
    switch (spec->op) {
    case GI_POINTWISE_AFFINE:
        return fmaf(spec->scale[c], a, spec->offset[c]);
    case GI_POINTWISE_TABLE:
        return entry(spec->table[c], a, type);
    case GI_POINTWISE_ADD:
        return a + b;
    case GI_POINTWISE_SUBTRACT:
        return a - b;
    case GI_POINTWISE_MULTIPLY:
        return product(a, b, type);
    case GI_POINTWISE_BLEND:
        return fmaf(spec->t, b, fmaf(-spec->t, a, a));
    case GI_POINTWISE_MIDDLE:
        return fmaf(0.5f, b, 0.5f * a);
    case GI_POINTWISE_MINIMUM:
        return isnan(b) || a > b ? b : a;
    case GI_POINTWISE_MAXIMUM:
        return isnan(b) || b > a ? b : a;
    case GI_POINTWISE_OUTLIER:
        return a - b > spec->t || b - a > spec->t ? b : a;
    default:
        return fabsf(a - b);
    }
}

/* Returns the same in double. */
static double meant(const struct gi_pointwise *spec, enum gi_type type, int c, double a, double b)
{
    double t = (double)spec->t, full = (double)gi_type_full_scale(type);
    double means[POINTWISE_OPERATIONS] = {(double)spec->scale[c] * a + (double)spec->offset[c],
                                          0,
                                          a + b,
                                          a - b,
                                          a * b / full,
                                          a * (1 - t) + b * t,
                                          a / 2 + b / 2,
                                          fmin(a, b),
                                          fmax(a, b),
                                          fabs(a - b),
                                          fabs(a - b) > t ? b : a};
    double v = means[spec->op];
    return type == GI_F32 ? v : fmin(fmax(v, 0), full);
}

/* Fills `want`; fails if the definition differs too much from double precision. */
static void define(const struct gi_pointwise *spec, struct gi_image *want,
                   const struct gi_image *src, const struct gi_image *other)
{
    enum gi_type type = src->type;
    for (int y = 0; y < src->height; y++)
        for (size_t i = 0; i < gi_row_samples(src); i++) {
            int c = (int)i % src->channels;
            float a = get(src, y, i), b = get(other, y, i);
            bool kept = !spec->alpha_too && gi_has_alpha(src) && c == src->channels - 1;
            put(want, y, i, kept ? a : defined(spec, type, c, a, b));
            double mean = meant(spec, type, c, (double)a, (double)b), got = (double)get(want, y, i);
            double slack = type == GI_F32 ? 0x1p-20 * fmax(fabs(mean), 1) : 0.51;
            if (!kept && spec->op != GI_POINTWISE_TABLE && fabs(mean) < 1e6 && fabsf(a) < 1e6f &&
                !isnan(b))
                assert_true(fabs(got - mean) <= slack);
        }
}

static void run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                const struct gi_image *other, const struct gi_pointwise *spec)
{
    struct gi_err err = {0};
    struct gi_pointwise with = *spec;
    with.other = pointwise_has_two(spec->op) ? other : NULL;
    if (queue->k->pointwise(queue, dst, src, &with, &err))
        fail_msg("%s", err.text);
}

static void copy(struct gi_image *dst, const struct gi_image *src)
{
    for (int y = 0; y < src->height; y++)
        memcpy(gi_row(dst, y), gi_row(src, y), gi_row_nbytes(src));
}

/* Writes into a separate image, over the first source and over the second. */
static void check_places(struct gi_queue *queue, const struct gi_pointwise *spec,
                         const struct guard sources[2], const struct gi_image *want,
                         const char *what)
{
    const struct gi_image *src = &sources[0].image, *other = &sources[1].image;
    for (int place = 0; place < 3; place++) {
        struct guard got;
        guard_alloc(&got, src->width, src->height, src->channels, src->type,
                    src->stride - gi_row_nbytes(src));
        if (place)
            copy(&got.image, place == 1 ? src : other);
        run(queue, &got.image, place == 1 ? &got.image : src, place == 2 ? &got.image : other,
            spec);
        case_equal(&got.image, want, what);
        guard_check(&got);
        guard_free(&got);
    }
}

/* Runs all levels and 1, 2, 3 and 7 threads, the last three only if `threads`. */
static void check(const struct gi_pointwise *spec, const struct guard sources[2], bool threads)
{
    static const int counts[] = {1, 2, 3, 7};
    const struct gi_image *src = &sources[0].image;
    struct guard want;
    guard_alloc(&want, src->width, src->height, src->channels, src->type, 0);
    define(spec, &want.image, src, &sources[1].image);
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        for (int t = 0; k && t < (threads ? 4 : 1); t++) {
            struct gi_queue *queue;
            char what[100];
            snprintf(what, sizeof what, "%s at %s, %d threads", pointwise_names[spec->op],
                     case_levels[l], counts[t]);
            case_open(&queue, k, counts[t]);
            check_places(queue, spec, sources, &want.image, what);
            gi_queue_close_alone(&queue);
        }
    }
    guard_free(&want);
}

static void make_sources(struct guard sources[2], const int *size, int channels, enum gi_type type,
                         uint64_t *seed)
{
    for (int s = 0; s < 2; s++) {
        size_t pad = gi_type_nbytes(type) * (size_t)case_between(seed, 0, 70);
        guard_alloc(&sources[s], size[0], size[1], channels, type, s ? pad : 0);
        case_fill(&sources[s].image, seed);
    }
}

static void free_sources(struct guard sources[2])
{
    guard_free(&sources[0]);
    guard_free(&sources[1]);
}

static void every_shape(void **state)
{
    (void)state;
    static const int wide[] = {70001, 3}; /* several strips */
    uint64_t seed = SEED;
    printf("seed %d\n", SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int i = 0; i <= CASE_SIZES; i++)
                for (int op = 0; op < POINTWISE_OPERATIONS; op++) {
                    struct guard sources[2];
                    struct gi_pointwise spec;
                    if (i == CASE_SIZES && (op + channels) % 4)
                        continue;
                    make_sources(sources, i < CASE_SIZES ? case_sizes[i] : wide, channels,
                                 (enum gi_type)type, &seed);
                    random_pointwise(&spec, &tables, (enum gi_pointwise_op)op, &sources[0].image,
                                     &seed);
                    if (i % 2)
                        fill_odd(&sources[0].image, &seed);
                    if (i % 3 == 1)
                        fill_odd(&sources[1].image, &seed);
                    check(&spec, sources, i >= 4 && op % 4 == channels % 4);
                    free_sources(sources);
                }
}

/* Every pair of bytes; blends and affine maps at the ends of their ranges and between. */
static void all_bytes(void **state)
{
    (void)state;
    static const int size[] = {256, 256};
    static const float t[] = {0, 1, 0.5f, 0.1f, 2};
    uint64_t seed = SEED;
    struct guard sources[2];
    make_sources(sources, size, 1, GI_U8, &seed);
    for (int y = 0; y < 256; y++)
        for (int x = 0; x < 256; x++) {
            ((uint8_t *)gi_row(&sources[0].image, y))[x] = (uint8_t)x;
            ((uint8_t *)gi_row(&sources[1].image, y))[x] = (uint8_t)y;
        }
    for (int op = GI_POINTWISE_AFFINE; op < POINTWISE_OPERATIONS; op++)
        for (int i = 0; i < 5; i++) {
            static const float scale[] = {-1, 1, 0.5f, 2, 255};
            struct gi_pointwise spec = {.op = (enum gi_pointwise_op)op,
                                        .scale = {scale[i]},
                                        .offset = {i ? (float)-i : 255},
                                        .t = t[i]};
            spec.table[0] = tables.entry[i % 4];
            check(&spec, sources, false);
        }
    free_sources(sources);
}

/* Every 16-bit sample with some others, around the values at which products and sums change their
 * rounding. */
static void many_words(void **state)
{
    (void)state;
    static const int size[] = {4096, 16 * 12};
    static const uint16_t others[] = {0,     1,     2,     127,   255,   256,
                                      32767, 32768, 32769, 43691, 65534, 65535};
    uint64_t seed = SEED;
    struct guard sources[2];
    make_sources(sources, size, 1, GI_U16, &seed);
    for (int y = 0; y < size[1]; y++)
        for (int x = 0; x < 4096; x++) {
            ((uint16_t *)gi_row(&sources[0].image, y))[x] = (uint16_t)(y % 16 * 4096 + x);
            ((uint16_t *)gi_row(&sources[1].image, y))[x] = others[y / 16];
        }
    for (int op = GI_POINTWISE_ADD; op < POINTWISE_OPERATIONS; op++)
        check(&(struct gi_pointwise){.op = (enum gi_pointwise_op)op, .t = 0.3f}, sources, false);
    free_sources(sources);
}

/* A float at a step of a table or just below it is counted in the bin that the table looks up. */
static void steps_of_floats(void **state)
{
    (void)state;
    static const int size[] = {65536, 2};
    static uint64_t counts[65536];
    const struct gi_histogram_spec spec = {.key = GI_KEY_RANGE, .nbins = 65536, .lo = 0, .hi = 1};
    uint64_t seed = SEED;
    struct guard sources[2];
    struct gi_queue *queue;
    struct gi_err err = {0};
    make_sources(sources, size, 1, GI_F32, &seed);
    for (int x = 0; x < 65536; x++) {
        float *v = (float *)gi_row(&sources[0].image, 0) + x;
        float *below = (float *)gi_row(&sources[0].image, 1) + x;
        *v = (float)x / 65536;
        *below = nextafterf(*v, -1);
        tables.of_floats[0][x] = (float)x;
        assert_int_equal(gi_unit_bin(*v), x);
        assert_int_equal(gi_unit_bin(*below), x ? x - 1 : 0);
    }
    check(&(struct gi_pointwise){.op = GI_POINTWISE_TABLE, .table = {tables.of_floats[0]}}, sources,
          true);
    case_open(&queue, gi_kernels_cpu(), 1);
    assert_int_equal(queue->k->histogram(queue, counts, &sources[0].image, &spec, &err), GI_OK);
    for (int i = 0; i < 65536; i++)
        assert_int_equal(counts[i], i < 65535 ? 2 : 1);
    gi_queue_close_alone(&queue);
    free_sources(sources);
}

/* A type that an operation does not support is refused, and nothing is written. */
static void refused(void **state)
{
    (void)state;
    struct guard src, dst;
    struct gi_queue *queue;
    struct gi_threshold zero = {0};
    case_open(&queue, gi_kernels_cpu(), 2);
    for (int type = GI_F32; type <= GI_U32; type++) {
        struct gi_err err = {0};
        guard_alloc(&src, 5, 3, 1, (enum gi_type)type, 0);
        guard_alloc(&dst, 5, 3, 1, (enum gi_type)type, 0);
        for (int op = 0; op < POINTWISE_OPERATIONS; op++) {
            struct gi_pointwise spec = {.op = (enum gi_pointwise_op)op,
                                        .table = {tables.of_floats[0]},
                                        .other = &src.image};
            enum gi_status want = type == GI_F32 ? GI_OK : GI_E_UNSUPPORTED;
            err = (struct gi_err){0};
            assert_int_equal(queue->k->pointwise(queue, &dst.image, &src.image, &spec, &err), want);
            assert_int_equal(err.status, want);
        }
        if (type == GI_U32) {
            assert_int_equal(queue->k->threshold(queue, &dst.image, &src.image, &zero, &err),
                             GI_E_UNSUPPORTED);
            assert_int_equal(queue->k->luma(queue, &dst.image, &src.image, NULL, &err),
                             GI_E_UNSUPPORTED);
            for (int y = 0; y < 3; y++)
                for (size_t i = 0; i < gi_row_nbytes(&dst.image); i++)
                    assert_int_equal(((char *)gi_row(&dst.image, y))[i], 0);
        }
        guard_free(&src);
        guard_free(&dst);
    }
    gi_queue_close_alone(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape), cmocka_unit_test(all_bytes),
        cmocka_unit_test(many_words),  cmocka_unit_test(steps_of_floats),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
