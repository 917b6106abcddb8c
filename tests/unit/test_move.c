/* Every way of the primitives that move samples, on every level of the CPU and on CUDA, against the
 * plain definition. SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"

enum { SEED = 20261123 };

static uint64_t seed = SEED;

/* What a primitive is asked for; run() does it, define() says what must come out. */
struct move {
    const char *primitive;
    struct gi_window window;
};

static enum gi_status run(struct gi_queue *queue, const struct move *move, struct gi_image *dst,
                          const struct gi_image *srcs, struct gi_err *err)
{
    return queue->k->window(queue, dst, srcs, &move->window, err);
}

/* Sample c of pixel x in row y. */
static void *at(const struct gi_image *image, int y, int x, int c)
{
    size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
    return (char *)gi_row(image, y) + i * gi_type_nbytes(image->type);
}

/* A sample of the edge's value, as kernels.h rounds. */
static void put_value(void *to, float v, enum gi_type type)
{
    double full = gi_type_full_scale(type), whole = !(v > 0) ? 0 : v > full ? full : rint(v);
    uint8_t u8 = (uint8_t)(type == GI_U8 ? whole : 0);
    uint16_t u16 = (uint16_t)(type == GI_U16 ? whole : 0);
    uint32_t nan = 0x7fc00000;
    const void *from = type == GI_U8    ? (void *)&u8
                       : type == GI_U16 ? (void *)&u16
                       : isnan(v)       ? (void *)&nan
                                        : (void *)&v;
    memcpy(to, from, gi_type_nbytes(type));
}

static void define_window(const struct gi_window *w, struct gi_image *dst,
                          const struct gi_image *src)
{
    int height = w->image_height ? w->image_height : src->height;
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++)
            for (int c = 0; c < dst->channels; c++) {
                int sy = gi_border_index((long long)y + w->top, height, w->edge.border);
                int sx = gi_border_index((long long)x + w->left, src->width, w->edge.border);
                if (sx < 0 || sy < 0)
                    put_value(at(dst, y, x, c), w->edge.value[c], dst->type);
                else
                    memcpy(at(dst, y, x, c), at(src, sy - w->src_y, sx, c),
                           gi_type_nbytes(dst->type));
            }
}

/* Any bits: floats that are NaN too. */
static void fill(struct gi_image *image)
{
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < gi_row_nbytes(image); i++)
            ((uint8_t *)gi_row(image, y))[i] = (uint8_t)(case_random(&seed) >> 11);
}

static void check_way(struct gi_queue *queue, const struct move *move, int way,
                      const struct gi_image *srcs, const struct gi_image *want)
{
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct guard got;
    struct gi_image dst, back;
    guard_alloc(&got, want->width, want->height, want->channels, want->type,
                gi_type_nbytes(want->type) * 3);
    assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
    if (walk_ran(queue, move->primitive, way, run(queue, move, &dst, srcs, &err), &err)) {
        assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
        case_equal(&back, want, walk_what(queue, move->primitive, way));
        guard_check(&got);
        gi_image_free(&back);
    } else {
        k->release(queue, &dst);
    }
    guard_free(&got);
}

/* `move` on a source, on every queue, by every way. */
static void check(const struct move *move, const struct guard *src, const struct gi_image *want)
{
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_image device;
        if (!queue)
            continue;
        assert_int_equal(queue->k->upload(queue, &device, &src->image, NULL, NULL), GI_OK);
        for (int i = -1; walk_force(queue, move->primitive, i); i++)
            check_way(queue, move, i, &device, want);
        queue->k->release(queue, &device);
    }
    guard_check(src);
}

/* A place for a window of n pixels: inside, across an end, far outside. */
static int place(int image, int n)
{
    switch (case_between(&seed, 0, 5)) {
    case 0:
        return 0;
    case 1:
        return image > n ? case_between(&seed, 0, image - n) : -case_between(&seed, 0, n);
    case 2:
        return -case_between(&seed, 0, 2 * n + image);
    case 3:
        return case_between(&seed, 0, 2 * image);
    case 4:
        return case_between(&seed, 0, 1) ? 1000003 : -1000003;
    default:
        return case_between(&seed, -3, 3);
    }
}

static void check_window(const int *size, const int *made, int channels, enum gi_type type,
                         enum gi_border border)
{
    struct move move = {"window",
                        {.left = place(size[0], made[0]), .top = place(size[1], made[1])}};
    struct guard src, want;
    move.window.edge = case_edge(&seed, border, type);
    if (case_between(&seed, 0, 7) == 0)
        move.window.edge.value[0] = NAN;
    guard_alloc(&src, size[0], size[1], channels, type, gi_type_nbytes(type) * 5);
    guard_alloc(&want, made[0], made[1], channels, type, 0);
    fill(&src.image);
    define_window(&move.window, &want.image, &src.image);
    check(&move, &src, &want.image);
    guard_free(&src);
    guard_free(&want);
}

static void windows(void **state)
{
    (void)state;
    print_message("seed %d\n", SEED);
    for (int i = 0; i < CASE_SIZES * CASE_SIZES; i++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int type = GI_U8; type <= GI_F32; type++)
                for (int border = 0; border < CASE_BORDERS; border++)
                    check_window(case_sizes[i / CASE_SIZES], case_sizes[i % CASE_SIZES], channels,
                                 (enum gi_type)type, (enum gi_border)border);
}

/* Rows of a higher image serve windows whose rows they hold. */
static void windows_on_bands(void **state)
{
    (void)state;
    for (int border = 0; border < CASE_BORDERS; border++)
        for (int turn = 0; turn < 40; turn++) {
            int height = case_between(&seed, 1, 60), n = case_between(&seed, 1, 20);
            struct move move = {"window", {.left = place(13, 30), .top = place(height, n)}};
            move.window.edge = case_edge(&seed, (enum gi_border)border, GI_U8);
            struct guard whole, band, want;
            guard_alloc(&whole, 13, height, 3, GI_U8, 0);
            guard_alloc(&want, 30, n, 3, GI_U8, 0);
            fill(&whole.image);
            define_window(&move.window, &want.image, &whole.image);
            int first = height, last = 0;
            for (int y = 0; y < n; y++) {
                int row = gi_window_row(&move.window, &whole.image, y);
                first = row >= 0 && row < first ? row : first;
                last = row > last ? row : last;
            }
            first = first > last ? last : first;
            guard_alloc(&band, 13, last - first + 1, 3, GI_U8, 0);
            for (int y = first; y <= last; y++)
                memcpy(gi_row(&band.image, y - first), gi_row(&whole.image, y), 39);
            move.window.src_y = first;
            move.window.image_height = height;
            check(&move, &band, &want.image);
            guard_free(&whole);
            guard_free(&band);
            guard_free(&want);
        }
}

static void labels_are_no_samples(void **state)
{
    (void)state;
    struct move move = {.primitive = "window"};
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_image src, dst;
        struct gi_err err = {0};
        if (!queue)
            continue;
        assert_int_equal(queue->k->alloc(queue, &src, 5, 5, 1, GI_U32, &err), GI_OK);
        assert_int_equal(queue->k->alloc(queue, &dst, 5, 5, 1, GI_U32, &err), GI_OK);
        walk_refused(move.primitive, run(queue, &move, &dst, &src, &err), &err);
        queue->k->release(queue, &src);
        queue->k->release(queue, &dst);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),
        cmocka_unit_test(windows_on_bands),
        cmocka_unit_test(walk_check_all),
        cmocka_unit_test(labels_are_no_samples),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
