/* Layout primitives (copy with border, turns, channel permutation, bounds): every way, on every
 * level of the CPU and on CUDA, against a definition in plain loops.
 * Sources: geometry color
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/color.h"
#include "kernels/geometry.h"

enum { SEED = 20261123 };

static uint64_t seed = SEED;

/* A primitive with its spec: run() computes it, define() gives the expected result. */
struct move {
    const char *primitive;
    enum { COPY_BORDER, LAYOUT, PERMUTE_CHANNELS } which;
    struct gi_copy_border window;
    int layout;
    struct gi_permute_channels shuffle;
};

static enum gi_status run(struct gi_queue *queue, const struct move *move, struct gi_image *dst,
                          const struct gi_image *srcs, struct gi_err *err)
{
    switch (move->which) {
    case LAYOUT:
        return queue->k->layout(queue, dst, srcs, &move->layout, err);
    case PERMUTE_CHANNELS:
        return queue->k->permute_channels(queue, dst, srcs, &move->shuffle, err);
    default:
        return queue->k->copy_border(queue, dst, srcs, &move->window, err);
    }
}

/* Returns the address of sample c of pixel x in row y. */
static void *at(const struct gi_image *image, int y, int x, int c)
{
    size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
    return (char *)gi_row(image, y) + i * gi_type_nbytes(image->type);
}

/* Stores the constant of a border, rounded as kernels.h defines. */
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

static void define_copy_border(const struct gi_copy_border *w, struct gi_image *dst,
                               const struct gi_image *src)
{
    int height = w->image_height ? w->image_height : src->height;
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++)
            for (int c = 0; c < dst->channels; c++) {
                int sy = gi_border_index((long long)y + w->top, height, w->border.mode);
                int sx = gi_border_index((long long)x + w->left, src->width, w->border.mode);
                if (sx < 0 || sy < 0)
                    put_value(at(dst, y, x, c), w->border.value[c], dst->type);
                else
                    memcpy(at(dst, y, x, c), at(src, sy - w->src_y, sx, c),
                           gi_type_nbytes(dst->type));
            }
}

/* Fills with random bits, so that floats may be NaN. */
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

/* Runs `move` on n sources, on every queue, by every way. */
static void check_all(const struct move *move, const struct guard *srcs, int n,
                      const struct gi_image *want)
{
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_image device[GI_PERMUTE_CHANNELS_SOURCES];
        if (!queue)
            continue;
        for (int i = 0; i < n; i++)
            assert_int_equal(queue->k->upload(queue, &device[i], &srcs[i].image, NULL, NULL),
                             GI_OK);
        for (int i = -1; walk_force(queue, move->primitive, i); i++)
            check_way(queue, move, i, device, want);
        for (int i = 0; i < n; i++)
            queue->k->release(queue, &device[i]);
    }
    for (int i = 0; i < n; i++)
        guard_check(&srcs[i]);
}

static void check(const struct move *move, const struct guard *src, const struct gi_image *want)
{
    check_all(move, src, 1, want);
}

/* Draws the position of a window of n pixels: inside the image, across an end, or far outside. */
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

static void check_copy_border(const int *size, const int *made, int channels, enum gi_type type,
                              enum gi_border border)
{
    struct move move = {
        .primitive = "copy_border",
        .window = {.left = place(size[0], made[0]), .top = place(size[1], made[1])}};
    struct guard src, want;
    move.window.border = case_border(&seed, border, type);
    if (case_between(&seed, 0, 7) == 0)
        move.window.border.value[0] = NAN;
    guard_alloc(&src, size[0], size[1], channels, type, gi_type_nbytes(type) * 5);
    guard_alloc(&want, made[0], made[1], channels, type, 0);
    fill(&src.image);
    define_copy_border(&move.window, &want.image, &src.image);
    check(&move, &src, &want.image);
    guard_free(&src);
    guard_free(&want);
}

