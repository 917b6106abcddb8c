/* Holds the rolling-ball background to its definition on every level of the CPU and on CUDA.
 * Sources: morphology
 * SPDX-License-Identifier: MIT */
#include "walk_image.h"
#include "kernels/morphology.h"

enum { RADIUS_MAX = 40 };

static uint64_t seed = 20261125;
static float heights[(RADIUS_MAX + 1) * (RADIUS_MAX + 1)];

static float defined(const struct gi_image *src, const struct gi_rolling_ball *spec, int y,
                     size_t at)
{
    size_t channels = (size_t)src->channels;
    int r = spec->radius, x = (int)(at / channels);
    float best = INFINITY;
    for (int j = -r; j <= r; j++)
        for (int i = -r; i <= r; i++) {
            int yi = gi_border_index(y + j, src->height, spec->border.mode);
            int xi = gi_border_index(x + i, src->width, spec->border.mode);
            float v = spec->border.value[at % channels], full = gi_type_full_scale(src->type);
            if (yi >= 0 && xi >= 0)
                v = (float)gi_sample(gi_row(src, yi), (size_t)xi * channels + at % channels,
                                     src->type);
            else if (src->type != GI_F32)
                v = rintf(fminf(fmaxf(v, 0), full));
            float f = v + heights[abs(j) * (r + 1) + abs(i)];
            if (f < best)
                best = f;
        }
    return spec->keep ? best : (float)gi_sample(gi_row(src, y), at, src->type) - best;
}

static void put(const struct gi_image *image, int y, size_t i, float v)
{
    void *row = gi_row(image, y);
    float full = gi_type_full_scale(image->type);
    if (image->type == GI_F32)
        ((float *)row)[i] = isnan(v) ? NAN : v;
    else if (image->type == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)rintf(fminf(fmaxf(v, 0), full));
    else
        ((uint16_t *)row)[i] = (uint16_t)rintf(fminf(fmaxf(v, 0), full));
}

static enum gi_status run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const void *spec, struct gi_err *err)
{
    return queue->k->rolling_ball(queue, dst, src, spec, err);
}

static void check(const struct gi_image *host, const struct gi_rolling_ball *spec)
{
    struct gi_image want;
    assert_int_equal(
        gi_image_alloc(&want, host->width, host->height, host->channels, host->type, NULL), GI_OK);
    for (int y = 0; y < host->height; y++)
        for (size_t i = 0; i < gi_row_samples(host); i++) {
            bool alpha = gi_has_alpha(host) && (i + 1) % (size_t)host->channels == 0;
            put(&want, y, i,
                alpha ? (float)gi_sample(gi_row(host, y), i, host->type)
                      : defined(host, spec, y, i));
        }
    walk_image("rolling_ball", host, &want, spec, run);
    gi_image_free(&want);
}

static void make(const int *size, int channels, enum gi_type type, int radius, float height,
                 int border)
{
    struct guard g;
    struct gi_rolling_ball spec = {.radius = radius,
                                   .heights = heights,
                                   .keep = case_between(&seed, 0, 1),
                                   .border = case_border(&seed, (enum gi_border)border, type)};
    for (int j = 0; j <= radius; j++)
        for (int i = 0; i <= radius; i++) {
            double rest = (double)(radius * radius - i * i - j * j);
            heights[j * (radius + 1) + i] =
                rest < 0 ? INFINITY : height * (float)(1 - sqrt(rest) / fmax(radius, 1));
        }
    heights[0] = 0;
    guard_alloc(&g, size[0], size[1], channels, type, 16);
    case_fill(&g.image, &seed);
    if (type == GI_F32) {
        float *row = gi_row(&g.image, size[1] / 2);
        row[0] = NAN;
        row[gi_row_samples(&g.image) / 2] = case_between(&seed, 0, 1) ? -INFINITY : INFINITY;
    }
    check(&g.image, &spec);
    guard_check(&g);
    guard_free(&g);
}

static void test_shapes(void **state)
{
    (void)state;
    static const int radii[] = {1, 3, 0, 7, 12};
    int turn = 0;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < 5; i++)
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++, turn++)
                make(case_sizes[i], channels, (enum gi_type)type, radii[turn % 5],
                     gi_type_full_scale((enum gi_type)type) * (turn % 2 ? 0.03f : 0.7f),
                     turn % CASE_BORDERS);
    make((const int[]){19, 9}, 1, GI_U8, RADIUS_MAX, 40,
         GI_BORDER_MIRROR);                                           /* wider than the image */
    make((const int[]){1100, 5}, 1, GI_U16, 2, 300, GI_BORDER_CLAMP); /* several strips */
}

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_rolling_ball spec = {.radius = 0, .heights = heights};
    return queue->k->rolling_ball(queue, dst, labels, &spec, err);
}

static void test_types(void **state)
{
    (void)state;
    walk_refuses("rolling_ball", of_labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_types),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
