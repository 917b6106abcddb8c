/* Binary arithmetic and compositing: every level and CUDA give the bytes of plain C, which is
 * within half a step of arithmetic in double.
 * Sources: arithmetic
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/arithmetic.h"

enum { SEED = 20261123, ROUNDS = 40 };

/* The factors of Porter and Duff's operators, and of plus. */
static const struct mode {
    float above[2], below[2];
    bool plus;
} modes[] = {{{1, 0}, {1, -1}, false}, {{1, -1}, {1, 0}, false},  {{0, 1}, {0, 0}, false},
             {{0, 1}, {1, -1}, false}, {{1, -1}, {1, -1}, false}, {{1, 0}, {1, 0}, true}};

/* Returns the sample of colour channel c, 0 to 3, with full scale 1; alpha is 1 if the image has
 * none. */
static double sample_at(const struct gi_image *image, int y, int x, int c)
{
    int colours = gi_colour_channels(image);
    if (c == 3 && !gi_has_alpha(image))
        return 1;
    size_t at = (size_t)x * (size_t)image->channels + (size_t)(c == 3 ? colours : c % colours);
    return gi_sample(gi_row(image, y), at, image->type) / (double)gi_type_full_scale(image->type);
}

/* Does the same for the pixel of the second image that is combined with (x, y). */
static double beside_at(const struct gi_arithmetic *spec, const struct gi_image *image, double full,
                        int y, int x, int c)
{
    if (!image)
        return (double)spec->value[c] / full;
    int64_t oy = y - spec->y, ox = x - spec->x, w = image->width, h = image->height;
    if (spec->tile) {
        oy = ((oy % h) + h) % h;
        ox = ((ox % w) + w) % w;
    }
    return oy < 0 || ox < 0 || oy >= h || ox >= w ? 0 : sample_at(image, (int)oy, (int)ox, c);
}

static double blended(enum gi_arithmetic_layer_mode blend, double b, double s)
{
    double means[] = {s, b * s, b + s - b * s, fmin(b, s), fmax(b, s), fabs(b - s)};
    return means[blend];
}

static double arithmetic(const struct gi_arithmetic *spec, double full, double a, double b,
                         double d, int c)
{
    double t = (double)spec->t, f = 0;
    a *= full, b *= full, d *= full;
    switch (spec->op) {
    case GI_ARITHMETIC_ADD:
        f = a + b;
        break;
    case GI_ARITHMETIC_SUBTRACT:
        f = a - b;
        break;
    case GI_ARITHMETIC_MULTIPLY:
        f = a * b;
        break;
    case GI_ARITHMETIC_DIVIDE:
        f = (a - d) / (b - d);
        break;
    case GI_ARITHMETIC_DIFFERENCE:
        f = fabs(a - b);
        break;
    case GI_ARITHMETIC_MIDDLE:
        f = (a + b) / 2;
        break;
    case GI_ARITHMETIC_MINIMUM:
        f = fmin(a, b);
        break;
    case GI_ARITHMETIC_MAXIMUM:
        f = fmax(a, b);
        break;
    case GI_ARITHMETIC_OUTLIER:
        f = fabs(a - b) > t ? b : a;
        break;
    default:
        f = a + t * (b - a);
    }
    if (spec->plain)
        return spec->op == GI_ARITHMETIC_MULTIPLY ? f / full : f;
    return f * (double)spec->factor[c] + (double)spec->offset;
}

/* Returns channel c, 0 to 3, of a composited pixel as a fraction of full scale, or NAN for the
 * colour of a pixel so transparent that float32 is not accurate. */
