/* The joint bilateral filter with a guide image: every level of the CPU and CUDA, and every way
 * that takes a guide, give the definition of kernels/denoise.h.
 * Sources: denoise
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/denoise.h"

enum { SEED = 20261125, HALF_MAX = 4 };

struct joint {
    struct guard src, guide, want;
    struct gi_bilateral spec;
    float space[(HALF_MAX + 1) * (HALF_MAX + 1)];
    float value[GI_RANGE_ENTRIES], slope[GI_RANGE_ENTRIES];
};

static float get(const struct gi_image *image, int y, int x, int c)
{
    return (float)gi_sample(gi_row(image, y), (size_t)(x * image->channels + c), image->type);
}

static void put(struct gi_image *image, int y, int x, int c, float v)
{
    size_t i = (size_t)(x * image->channels + c);
    float full = gi_type_full_scale(image->type);
    if (image->type != GI_F32)
        v = rintf(fminf(fmaxf(v, 0), full));
    if (image->type == GI_U8)
        ((uint8_t *)gi_row(image, y))[i] = (uint8_t)v;
    else if (image->type == GI_U16)
        ((uint16_t *)gi_row(image, y))[i] = (uint16_t)v;
    else
        ((float *)gi_row(image, y))[i] = isnan(v) ? NAN : v;
}

/* Returns the sample at any coordinates; `value` is the constant outside the image. */
static float at(const struct gi_image *image, const float *value, enum gi_border border, int y,
                int x, int c)
{
    int yi = gi_border_index(y, image->height, border);
    int xi = gi_border_index(x, image->width, border);
    if (yi >= 0 && xi >= 0)
        return get(image, yi, xi, c);
    float full = gi_type_full_scale(image->type);
    return image->type == GI_F32 ? value[c] : rintf(fminf(fmaxf(value[c], 0), full));
}

/* Adds the neighbour (y + j, x + i) of (y, x) to the sums of a row; the weights come last. */
static void add(const struct joint *s, float *sums, int y, int x, int j, int i)
{
    const struct gi_bilateral *spec = &s->spec;
    const struct gi_image *src = &s->src.image, *guide = &s->guide.image;
    int half = spec->k / 2, colours = gi_colour_channels(src);
    float d = 0, q[GI_MAX_CHANNELS];
    for (int c = 0; c < gi_colour_channels(guide); c++) {
        float there = at(guide, spec->guide_value, spec->border.mode, y + j, x + i, c);
        float difference = fabsf(there - get(guide, y, x, c));
        d = c ? d + difference : difference;
    }
    float t = d * spec->scale, space = s->space[abs(j) * (half + 1) + abs(i)];
    if (!(t < (float)spec->n - 0.5f) || space == 0)
        return;
    for (int c = 0; c < src->channels; c++)
        q[c] = at(src, spec->border.value, spec->border.mode, y + j, x + i, c);
    for (int c = 0; c < colours; c++)
        if (!isfinite(q[c]))
            return;
    float e = rintf(t), slope = spec->slope ? spec->slope[(int)e] : 0;
    float w = fmaf(t - e, slope, spec->value[(int)e]) * space;
    w = colours < src->channels ? w * q[colours] : w;
    for (int c = 0; c < colours; c++)
        sums[c] = fmaf(w, q[c], sums[c]);
    sums[colours] += w;
}

static void define(struct joint *s)
{
    const struct gi_image *src = &s->src.image;
    int half = s->spec.k / 2, colours = gi_colour_channels(src);
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++) {
            float sums[GI_MAX_CHANNELS] = {0};
            for (int j = -half; j <= half; j++) {
                float row[GI_MAX_CHANNELS] = {0};
                for (int i = -half; i <= half; i++)
                    add(s, row, y, x, j, i);
                for (int c = 0; c <= colours; c++)
                    sums[c] += row[c];
            }
            for (int c = 0; c < src->channels; c++) {
                bool mean = c < colours && sums[colours] > 0;
                put(&s->want.image, y, x, c, mean ? sums[c] / sums[colours] : get(src, y, x, c));
            }
        }
}

