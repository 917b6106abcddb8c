/* Flood fill from the sides of the image and of enclosed pixels, at every level of the CPU, against
 * a walk from pixel to pixel.
 * Sources: regions
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/regions.h"

enum { SEED = 20261123, SIZES = CASE_SIZES + 3, PICTURES = 8 };

static const int more_sizes[][2] = {{64, 9}, {128, 130}, {401, 203}};

/* The foreground of a picture: noise of several densities, none, all, a spiral, rings. */
static bool is_drawn(int picture, int x, int y, const int *size, uint64_t *seed)
{
    int ring = x < y ? x : y, width = size[0], height = size[1];
    ring = width - 1 - x < ring ? width - 1 - x : ring;
    ring = height - 1 - y < ring ? height - 1 - y : ring;
    switch (picture) {
    case 0:
        return false;
    case 1:
        return true;
    case 2: /* every other ring, with one gap each: a single long way to the centre */
        return ring % 2 == 0 || (ring % 4 == 1 ? x == ring && y == ring + 1
                                               : x == width - 1 - ring && y == height - 2 - ring);
    case 3:
        return ring % 2 == 1;
    case 4:
        return (x + y) % 2 == 0;
    default:
        return case_between(seed, 0, 99) < 35 + 12 * (picture - 5);
    }
}

/* Sets pixels of `on` (1: foreground) that are connected to a side to 2. */
static void reach(uint8_t *on, const int *size, int connectivity)
{
    int width = size[0], height = size[1], n = 0;
    int *todo = malloc((size_t)width * (size_t)height * sizeof *todo);
    for (int i = 0; i < width * height; i++) {
        int x = i % width, y = i / width;
        if (on[i] && (!x || !y || x == width - 1 || y == height - 1)) {
            on[i] = 2;
            todo[n++] = i;
        }
    }
    while (n) {
        int at = todo[--n];
        for (int k = 0; k < 9; k++) {
            int x = at % width + k % 3 - 1, y = at / width + k / 3 - 1;
            bool near = connectivity == 8 || k % 2 == 1;
            if (near && x >= 0 && y >= 0 && x < width && y < height && on[y * width + x] == 1) {
                on[y * width + x] = 2;
                todo[n++] = y * width + x;
            }
        }
    }
    free(todo);
}

static void check_queue(struct gi_queue *queue, struct gi_flood spec, const struct gi_image *src,
                        const struct gi_image *judge, const struct gi_image *want, int way)
{
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct gi_image device, on, dst, back;
    struct guard got;
    guard_alloc(&got, src->width, src->height, src->channels, src->type, 0);
    assert_int_equal(k->upload(queue, &device, src, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &on, judge, NULL, &err), GI_OK);
    assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
    struct gi_predicate foreground = {&on, spec.foreground->above, spec.foreground->invert};
    spec.foreground = &foreground;
    assert_true(walk_ran(queue, "flood", way, k->flood(queue, &dst, &device, &spec, &err), &err));
    assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
    case_equal(&back, want, walk_what(queue, "flood", way));
    guard_check(&got);
    gi_image_free(&back);
    k->release(queue, &device);
    k->release(queue, &on);
    guard_free(&got);
}

static void check(const int *size, int picture, int channels, enum gi_type type, int connectivity,
                  bool enclosed, uint64_t *seed)
{
    struct guard src, judge, want;
    float full = gi_type_full_scale(type), value = enclosed ? full : 0;
    bool invert = case_between(seed, 0, 1);
    struct gi_predicate foreground = {.above = full / 2, .invert = invert};
    struct gi_flood spec = {&foreground, connectivity, enclosed, value};
    uint8_t *on = malloc((size_t)size[0] * (size_t)size[1]);
    guard_alloc(&src, size[0], size[1], channels, type, 0);
    guard_alloc(&judge, size[0], size[1], 1, type, 0);
    guard_alloc(&want, size[0], size[1], channels, type, 0);
    case_fill(&src.image, seed);
    for (int i = 0; i < size[0] * size[1]; i++) {
        on[i] = is_drawn(picture, i % size[0], i / size[0], size, seed);
        case_put(&judge.image, i / size[0], (size_t)(i % size[0]), on[i] != invert ? full : 0);
    }
    reach(on, size, connectivity);
    for (int y = 0; y < size[1]; y++) {
        memcpy(gi_row(&want.image, y), gi_row(&src.image, y), gi_row_nbytes(&src.image));
        for (int x = 0; x < size[0]; x++)
            for (int c = 0; c < gi_colour_channels(&src.image); c++)
                if (on[y * size[0] + x] == (enclosed ? 1 : 2))
                    case_put(&want.image, y, (size_t)(x * channels + c), value);
    }
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int way = -1; walk_queues[q] && walk_force(walk_queues[q], "flood", way); way++)
            check_queue(walk_queues[q], spec, &src.image, &judge.image, &want.image, way);
    guard_free(&src);
    guard_free(&judge);
    guard_free(&want);
    free(on);
}

static void every_picture(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    print_message("seed %d\n", SEED);
    for (int i = 0; i < SIZES * PICTURES * 4; i++) {
        int of = i / 4 / PICTURES;
        const int *size = of < CASE_SIZES ? case_sizes[of] : more_sizes[of - CASE_SIZES];
        int channels = case_between(&seed, 1, GI_MAX_CHANNELS);
        enum gi_type type = (enum gi_type)case_between(&seed, GI_U8, GI_F32);
        check(size, i / 4 % PICTURES, channels, type, i % 2 ? 4 : 8, i % 4 < 2, &seed);
    }
}

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_flood spec = {.connectivity = 4};
    return queue->k->flood(queue, dst, labels, &spec, err);
}

static void refused(void **state)
{
    (void)state;
    walk_refuses("flood", of_labels);
}

/* The CPU only: CUDA computes flood fills from labels. */
static int open_cpu(void **state)
{
    int status = walk_open(state);
    for (int q = 0; q < WALK_QUEUES; q++)
        if (walk_queues[q] && !walk_queues[q]->k->flood)
            gi_queue_close_alone(&walk_queues[q]);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_picture),
        cmocka_unit_test(refused),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, open_cpu, walk_close);
}
