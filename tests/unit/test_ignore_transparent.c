/* Ignoring transparent pixels: the values that replace them are set and undone, at every level of
 * the CPU and on CUDA.
 * Sources: morphology
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/morphology.h"

enum { SEED = 20261123, SIZES = CASE_SIZES + 1 };

static const int wide[] = {1300, 3};

/* Copies pixel (x, y) without alpha, or alpha alone. */
static void copy(struct gi_image *to, const struct gi_image *from, int x, int y, bool alpha)
{
    size_t nbytes = gi_type_nbytes(to->type), n = (size_t)to->channels;
    size_t at = ((size_t)x * n + (alpha ? n - 1 : 0)) * nbytes;
    memcpy((char *)gi_row(to, y) + at, (char *)gi_row(from, y) + at, nbytes * (alpha ? 1 : n - 1));
}

static void put(struct gi_image *image, int x, int y, int c, float value)
{
    case_put(image, y, (size_t)(x * image->channels + c), value);
}

static double alpha_of(const struct gi_image *image, int x, int y)
{
    return gi_sample(gi_row(image, y), (size_t)((x + 1) * image->channels - 1), image->type);
}

/* Draws alpha that is often 0, and unusual floats. */
static void fill(struct gi_image *image, float hidden, uint64_t *seed)
{
    static const float odd[] = {0, -0.0f, NAN, -INFINITY, INFINITY, -1, 1e-42f, 0.5f};
    int last = image->channels - 1;
    case_fill(image, seed);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            int pick = case_between(seed, 0, 15), c = case_between(seed, 0, last);
            if (image->type == GI_F32 && pick < 8) {
                put(image, x, y, c, odd[pick]);
                uint32_t nan = 0x7fc00000u | case_random(seed) % 4096;
                if (pick == 2)
                    memcpy((float *)gi_row(image, y) + x * image->channels, &nan, sizeof nan);
            }
            if (pick > 11)
                put(image, x, y, last, pick < 14 ? 0 : hidden);
        }
}

/* `in_place`: the result overwrites `picked`. */
static void check_queue(struct gi_queue *queue, struct gi_ignore_transparent spec,
                        const struct gi_image *src, const struct gi_image *picked,
                        const struct gi_image *want, bool in_place, int way)
{
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct gi_image device, from = {0}, dst, back;
    struct guard got;
    guard_alloc(&got, src->width, src->height, src->channels, src->type, 0);
    for (int y = 0; y < src->height; y++)
        memcpy(gi_row(&got.image, y), gi_row(picked, y), gi_row_nbytes(src));
    assert_int_equal(k->upload(queue, &device, src, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &from, picked, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
    if (spec.picked)
        spec.picked = in_place ? &dst : &from;
    assert_true(walk_ran(queue, "ignore_transparent", way,
                         k->ignore_transparent(queue, &dst, &device, &spec, &err), &err));
    assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
    case_equal(&back, want, walk_what(queue, "ignore_transparent", way));
    guard_check(&got);
    gi_image_free(&back);
    k->release(queue, &device);
    k->release(queue, &from);
    guard_free(&got);
}

static void check(const int *size, int channels, enum gi_type type, bool greatest, uint64_t *seed)
{
    struct guard src, picked, on, off;
    float full = gi_type_full_scale(type), end = type == GI_F32 ? INFINITY : full;
    struct gi_ignore_transparent spec = {.hidden = greatest ? type == GI_F32 ? -end : 0 : end,
                                         .shown = greatest ? full : 0};
    guard_alloc(&src, size[0], size[1], channels, type, 0);
    guard_alloc(&picked, size[0], size[1], channels, type, 0);
    guard_alloc(&on, size[0], size[1], channels, type, 0);
    guard_alloc(&off, size[0], size[1], channels, type, 0);
    fill(&src.image, 0, seed);
    fill(&picked.image, spec.hidden, seed);
    for (int y = 0; y < size[1]; y++)
        for (int x = 0; x < size[0]; x++) {
            bool counts = alpha_of(&src.image, x, y) > 0;
            for (int c = 0; c < channels; c++)
                put(&on.image, x, y, c, spec.hidden);
            if (counts) {
                copy(&on.image, &src.image, x, y, false);
                put(&on.image, x, y, channels - 1, spec.shown);
            }
            bool stays = alpha_of(&picked.image, x, y) == (double)spec.hidden;
            copy(&off.image, stays ? &src.image : &picked.image, x, y, false);
            copy(&off.image, &src.image, x, y, true);
        }
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int way = -1; walk_queues[q] && walk_force(walk_queues[q], "ignore_transparent", way);
             way++) {
            struct gi_ignore_transparent off_spec = spec;
            off_spec.picked = &picked.image;
            check_queue(walk_queues[q], spec, &src.image, &picked.image, &on.image, false, way);
            check_queue(walk_queues[q], off_spec, &src.image, &picked.image, &off.image, false,
                        way);
            check_queue(walk_queues[q], off_spec, &src.image, &picked.image, &off.image, true, way);
        }
    guard_free(&src);
    guard_free(&picked);
    guard_free(&on);
    guard_free(&off);
}

static void every_shape(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    print_message("seed %d\n", SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 2; channels <= GI_MAX_CHANNELS; channels += 2)
            for (int i = 0; i < 2 * SIZES; i++)
                check(i / 2 < CASE_SIZES ? case_sizes[i / 2] : wide, channels, (enum gi_type)type,
                      i % 2, &seed);
}

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_ignore_transparent spec = {.shown = 1};
    return queue->k->ignore_transparent(queue, dst, labels, &spec, err);
}

static void refused(void **state)
{
    (void)state;
    walk_refuses("ignore_transparent", of_labels);
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