static double layered(const struct gi_arithmetic *spec, const struct gi_image *src, double full,
                      int y, int x, int c)
{
    double as = beside_at(spec, spec->other, full, y, x, 3) * (double)spec->opacity;
    double ab = sample_at(src, y, x, 3), b = sample_at(src, y, x, c);
    double s = beside_at(spec, spec->other, full, y, x, c);
    double p = as * ((double)spec->above[0] + (double)spec->above[1] * ab);
    double q = ab * ((double)spec->below[0] + (double)spec->below[1] * as);
    if (spec->op == GI_ARITHMETIC_MASK) {
        double rgb[3], m;
        for (int i = 0; i < 3; i++)
            rgb[i] = beside_at(spec, spec->other, full, y, x, i);
        m = gi_luma(rgb) * as;
        m = spec->invert ? 1 - m : m;
        s = (double)spec->value[c] / full;
        p = (1 - m) * (double)spec->value[3] / full;
        q = m * (spec->set ? 1 : ab);
    }
    double alpha = fmin(p + q, 1);
    if (c == 3 || alpha <= 0)
        return alpha;
    if (alpha < 1.0 / 256)
        return (double)NAN;
    s = (1 - ab) * s + ab * blended(spec->blend, b, s);
    return (p * s + (spec->plus ? q : alpha - p) * b) / alpha;
}

/* Returns the arithmetic result in double, or NAN if the divisor is a difference so small that
 * float32 is not accurate. */
static double meant(const struct gi_arithmetic *spec, const struct gi_image *src, double full,
                    int y, int x, int c)
{
    bool dark = spec->dark && (c < 3 || gi_has_alpha(spec->dark));
    double b = beside_at(spec, spec->other, full, y, x, c);
    double d = dark ? beside_at(spec, spec->dark, full, y, x, c) : 0;
    if (dark && fabs(b - d) < 1.0 / 16)
        return (double)NAN;
    return arithmetic(spec, full, sample_at(src, y, x, c), b, d, c);
}

/* Returns whether the pixel's stored alpha is 0. */
static bool is_hidden(const struct gi_image *image, int y, int x)
{
    size_t channels = (size_t)image->channels, at = ((size_t)x + 1) * channels - 1;
    return gi_has_alpha(image) && gi_sample(gi_row(image, y), at, image->type) == 0;
}

/* Compares `got` with the result in double: integers may differ by half a step and float32's error,
 * floats by a relative error. */
static void check_meant(const struct gi_image *got, const struct gi_image *src,
                        const struct gi_arithmetic *spec)
{
    double full = (double)gi_type_full_scale(src->type);
    int colours = gi_colour_channels(got);
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int i = 0; i < got->channels; i++) {
                int c = i == colours ? 3 : i;
                double a = sample_at(src, y, x, c), want;
                if (spec->op >= GI_ARITHMETIC_LAYER && c < 3 && is_hidden(got, y, x))
                    want = 0;
                else if (spec->op >= GI_ARITHMETIC_LAYER)
                    want = full * layered(spec, src, full, y, x, c);
                else if (c == 3 && !spec->alpha_too)
                    want = full * a;
                else
                    want = meant(spec, src, full, y, x, c);
                if (src->type != GI_F32 && !isnan(want))
                    want = want > 0 ? fmin(want, full) : 0;
                double is = gi_sample(gi_row(got, y), (size_t)x * (size_t)got->channels + (size_t)i,
                                      got->type);
                double slack = src->type == GI_F32   ? 2e-5 * fmax(1, fabs(want))
                               : src->type == GI_U16 ? 0.52
                                                     : 0.501;
                if (isfinite(want) && fabs(want) < 1e4 && !(fabs(is - want) <= slack))
                    fail_msg("operation %d, pixel (%d, %d) channel %d: %.9g, want %.9g",
                             (int)spec->op, x, y, i, is, want);
            }
}

static void check(const struct gi_arithmetic *spec, const struct gi_image *src,
                  const struct gi_image *others, int channels)
{
    struct gi_image want = {0};
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        for (int way = -1; queue && walk_force(queue, "arithmetic", way); way++) {
            struct gi_err err = {0};
            struct gi_image in, dst, back, beside[2] = {{0}};
            struct gi_arithmetic here = *spec;
            struct guard got;
            guard_alloc(&got, src->width, src->height, channels, src->type, 16);
            const struct gi_kernels *k = queue->k;
            assert_int_equal(k->upload(queue, &in, src, NULL, &err), GI_OK);
            assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
            for (int j = 0; j < 2; j++)
                assert_int_equal(k->upload(queue, &beside[j], &others[j], NULL, &err), GI_OK);
            here.other = spec->other ? &beside[0] : NULL;
            here.dark = spec->dark ? &beside[1] : NULL;
            enum gi_status status = k->arithmetic(queue, &dst, &in, &here, &err);
            bool ran = walk_ran(queue, "arithmetic", way, status, &err);
            for (int j = 0; j < 2; j++)
                k->release(queue, &beside[j]);
            k->release(queue, &in);
            assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
            if (want.data && ran) {
                case_equal(&back, &want, walk_what(queue, "arithmetic", way));
            } else if (ran) {
                assert_int_equal(gi_image_convert(&want, &back, back.type, NULL), GI_OK);
                check_meant(&want, src, spec);
            }
            guard_check(&got);
            gi_image_free(&back);
            guard_free(&got);
        }
        if (queue)
            gi_queue_force_ways(queue, "", NULL);
    }
    gi_image_free(&want);
}

