/* Painting regions, at every level of the CPU and on CUDA: marked pixels have the value, all others
 * are unchanged.
 * Sources: regions
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/regions.h"

enum { SEED = 20261124, LABELS = 300 };

static void check_queue(struct gi_queue *queue, struct gi_paint spec, const struct gi_image *src,
                        const struct gi_image *labels, const struct gi_image *want, int way)
{
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct gi_image device, numbers, dst, back;
    struct guard got;
    guard_alloc(&got, src->width, src->height, src->channels, src->type, 0);
    assert_int_equal(k->upload(queue, &device, src, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &numbers, labels, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
    spec.labels = &numbers;
    assert_true(walk_ran(queue, "paint", way, k->paint(queue, &dst, &device, &spec, &err), &err));
    assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
    case_equal(&back, want, walk_what(queue, "paint", way));
    guard_check(&got);
    gi_image_free(&back);
    k->release(queue, &device);
    k->release(queue, &numbers);
    guard_free(&got);
}

static void check(const int *size, int channels, enum gi_type type, uint64_t *seed)
{
    struct guard src, labels, want;
    uint8_t marked[LABELS];
    float value = gi_type_full_scale(type);
    guard_alloc(&src, size[0], size[1], channels, type, 0);
    guard_alloc(&labels, size[0], size[1], 1, GI_U32, 0);
    guard_alloc(&want, size[0], size[1], channels, type, 0);
    case_fill(&src.image, seed);
    for (int i = 0; i < LABELS; i++)
        marked[i] = case_between(seed, 0, 2) == 0 ? (uint8_t)case_between(seed, 1, 255) : 0;
    for (int y = 0; y < size[1]; y++) {
        memcpy(gi_row(&want.image, y), gi_row(&src.image, y), gi_row_nbytes(&src.image));
        for (int x = 0; x < size[0]; x++) {
            int label = case_between(seed, 0, 1) ? case_between(seed, 0, LABELS) : 0;
            ((uint32_t *)gi_row(&labels.image, y))[x] = (uint32_t)label;
            for (int c = 0; label && marked[label - 1] && c < gi_colour_channels(&src.image); c++)
                case_put(&want.image, y, (size_t)(x * channels + c), value);
        }
    }
    struct gi_paint spec = {NULL, marked, LABELS, value};
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int way = -1; walk_queues[q] && walk_force(walk_queues[q], "paint", way); way++)
            check_queue(walk_queues[q], spec, &src.image, &labels.image, &want.image, way);
    guard_free(&src);
    guard_free(&labels);
    guard_free(&want);
}

static void every_shape(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    print_message("seed %d\n", SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int i = 0; i < CASE_SIZES; i++)
                check(case_sizes[i], channels, (enum gi_type)type, &seed);
}

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_paint spec = {labels, NULL, 0, 0};
    return queue->k->paint(queue, dst, labels, &spec, err);
}

static void refused(void **state)
{
    (void)state;
    walk_refuses("paint", of_labels);
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