static void check_queue(struct gi_queue *queue, const struct joint *s, int way)
{
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct gi_image src, guide, dst, back;
    struct gi_bilateral spec = s->spec;
    struct guard got;
    guard_alloc(&got, s->src.image.width, s->src.image.height, s->src.image.channels,
                s->src.image.type, 0);
    assert_int_equal(k->upload(queue, &src, &s->src.image, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &guide, &s->guide.image, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
    spec.guide = &guide;
    if (walk_ran(queue, "bilateral", way, k->bilateral(queue, &dst, &src, &spec, &err), &err)) {
        assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
        case_equal(&back, &s->want.image, walk_what(queue, "bilateral", way));
        guard_check(&got);
        gi_image_free(&back);
    } else {
        k->release(queue, &dst);
    }
    k->release(queue, &src);
    k->release(queue, &guide);
    guard_free(&got);
}

/* Draws a disk and weights that decrease with the distance. */
static void fill_tables(struct joint *s, uint64_t *seed)
{
    const struct gi_image *guide = &s->guide.image;
    struct gi_bilateral *spec = &s->spec;
    int half = case_between(seed, 0, HALF_MAX);
    bool whole = guide->type == GI_U8 && case_between(seed, 0, 2);
    spec->k = 2 * half + 1;
    spec->n = whole ? 255 * gi_colour_channels(guide) + 1 : case_between(seed, 1, GI_RANGE_ENTRIES);
    spec->scale = whole ? 1 : 2.0f * (float)spec->n / gi_type_full_scale(guide->type);
    for (int j = 0; j <= half; j++)
        for (int i = 0; i <= half; i++)
            s->space[j * (half + 1) + i] =
                i * i + j * j <= half * half ? 1 / (1 + (float)(i * i + j * j)) : 0;
    for (int i = 0; i < spec->n; i++) {
        s->value[i] = 1 - (float)i / (float)spec->n;
        s->slope[i] = -0.9f / (float)spec->n;
    }
    spec->space = s->space;
    spec->value = s->value;
    spec->slope = whole ? NULL : s->slope;
}

/* Infinities and NaN among floats. */
static void fill_odd(struct gi_image *image, uint64_t *seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e30f};
    for (int i = 0; image->type == GI_F32 && i < image->width; i++) {
        float *row = gi_row(image, case_between(seed, 0, image->height - 1));
        int x = case_between(seed, 0, image->width - 1) * image->channels;
        row[x + case_between(seed, 0, gi_colour_channels(image) - 1)] =
            odd[case_between(seed, 0, 4)];
    }
}

static void check(const int *size, int channels, enum gi_type type, enum gi_border border,
                  uint64_t *seed)
{
    static struct joint s;
    enum gi_type guide_type = (enum gi_type)case_between(seed, GI_U8, GI_F32);
    guard_alloc(&s.src, size[0], size[1], channels, type, 0);
    guard_alloc(&s.want, size[0], size[1], channels, type, 0);
    guard_alloc(&s.guide, size[0], size[1], case_between(seed, 1, GI_MAX_CHANNELS), guide_type, 0);
    case_fill(&s.src.image, seed);
    case_fill(&s.guide.image, seed);
    if (case_between(seed, 0, 1)) {
        fill_odd(&s.src.image, seed);
        fill_odd(&s.guide.image, seed);
    }
    s.spec = (struct gi_bilateral){.border = case_border(seed, border, type)};
    struct gi_border_spec border_spec = case_border(seed, border, guide_type);
    memcpy(s.spec.guide_value, border_spec.value, sizeof border_spec.value);
    fill_tables(&s, seed);
    define(&s);
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int way = -1; walk_queues[q] && walk_force(walk_queues[q], "bilateral", way); way++)
            check_queue(walk_queues[q], &s, way);
    guard_free(&s.src);
    guard_free(&s.want);
    guard_free(&s.guide);
}

static void every_shape(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    print_message("seed %d\n", SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int border = 0; border < CASE_BORDERS; border++)
                for (int i = 0; i < CASE_SIZES - 1; i++)
                    if (!case_is_left_out())
                        check(case_sizes[i], channels, (enum gi_type)type, (enum gi_border)border,
                              &seed);
}

int main(void)
{
    (void)walk_check_all; /* only test_ways.c uses it */
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape)};
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
