/* Colour transforms of a pixel's channels: matrices equal their definition to the bit, and curves
 * and hues are close to it in double. Every way of every backend gives the same bytes, also in
 * place.
 * Sources: color
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/color.h"

enum { SEED = 20261123, KINDS = 9 };

static struct gi_power powers[2];

/* Sets some samples to values that only floats can hold. */
static void fill_odd(struct gi_image *image, uint64_t *seed)
{
    static const float odd[] = {NAN, -NAN, INFINITY, -INFINITY, -0.0f, 1e-40f, -1e30f, 3e38f};
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++)
            if (case_between(seed, 0, 2) == 0)
                ((float *)gi_row(image, y))[i] = odd[case_between(seed, 0, 7)];
}

static const double exponents[2] = {2.4, 1. / 3};

static void fill_powers(void)
{
    for (int p = 0; p < 2; p++) {
        for (int i = 0; i <= GI_POWER_CELLS; i++)
            powers[p].cell[i] = (float)pow(1 + (double)i / GI_POWER_CELLS, exponents[p]);
        for (int e = 0; e < 256; e++)
            powers[p].octave[e] = (float)pow(2, (e - 127) * exponents[p]);
    }
}

static struct gi_colour_step random_step(enum gi_colour_step_kind kind, float full, uint64_t *seed)
{
    struct gi_colour_step step = {.kind = kind, .full = full};
    bool diagonal = case_between(seed, 0, 2) == 0;
    for (int i = 0; i < 4; i++) {
        step.offset[i] = case_real(seed) * full / 4;
        for (int j = 0; j < 4; j++)
            step.matrix[i][j] = i == j || !diagonal ? case_real(seed) : 0;
    }
    step.curve = (struct gi_colour_curve){.cut = full / 16,
                                          .slope = 0.75f,
                                          .low = full / 8,
                                          .in_scale = 0.9f / full,
                                          .in_offset = 0.1f,
                                          .scale = 0.8f * full,
                                          .offset = full / 16,
                                          .power = case_between(seed, -1, 1),
                                          .odd = case_between(seed, 0, 1)};
    return step;
}

static struct gi_colour_transform random_transform(int kind, const struct gi_image *src,
                                                   uint64_t *seed)
{
    static const enum gi_colour_step_kind kinds[] = {
        GI_COLOUR_MATRIX, GI_COLOUR_MATRIX,   GI_COLOUR_CURVE, GI_COLOUR_TO_HSV, GI_COLOUR_FROM_HSV,
        GI_COLOUR_TO_HSL, GI_COLOUR_FROM_HSL, GI_COLOUR_CURVE, GI_COLOUR_MATRIX};
    float full = gi_type_full_scale(src->type);
    struct gi_colour_transform transform = {.nsteps = kind < 7 ? 1 : 4,
                                            .powers = {&powers[0], &powers[1]}};
    transform.alpha_too = kind == 1 && gi_has_alpha(src);
    for (int i = 0; i < transform.nsteps; i++)
        transform.steps[i] = random_step(kinds[(kind + 3 * i) % KINDS], full, seed);
    return transform;
}

/* ---- the definition in double ---- */

static double bent(const struct gi_colour_curve *curve, double x)
{
    double size = curve->odd ? fabs(x) : x,
           u = (double)curve->in_scale * size + (double)curve->in_offset;
    double p = curve->power < 0 ? 3 : exponents[curve->power];
    double y = size > (double)curve->cut ? (double)curve->scale * pow(u, p) + (double)curve->offset
                                         : (double)curve->slope * size + (double)curve->low;
    return curve->odd && x < 0 ? -y : y;
}

/* Converts hues by cases, like textbooks. */
static void hues(enum gi_colour_step_kind kind, double v[3], double full)
{
    double a = v[0] / full, b = v[1] / full, c = v[2] / full;
    double most = fmax(a, fmax(b, c)), least = fmin(a, fmin(b, c)), spread = most - least;
    if (kind == GI_COLOUR_TO_HSV || kind == GI_COLOUR_TO_HSL) {
        double h = spread == 0 ? 0
                   : most == a ? fmod((b - c) / spread + 6, 6)
                   : most == b ? (c - a) / spread + 2
                               : (a - b) / spread + 4;
        double l = (most + least) / 2, s = spread == 0 ? 0 : spread / (l > 0.5 ? 2 - 2 * l : 2 * l);
        v[0] = h / 6 * full;
        v[1] = (kind == GI_COLOUR_TO_HSL ? s : most > 0 ? spread / most : 0) * full;
        v[2] = (kind == GI_COLOUR_TO_HSL ? l : most) * full;
        return;
    }
    double chroma = kind == GI_COLOUR_FROM_HSV ? c * b : (1 - fabs(2 * c - 1)) * b;
    double low = kind == GI_COLOUR_FROM_HSV ? c - chroma : c - chroma / 2;
    double turn = fmod(a * 6, 6), x = chroma * (1 - fabs(fmod(turn, 2) - 1));
    const double parts[6][3] = {{chroma, x, 0}, {x, chroma, 0}, {0, chroma, x},
                                {0, x, chroma}, {x, 0, chroma}, {chroma, 0, x}};
    for (int i = 0; i < 3; i++)
        v[i] = (parts[(int)turn][i] + low) * full;
}