static void copy_borders(void **state)
{
    (void)state;
    print_message("seed %d\n", SEED);
    for (int i = 0; i < CASE_SIZES * CASE_SIZES; i++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int type = GI_U8; type <= GI_F32; type++)
                for (int border = 0; border < CASE_BORDERS; border++)
                    check_copy_border(case_sizes[i / CASE_SIZES], case_sizes[i % CASE_SIZES],
                                      channels, (enum gi_type)type, (enum gi_border)border);
}

/* A band of a higher image serves all windows whose rows it holds. */
static void copy_borders_on_bands(void **state)
{
    (void)state;
    for (int border = 0; border < CASE_BORDERS; border++)
        for (int layout = 0; layout < 40; layout++) {
            int height = case_between(&seed, 1, 60), n = case_between(&seed, 1, 20);
            struct move move = {.primitive = "copy_border",
                                .window = {.left = place(13, 30), .top = place(height, n)}};
            move.window.border = case_border(&seed, (enum gi_border)border, GI_U8);
            struct guard whole, band, want;
            guard_alloc(&whole, 13, height, 3, GI_U8, 0);
            guard_alloc(&want, 30, n, 3, GI_U8, 0);
            fill(&whole.image);
            define_copy_border(&move.window, &want.image, &whole.image);
            int first = height, last = 0;
            for (int y = 0; y < n; y++) {
                int row = gi_copy_border_row(&move.window, &whole.image, y);
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

/* ---- turns and flips ---- */

static void define_layout(int layout, struct gi_image *dst, const struct gi_image *src)
{
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++) {
            int sx = layout & GI_LAYOUT_TRANSPOSE ? y : x,
                sy = layout & GI_LAYOUT_TRANSPOSE ? x : y;
            sx = layout & GI_LAYOUT_MIRROR_X ? src->width - 1 - sx : sx;
            sy = layout & GI_LAYOUT_MIRROR_Y ? src->height - 1 - sy : sy;
            memcpy(at(dst, y, x, 0), at(src, sy, sx, 0),
                   (size_t)src->channels * gi_type_nbytes(src->type));
        }
}

static void check_layout(int width, int height, int channels, enum gi_type type, int layout)
{
    struct move move = {.primitive = "layout", .which = LAYOUT, .layout = layout};
    struct guard src, want;
    bool swap = layout & GI_LAYOUT_TRANSPOSE;
    guard_alloc(&src, width, height, channels, type, gi_type_nbytes(type) * 7);
    guard_alloc(&want, swap ? height : width, swap ? width : height, channels, type, 0);
    fill(&src.image);
    define_layout(layout, &want.image, &src.image);
    check(&move, &src, &want.image);
    guard_free(&src);
    guard_free(&want);
}

static void turns(void **state)
{
    (void)state;
    for (int layout = 0; layout < 8; layout++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int type = GI_U8; type <= GI_F32; type++) {
                for (int i = 0; i < CASE_SIZES; i++)
                    check_layout(case_sizes[i][0], case_sizes[i][1], channels, (enum gi_type)type,
                                 layout);
                for (int i = 0; i < 12; i++)
                    check_layout(case_between(&seed, 1, 300), case_between(&seed, 1, 150), channels,
                                 (enum gi_type)type, layout);
            }
}

/* Each turn and its inverse give the source, and the orientations give the letter F of EXIF's
 * figure. */
static void orientations(void **state)
{
    (void)state;
    static const char stored[9][13] = {
        [1] = "11\n10\n10", [2] = "11\n01\n01", [3] = "01\n01\n11", [4] = "10\n10\n11",
        [5] = "111\n100",   [6] = "100\n111",   [7] = "001\n111",   [8] = "111\n001"};
    for (int o = 1; o <= 8; o++) {
        struct guard from, to;
        int width = (int)strcspn(stored[o], "\n"), height = width == 2 ? 3 : 2;
        guard_alloc(&from, width, height, 1, GI_U8, 0);
        guard_alloc(&to, 2, 3, 1, GI_U8, 0);
        for (int y = 0; y < height; y++)
            memcpy(gi_row(&from.image, y), stored[o] + y * (width + 1), (size_t)width);
        define_layout(gi_orientation_layout(o), &to.image, &from.image);
        for (int y = 0; y < 3; y++)
            assert_memory_equal(gi_row(&to.image, y), stored[1] + y * 3, 2);
        struct guard again;
        guard_alloc(&again, width, height, 1, GI_U8, 0);
        define_layout(gi_layout_inverse(gi_orientation_layout(o)), &again.image, &to.image);
        case_equal(&again.image, &from.image, "there and back");
        guard_free(&from);
        guard_free(&to);
        guard_free(&again);
    }
}

/* ---- channels ---- */

static void check_permute_channels(const int *size, int made, enum gi_type type)
{
    struct move move = {.primitive = "permute_channels", .which = PERMUTE_CHANNELS};
    struct gi_permute_channels *spec = &move.shuffle;
    struct guard srcs[GI_PERMUTE_CHANNELS_SOURCES], want;
    spec->nsources = case_between(&seed, 1, GI_PERMUTE_CHANNELS_SOURCES);
    for (int s = 0; s < spec->nsources; s++) {
        guard_alloc(&srcs[s], size[0], size[1], case_between(&seed, 1, GI_MAX_CHANNELS), type,
                    gi_type_nbytes(type) * (size_t)s);
        fill(&srcs[s].image);
    }
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        int s = case_between(&seed, -1, spec->nsources - 1);
        spec->from[c].source = s;
        spec->from[c].channel = s < 0 ? 0 : case_between(&seed, 0, srcs[s].image.channels - 1);
        spec->value[c] = case_real(&seed) * 1.2f * gi_type_full_scale(type);
    }
    guard_alloc(&want, size[0], size[1], made, type, 0);
    for (int y = 0; y < size[1]; y++)
        for (int x = 0; x < size[0]; x++)
            for (int c = 0; c < made; c++) {
                int s = spec->from[c].source;
                if (s < 0)
                    put_value(at(&want.image, y, x, c), spec->value[c], type);
                else
                    memcpy(at(&want.image, y, x, c),
                           at(&srcs[s].image, y, x, spec->from[c].channel), gi_type_nbytes(type));
            }
    check_all(&move, srcs, spec->nsources, &want.image);
    for (int s = 0; s < spec->nsources; s++)
        guard_free(&srcs[s]);
    guard_free(&want);
}

static void permutations(void **state)
{
    (void)state;
    static const int wide[] = {3001, 2}; /* several of the chunks that a row is processed in */
    for (int i = 0; i <= CASE_SIZES; i++)
        for (int made = 1; made <= GI_MAX_CHANNELS; made++)
            for (int type = GI_U8; type <= GI_F32; type++)
                for (int layout = 0; layout < 8; layout++)
                    check_permute_channels(i < CASE_SIZES ? case_sizes[i] : wide, made,
                                           (enum gi_type)type);
}

/* ---- bounding boxes ---- */

static float sample(const struct gi_image *image, int y, int x, int c)
{
    const void *row = gi_row(image, y);
    return (float)gi_sample(row, (size_t)(x * image->channels + c), image->type);
}

static struct gi_bounds define_bounds(const struct gi_image *image,
                                      const struct gi_bounds_spec *spec)
{
    struct gi_bounds bounds = {image->width, image->height, 0, 0};
    int last = image->channels - 1;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c <= last; c++) {
                bool weigh = gi_has_alpha(image) && c < last;
                float s = sample(image, y, x, c), p = spec->pixel[c], t = spec->tolerance;
                s = weigh ? s * sample(image, y, x, last) : s;
                p = weigh ? p * spec->pixel[last] : p;
                t = weigh ? t * gi_type_full_scale(image->type) : t;
                if (fabsf(s - p) <= t)
                    continue;
                bounds.left = x < bounds.left ? x : bounds.left;
                bounds.top = y < bounds.top ? y : bounds.top;
                bounds.right = x + 1 > bounds.right ? x + 1 : bounds.right;
                bounds.bottom = y + 1;
            }
    return bounds.bottom ? bounds : (struct gi_bounds){0};
}