static void random_spec(struct gi_arithmetic *spec, const struct gi_image *src, uint64_t *seed)
{
    float full = gi_type_full_scale(src->type);
    const struct mode *mode = &modes[case_between(seed, 0, 5)];
    *spec = (struct gi_arithmetic){
        .op = (enum gi_arithmetic_op)case_between(seed, 0, GI_ARITHMETIC_MASK),
        .t = case_real(seed),
        .alpha_too = case_between(seed, 0, 1),
        .offset = case_between(seed, 0, 1) ? case_real(seed) * full : 0,
        .opacity = case_between(seed, 0, 1) ? 1 : 0.625f,
        .plus = mode->plus,
        .set = case_between(seed, 0, 1),
        .invert = case_between(seed, 0, 1)};
    memcpy(spec->above, mode->above, sizeof spec->above);
    memcpy(spec->below, mode->below, sizeof spec->below);
    if (mode == modes)
        spec->blend = (enum gi_arithmetic_layer_mode)case_between(seed, 0, GI_BLEND_DIFFERENCE);
    if (spec->op == GI_ARITHMETIC_OUTLIER)
        spec->t = floorf(fabsf(spec->t) * full / 2) + 0.5f;
    bool alike = case_between(seed, 0, 1);
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        float scale = spec->op == GI_ARITHMETIC_MULTIPLY ? 1 / full
                      : spec->op == GI_ARITHMETIC_DIVIDE ? full / 4
                                                         : 1;
        spec->factor[c] = scale * (case_between(seed, 0, 1) ? 1 : 2 * case_real(seed));
        spec->factor[c] = alike ? spec->factor[0] : spec->factor[c];
        spec->value[c] = rintf((case_real(seed) + 1) / 2 * full);
    }
    if (spec->op == GI_ARITHMETIC_MASK) {
        spec->opacity = 1;
        spec->plus = false;
        spec->blend = GI_BLEND_NORMAL;
    }
}

/* Draws the further images, with any type and channels; a layer also has any size and position. */
static void random_others(struct guard others[2], struct gi_arithmetic *spec,
                          const struct gi_image *src, uint64_t *seed)
{
    bool layer = spec->op == GI_ARITHMETIC_LAYER;
    int w = src->width, h = src->height;
    int width = layer ? case_between(seed, 1, 2 * w) : w;
    int height = layer ? case_between(seed, 1, 2 * h) : h;
    bool alike = !layer && case_between(seed, 0, 1);
    for (int j = 0; j < 2; j++) {
        int most = spec->op < GI_ARITHMETIC_LAYER ? gi_colour_channels(src) : 3;
        int colours = case_between(seed, 0, 1) ? most : 1;
        int channels = colours + case_between(seed, 0, 1);
        enum gi_type type = (enum gi_type)case_between(seed, 0, 2);
        guard_alloc(&others[j], width, height, alike ? src->channels : channels,
                    alike ? src->type : type, 16);
        case_fill(&others[j].image, seed);
    }
    if (layer) {
        spec->x = case_between(seed, -width, w);
        spec->y = case_between(seed, -height, h);
        spec->tile = case_between(seed, 0, 3) == 0;
    }
    bool constant = spec->op != GI_ARITHMETIC_MASK && case_between(seed, 0, 4) == 0;
    spec->other = constant ? NULL : &others[0].image;
    if (spec->op == GI_ARITHMETIC_DIVIDE && case_between(seed, 0, 1))
        spec->dark = &others[1].image;
    spec->plain = alike && spec->other && spec->op < GI_ARITHMETIC_LAYER && !spec->dark &&
                  case_between(seed, 0, 1);
}

