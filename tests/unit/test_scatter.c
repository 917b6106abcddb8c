/* Scattering values to places, at every level of the CPU and on CUDA: if several places name a
 * pixel, the last one determines it.
 * Sources: regions
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/regions.h"

enum { SEED = 20261123 };

/* A case: the values, and the image into which they are scattered. */
struct scatter {
    struct guard src, places, values, want;
    struct gi_scatter spec;
};

static float get(const struct gi_image *image, int64_t i, int c)
{
    int y = (int)(i / image->width), x = (int)(i % image->width);
    return (float)gi_sample(gi_row(image, y), (size_t)(x * image->channels + c), image->type);
}

static void put(struct gi_image *image, int y, size_t i, float v)
{
    float full = gi_type_full_scale(image->type);
    if (image->type == GI_F32) {
        ((float *)gi_row(image, y))[i] = isnan(v) ? NAN : v;
        return;
    }
    v = rintf(fminf(fmaxf(isnan(v) ? 0 : v, 0), full));
    if (image->type == GI_U8)
        ((uint8_t *)gi_row(image, y))[i] = (uint8_t)v;
    else
        ((uint16_t *)gi_row(image, y))[i] = (uint16_t)v;
}

/* Computes the definition of kernels/regions.h, one place after the other. */
static void define(struct scatter *s)
{
    struct gi_image *want = &s->want.image;
    const struct gi_image *places = &s->places.image, *values = &s->values.image;
    int n = values->channels - s->spec.first, channels = want->channels;
    for (int y = 0; y < want->height; y++)
        memcpy(gi_row(want, y), gi_row(&s->src.image, y), gi_row_nbytes(want));
    for (int64_t i = 0; i < (int64_t)places->width * places->height; i++) {
        double x = trunc((double)get(places, i, 0)), y = trunc((double)get(places, i, 1));
        bool inside = get(places, i, 0) >= 0 && get(places, i, 1) >= 0 && x < want->width &&
                      y >= s->spec.y && y < s->spec.y + want->height;
        for (int c = 0; inside && c < channels; c++) {
            bool is_alpha = channels % 2 == 0 && c == channels - 1;
            float v = s->spec.value[c];
            if (s->spec.values && is_alpha)
                v = n % 2 ? gi_type_full_scale(want->type)
                          : get(values, i, values->channels - 1) * s->spec.scale;
            else if (s->spec.values)
                v = get(values, i, s->spec.first + (n > 2 ? c : 0)) * s->spec.scale;
            put(want, (int)y - s->spec.y, (size_t)((int)x * channels + c), v);
        }
    }
}

static void check_queue(struct gi_queue *queue, const struct scatter *s, int way)
{
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct gi_image src, places, values, dst, back;
    struct gi_scatter spec = s->spec;
    struct guard got;
    guard_alloc(&got, s->src.image.width, s->src.image.height, s->src.image.channels,
                s->src.image.type, 0);
    assert_int_equal(k->upload(queue, &src, &s->src.image, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &places, &s->places.image, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &values, &s->values.image, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
    spec.places = &places;
    spec.values = s->spec.values ? &values : NULL;
    assert_true(walk_ran(queue, "scatter", way, k->scatter(queue, &dst, &src, &spec, &err), &err));
    assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
    case_equal(&back, &s->want.image, walk_what(queue, "scatter", way));
    guard_check(&got);
    gi_image_free(&back);
    k->release(queue, &src);
    k->release(queue, &places);
    k->release(queue, &values);
    guard_free(&got);
}

/* Draws places inside the image and around it; many are repeated, and some are invalid. */
static void fill_places(struct gi_image *places, const struct gi_image *src, int y0, uint64_t *seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.25f, -1, 3e9f, 2147483648.0f};
    case_fill(places, seed);
    for (int y = 0; y < places->height; y++)
        for (int x = 0; x < places->width; x++)
            for (int c = 0; c < 2; c++) {
                int span = c ? src->height : src->width, from = c ? y0 : 0;
                float v = (float)case_between(seed, from, from + span + span / 8);
                if (places->type == GI_F32 && case_between(seed, 0, 15) == 0)
                    v = case_between(seed, 0, 1) ? odd[case_between(seed, 0, 6)] : v + 0.75f;
                put(places, y, (size_t)(x * places->channels + c), v);
            }
}

static void check(const int *size, int channels, enum gi_type type, uint64_t *seed)
{
    struct scatter s = {0};
    int colours = channels - (channels % 2 == 0), width = case_between(seed, 1, 2 * size[0]);
    int height = case_between(seed, 1, size[1]), kind = case_between(seed, 0, 2);
    enum gi_type place_type = case_between(seed, 0, 2) ? GI_F32 : GI_U16;
    enum gi_type value_type = kind == 1 ? place_type : (enum gi_type)case_between(seed, 0, 2);
    int nvalues = case_between(seed, 1, colours == 3 ? 4 : 2), place_channels = 2;
    if (kind == 1) { /* values are channels of the places */
        nvalues = case_between(seed, 1, 2);
        place_channels = 2 + nvalues;
    }
    s.spec = (struct gi_scatter){.first = kind == 1 ? 2 : 0,
                                 .scale = gi_type_full_scale(type) / gi_type_full_scale(value_type),
                                 .y = case_between(seed, 0, 1) ? 0 : case_between(seed, 1, 70)};
    for (int c = 0; c < channels; c++)
        s.spec.value[c] = case_real(seed) * 1.2f * gi_type_full_scale(type);
    guard_alloc(&s.src, size[0], size[1], channels, type, 0);
    guard_alloc(&s.want, size[0], size[1], channels, type, 0);
    guard_alloc(&s.places, width, height, place_channels, place_type, 0);
    guard_alloc(&s.values, kind == 1 ? width : width * height, kind == 1 ? height : 1,
                kind == 1 ? place_channels : nvalues, value_type, 0);
    case_fill(&s.src.image, seed);
    case_fill(&s.values.image, seed);
    if (value_type == GI_F32)
        memcpy(gi_row(&s.values.image, 0), &(uint32_t){0xffc12345}, sizeof(float)); /* a NaN */
    fill_places(&s.places.image, &s.src.image, s.spec.y, seed);
    if (kind == 1)
        for (int y = 0; y < height; y++)
            memcpy(gi_row(&s.values.image, y), gi_row(&s.places.image, y),
                   gi_row_nbytes(&s.places.image));
    s.spec.values = kind == 2 ? NULL : &s.values.image;
    define(&s);
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int way = -1; walk_queues[q] && walk_force(walk_queues[q], "scatter", way); way++)
            check_queue(walk_queues[q], &s, way);
    guard_free(&s.src);
    guard_free(&s.want);
    guard_free(&s.places);
    guard_free(&s.values);
}

static void every_shape(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    print_message("seed %d\n", SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int i = 0; i < 3 * CASE_SIZES; i++)
                check(case_sizes[i % CASE_SIZES], channels, (enum gi_type)type, &seed);
}

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_scatter spec = {.places = labels};
    return queue->k->scatter(queue, dst, labels, &spec, err);
}

static void refused(void **state)
{
    (void)state;
    walk_refuses("scatter", of_labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape),
        cmocka_unit_test(refused),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