/* Finds the bounds in an image of one colour with a few other pixels, some of them within the
 * tolerance. */
static void check_bounds(const int *size, int channels, enum gi_type type)
{
    struct gi_bounds_spec spec = {.tolerance = type == GI_F32 ? 0.01f : 3};
    struct guard src;
    float full = gi_type_full_scale(type);
    int strays = case_between(&seed, 0, 3);
    guard_alloc(&src, size[0], size[1], channels, type, gi_type_nbytes(type) * 3);
    for (int c = 0; c < channels; c++)
        put_value(at(&src.image, 0, 0, c), (case_real(&seed) + 1) / 2 * full, type);
    for (int c = 0; c < channels; c++)
        spec.pixel[c] = sample(&src.image, 0, 0, c);
    for (int y = 0; y < size[1]; y++)
        for (int x = 0; x < size[0]; x++)
            memcpy(at(&src.image, y, x, 0), at(&src.image, 0, 0, 0),
                   (size_t)channels * gi_type_nbytes(type));
    for (; strays > 0; strays--) {
        int x = case_between(&seed, 0, size[0] - 1), y = case_between(&seed, 0, size[1] - 1);
        int c = case_between(&seed, 0, channels - 1);
        float by = (float)case_between(&seed, -5, 5) * (type == GI_F32 ? 0.004f : 1);
        bool nan = type == GI_F32 && case_between(&seed, 0, 7) == 0;
        put_value(at(&src.image, y, x, c), nan ? NAN : spec.pixel[c] + by, type);
    }
    struct gi_bounds want = define_bounds(&src.image, &spec);
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_image device;
        struct gi_err err = {0};
        if (!queue)
            continue;
        assert_int_equal(queue->k->upload(queue, &device, &src.image, NULL, NULL), GI_OK);
        for (int i = -1; walk_force(queue, "bounds", i); i++) {
            struct gi_bounds got = {-1, -1, -1, -1};
            if (walk_ran(queue, "bounds", i, queue->k->bounds(queue, &got, &device, &spec, &err),
                         &err) &&
                memcmp(&got, &want, sizeof got))
                fail_msg("%s: %d %d %d %d, want %d %d %d %d", walk_what(queue, "bounds", i),
                         got.left, got.top, got.right, got.bottom, want.left, want.top, want.right,
                         want.bottom);
        }
        queue->k->release(queue, &device);
    }
    guard_check(&src);
    guard_free(&src);
}