static void test_random(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    for (int i = 0; i < CASE_SIZES; i++)
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int round = 0; round < (i == CASE_SIZES - 1 ? ROUNDS / 4 : ROUNDS); round++) {
                struct guard src, others[2];
                struct gi_arithmetic spec;
                guard_alloc(&src, case_sizes[i][0], case_sizes[i][1], case_between(&seed, 1, 4),
                            (enum gi_type)type, 16);
                case_fill(&src.image, &seed);
                random_spec(&spec, &src.image, &seed);
                random_others(others, &spec, &src.image, &seed);
                struct gi_image hosts[2] = {others[0].image, others[1].image};
                int channels =
                    spec.op < GI_ARITHMETIC_LAYER ? src.image.channels : case_between(&seed, 1, 4);
                if (gi_colour_channels(&src.image) == 3 && channels < 3)
                    channels += 2;
                check(&spec, &src.image, hosts, channels);
                guard_free(&src);
                for (int j = 0; j < 2; j++)
                    guard_free(&others[j]);
            }
}

/* Rows that end at any lane of a vector, with strides of their own. */
static void test_widths(void **state)
{
    (void)state;
    uint64_t seed = SEED + 1;
    for (int width = 1; width <= 70; width++)
        for (int op = GI_ARITHMETIC_ADD; op <= GI_ARITHMETIC_MASK; op++) {
            struct guard src, others[2];
            struct gi_arithmetic spec;
            enum gi_type type = (enum gi_type)((width + op) % 3);
            int channels = 1 + (width + op) / 3 % 4;
            guard_alloc(&src, width, 2, channels, type, 4 + 4 * (size_t)(width % 5));
            case_fill(&src.image, &seed);
            random_spec(&spec, &src.image, &seed);
            spec.op = (enum gi_arithmetic_op)op;
            spec.t = fabsf(spec.t) + 0.5f;
            for (int j = 0; j < 2; j++) {
                guard_alloc(&others[j], width, 2, channels, type, 4);
                case_fill(&others[j].image, &seed);
            }
            spec.other = &others[0].image;
            spec.dark = op == GI_ARITHMETIC_DIVIDE && width % 2 ? &others[1].image : NULL;
            spec.plain = op < GI_ARITHMETIC_LAYER && !spec.dark && width % 3 != 0;
            struct gi_image hosts[2] = {others[0].image, others[1].image};
            check(&spec, &src.image, hosts, channels);
            guard_free(&src);
            for (int j = 0; j < 2; j++)
                guard_free(&others[j]);
        }
}

/* A layer that has no rows in this band is transparent. */
static void test_no_rows(void **state)
{
    (void)state;
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_image src, in, dst, back, none = {.width = 5, .channels = 4, .type = GI_U8};
        struct gi_arithmetic spec = {.op = GI_ARITHMETIC_LAYER, .opacity = 1, .other = &none};
        struct gi_err err = {0};
        uint64_t seed = SEED;
        if (!queue)
            continue;
        spec.above[0] = spec.below[0] = 1;
        spec.below[1] = -1;
        assert_int_equal(gi_image_alloc(&src, 33, 5, 3, GI_U8, NULL), GI_OK);
        case_fill(&src, &seed);
        assert_int_equal(queue->k->upload(queue, &in, &src, NULL, &err), GI_OK);
        assert_int_equal(queue->k->alloc(queue, &dst, 33, 5, 3, GI_U8, &err), GI_OK);
        assert_int_equal(queue->k->arithmetic(queue, &dst, &in, &spec, &err), GI_OK);
        assert_int_equal(queue->k->download(queue, &back, &dst, NULL, &err), GI_OK);
        case_equal(&back, &src, "no rows");
        queue->k->release(queue, &in);
        gi_image_free(&back);
        gi_image_free(&src);
    }
}

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_arithmetic spec = {.op = GI_ARITHMETIC_ADD};
    return queue->k->arithmetic(queue, dst, labels, &spec, err);
}

static void test_types(void **state)
{
    (void)state;
    walk_refuses("arithmetic", of_labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),    cmocka_unit_test(test_widths),
        cmocka_unit_test(test_no_rows),   cmocka_unit_test(test_types),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