static void meant(const struct gi_colour_step *step, double v[4], bool alpha_too)
{
    double in[4] = {v[0], v[1], v[2], v[3]};
    if (step->kind == GI_COLOUR_CURVE) {
        for (int i = 0; i < 3; i++)
            v[i] = bent(&step->curve, v[i]);
    } else if (step->kind != GI_COLOUR_MATRIX) {
        hues(step->kind, v, (double)step->full);
    } else {
        for (int i = 0; i < (alpha_too ? 4 : 3); i++) {
            float f = step->offset[i]; /* the first step is exact to the bit */
            for (int j = 0; j < (alpha_too ? 4 : 3); j++)
                f = fmaf(step->matrix[i][j], (float)in[j], f);
            v[i] = (double)f;
        }
    }
}

static double get(const struct gi_image *image, int y, size_t i)
{
    return gi_sample(gi_row(image, y), i, image->type);
}

/* Fails if `got` differs too much from the definition in double. */
static void check_meaning(const struct gi_colour_transform *transform, const struct gi_image *src,
                          const struct gi_image *got, const char *what)
{
    double full = (double)gi_type_full_scale(src->type);
    bool exact = transform->nsteps == 1 && transform->steps[0].kind == GI_COLOUR_MATRIX;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++) {
            size_t at = (size_t)x * (size_t)src->channels;
            double v[4] = {0};
            for (int c = 0; c < src->channels; c++)
                v[c] = get(src, y, at + (size_t)c);
            for (int i = 0; i < transform->nsteps; i++)
                meant(&transform->steps[i], v, transform->alpha_too);
            for (int c = 0; c < src->channels; c++) {
                double want = src->type == GI_F32 ? v[c] : rint(fmin(fmax(v[c], 0), full));
                double slack = exact ? 0 : src->type == GI_F32 ? 0x1p-18 : 1;
                if (!(fabs(get(got, y, at + (size_t)c) - want) <= slack))
                    fail_msg("%s: %d, %d, channel %d: %g, not %g", what, x, y, c,
                             get(got, y, at + (size_t)c), want);
            }
        }
}

/* ---- all ways ---- */

/* Runs way i of a queue into another image, or in place. */
static bool make(struct gi_queue *queue, int i, const struct gi_colour_transform *transform,
                 struct guard *got, const struct gi_image *src, bool over)
{
    struct gi_err err = {0};
    struct gi_image from, to, back;
    if (over)
        for (int y = 0; y < src->height; y++)
            memcpy(gi_row(&got->image, y), gi_row(src, y), gi_row_nbytes(src));
    assert_int_equal(queue->k->upload(queue, &from, src, NULL, &err), GI_OK);
    assert_int_equal(queue->k->upload(queue, &to, &got->image, NULL, &err), GI_OK);
    bool ran =
        walk_ran(queue, "colour_transform", i,
                 queue->k->colour_transform(queue, &to, over ? &to : &from, transform, &err), &err);
    assert_int_equal(queue->k->download(queue, &back, &to, NULL, &err), GI_OK);
    for (int y = 0; y < src->height; y++)
        memmove(gi_row(&got->image, y), gi_row(&back, y), gi_row_nbytes(src));
    gi_image_free(&back);
    queue->k->release(queue, &from);
    guard_check(got);
    return ran;
}

static void check(const struct gi_colour_transform *transform, const struct gi_image *src, bool odd)
{
    struct guard want, got;
    guard_alloc(&want, src->width, src->height, src->channels, src->type, 0);
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int i = -1; walk_queues[q] && walk_force(walk_queues[q], "colour_transform", i); i++)
            for (int over = 0; over < 2; over++) {
                const char *what = walk_what(walk_queues[q], "colour_transform", i);
                guard_alloc(&got, src->width, src->height, src->channels, src->type,
                            5 * gi_type_nbytes(src->type));
                if (make(walk_queues[q], i, transform, &got, src, over)) {
                    if (q == 0 && i < 0 && !over)
                        for (int y = 0; y < src->height; y++)
                            memcpy(gi_row(&want.image, y), gi_row(&got.image, y),
                                   gi_row_nbytes(src));
                    case_equal(&got.image, &want.image, what);
                    if (!odd && !over)
                        check_meaning(transform, src, &got.image, what);
                }
                guard_free(&got);
            }
    guard_free(&want);
}

static void test_all(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 9}, {67, 5}, {1029, 3}};
    uint64_t seed = SEED;
    print_message("seed %d\n", SEED);
    fill_powers();
    for (int s = 0; s < 6; s++)
        for (int channels = 3; channels <= 4; channels++)
            for (int type = GI_U8; type <= GI_F32; type++)
                for (int kind = 0; kind < 2 * KINDS; kind++) {
                    struct guard src;
                    bool odd = kind >= KINDS;
                    if (odd && (type != GI_F32 || s % 2))
                        continue;
                    guard_alloc(&src, sizes[s][0], sizes[s][1], channels, (enum gi_type)type,
                                3 * gi_type_nbytes((enum gi_type)type));
                    case_fill(&src.image, &seed);
                    if (odd)
                        fill_odd(&src.image, &seed);
                    struct gi_colour_transform transform =
                        random_transform(kind % KINDS, &src.image, &seed);
                    check(&transform, &src.image, odd || kind >= 7);
                    guard_free(&src);
                }
}

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_colour_transform transform = {.nsteps = 1};
    return queue->k->colour_transform(queue, dst, labels, &transform, err);
}

static void test_types(void **state)
{
    (void)state;
    walk_refuses("colour_transform", of_labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_types),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