static void bounds(void **state)
{
    (void)state;
    for (int i = 0; i < CASE_SIZES; i++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int type = GI_U8; type <= GI_F32; type++)
                for (int layout = 0; layout < 20; layout++)
                    check_bounds(case_sizes[i], channels, (enum gi_type)type);
}

static void labels_are_no_samples(void **state)
{
    (void)state;
    static const char *const names[] = {"copy_border", "layout", "permute_channels"};
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int which = COPY_BORDER; walk_queues[q] && which <= PERMUTE_CHANNELS; which++) {
            struct gi_queue *queue = walk_queues[q];
            struct move move = {.primitive = names[which]};
            struct gi_image src, dst;
            struct gi_err err = {0};
            move.which = which;
            assert_int_equal(queue->k->alloc(queue, &src, 5, 5, 1, GI_U32, &err), GI_OK);
            assert_int_equal(queue->k->alloc(queue, &dst, 5, 5, 1, GI_U32, &err), GI_OK);
            walk_refused(move.primitive, run(queue, &move, &dst, &src, &err), &err);
            struct gi_bounds_spec spec = {.tolerance = 0};
            struct gi_bounds found;
            walk_refused("bounds", queue->k->bounds(queue, &found, &src, &spec, &err), &err);
            queue->k->release(queue, &src);
            queue->k->release(queue, &dst);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_borders),   cmocka_unit_test(copy_borders_on_bands),
        cmocka_unit_test(turns),          cmocka_unit_test(orientations),
        cmocka_unit_test(permutations),   cmocka_unit_test(bounds),
        cmocka_unit_test(walk_check_all), cmocka_unit_test(labels_are_no_samples),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
