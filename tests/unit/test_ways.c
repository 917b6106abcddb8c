/* Every way of the image primitives gives the result that defines the primitive; tables of ways are
 * consistent; forcing an unknown or unsuitable way gives a message.
 * Sources: kernels/ways* kernels/kernels.h kernels/rules.h border footprint common table
 *     kernels/cpu/cpu.h kernels/cuda/cuda.h convolution morphology rank denoise tone color
 * SPDX-License-Identifier: MIT */
#include "operation.h"
#include "ways_walk.h"

enum { SEED = 20261122 };

static const char *const image_primitives[] = {
    "convolve_separable", "convolve_2d", "box", "min_max", "median", "bilateral", "nlmeans",
    "gradient_magnitude", "threshold",   "luma"};
/* Primitives of other tests, a test per family, and of test_cpu_pointwise.c and
 * test_cuda_pointwise.c, which have a single way. */
static const char *const elsewhere[] = {"histogram",
                                        "sums",
                                        "compact",
                                        "label",
                                        "region_stats",
                                        "pointwise",
                                        "copy_border",
                                        "layout",
                                        "permute_channels",
                                        "bounds",
                                        "resample",
                                        "remap",
                                        "reduce",
                                        "clahe",
                                        "arithmetic",
                                        "colour_transform",
                                        "count_colours",
                                        "recolour",
                                        "paint",
                                        "local_threshold",
                                        "local_spread",
                                        "scan",
                                        "scatter",
                                        "bernsen",
                                        "mode",
                                        "rolling_ball",
                                        "ignore_transparent",
                                        "flood"};
/* Sets some floats to infinity, NaN and -0. */
static void fill_odd(struct gi_image *image, uint64_t *seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-40f, -1e30f, 3e38f};
    for (int i = 0; i < image->width; i++) {
        float *row = gi_row(image, case_between(seed, 0, image->height - 1));
        row[case_between(seed, 0, (int)gi_row_samples(image) - 1)] = odd[case_between(seed, 0, 6)];
    }
}

/* Checks one way, or the default with none forced; the result starts as 0x5a everywhere. */
static void check_way(struct gi_queue *queue, const struct operation *op, int way,
                      const struct gi_image *src, const struct gi_image *want, size_t pad)
{
    const char *primitive = image_primitives[op->which];
    const struct gi_kernels *k = queue->k;
    struct gi_err err = {0};
    struct guard got;
    struct gi_image dst, back;
    guard_alloc(&got, want->width, want->height, want->channels, want->type, pad);
    for (int y = 0; y < want->height; y++)
        memset(gi_row(&got.image, y), 0x5a, gi_row_nbytes(&got.image));
    assert_int_equal(k->upload(queue, &dst, &got.image, NULL, &err), GI_OK);
    if (walk_ran(queue, primitive, way, run(queue, op, &dst, src, &err), &err)) {
        assert_int_equal(k->download(queue, &back, &dst, NULL, &err), GI_OK);
        case_equal(&back, want, walk_what(queue, primitive, way));
        guard_check(&got);
        gi_image_free(&back);
    } else {
        k->release(queue, &dst);
    }
    guard_free(&got);
}

/* Runs `op` on a random image of the shape, by every way of every queue. */
static void check(const struct operation *op, const int *size, int channels, enum gi_type type,
                  uint64_t *seed)
{
    if (case_is_left_out())
        return;
    struct guard src, want;
    size_t pad = gi_type_nbytes(type) * (size_t)case_between(seed, 0, 70);
    guard_alloc(&src, size[0], size[1], channels, type, pad);
    guard_alloc(&want, size[0], size[1], op->which == LUMA ? 1 : channels, type, 0);
    case_fill(&src.image, seed);
    if (op->step)
        fill_step(&src.image);
    if (type == GI_F32 && case_between(seed, 0, 3) == 0)
        fill_odd(&src.image, seed);
    define(op, &want.image, &src.image);
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_image device;
        if (!queue)
            continue;
        assert_int_equal(queue->k->upload(queue, &device, &src.image, NULL, NULL), GI_OK);
        for (int i = -1; walk_force(queue, image_primitives[op->which], i); i++)
            check_way(queue, op, i, &device, &want.image, pad);
        queue->k->release(queue, &device);
    }
    guard_check(&src);
    guard_free(&src);
    guard_free(&want);
}

typedef void next_fn(struct operation *op, uint64_t *seed, enum gi_border border, enum gi_type type,
                     bool large);

/* Runs every type, number of channels, border mode and size, each with a new operation. */
static void walk(const char *name, int which, next_fn *next)
{
    static struct operation op;
    uint64_t seed = SEED;
    print_message("%s: seed %d\n", name, SEED);
    op = (struct operation){.name = name};
    for (int type = GI_U8; type <= (which == BOX ? GI_U16 : GI_F32); type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int border = 0; border < CASE_BORDERS; border++)
                for (int i = 0; i < CASE_SIZES; i++) {
                    bool large = i == CASE_SIZES - 1;
                    if (large && border % 2 != channels % 2)
                        continue;
                    op.which = which;
                    op.step = case_between(&seed, 0, 3) == 0;
                    next(&op, &seed, (enum gi_border)border, (enum gi_type)type, large);
                    check(&op, case_sizes[i], channels, (enum gi_type)type, &seed);
                }
}

static void next_separable(struct operation *op, uint64_t *seed, enum gi_border border,
                           enum gi_type type, bool large)
{
    random_separable(op, seed, border, type, !large);
}

/* The same number of taps in each direction, with the anchor in the middle. */
static void next_square(struct operation *op, uint64_t *seed, enum gi_border border,
                        enum gi_type type, bool large)
{
    static const int counts[] = {3, 5, 7, 9, 11, 15, 17, 21, 31, 45, 61, 101};
    struct gi_separable *s = &op->separable;
    int n = counts[case_between(seed, 0, large ? 8 : 11)];
    random_separable(op, seed, border, type, !large);
    s->nrow = s->ncol = n;
    s->row_anchor = s->col_anchor = n / 2;
    s->sum = 1;
    for (int i = 0; i < n; i++)
        op->row[i] = op->col[i] = (case_real(seed) + 1.5f) / (float)n / 1.5f;
}

static void next_small(struct operation *op, uint64_t *seed, enum gi_border border,
                       enum gi_type type, bool large)
{
    random_small(op, seed, border, type, large);
}

static void next_whole(struct operation *op, uint64_t *seed, enum gi_border border,
                       enum gi_type type, bool large)
{
    (void)large;
    random_small(op, seed, border, type, true);
}

static void next_dense(struct operation *op, uint64_t *seed, enum gi_border border,
                       enum gi_type type, bool large)
{
    (void)large;
    random_dense(op, seed, border, type);
}

/* Square kernels of 1, 3, 5 ... 15, and 33 taps per side, with weights of both signs. */
static void next_dense_square(struct operation *op, uint64_t *seed, enum gi_border border,
                              enum gi_type type, bool large)
{
    static float weights[33 * 33];
    int k = case_between(seed, 0, large ? 4 : 8) * 2 + 1;
    random_dense(op, seed, border, type);
    op->dense.width = op->dense.height = k = k > 15 ? 33 : k;
    op->dense.anchor_x = op->dense.anchor_y = k / 2;
    op->dense.weights = weights;
    op->dense.sum = 1;
    for (int i = 0; i < k * k; i++)
        weights[i] = (case_real(seed) + 0.5f) / (float)(k * k) * 2;
}

static void next_rest(struct operation *op, uint64_t *seed, enum gi_border border,
                      enum gi_type type, bool large)
{
    (void)large;
    random_rest(op, seed, border, type);
    if (case_between(seed, 0, 3) == 0)
        for (int i = 0; i < 3; i++)
            op->gradient.smooth[i] = case_real(seed);
    if (case_between(seed, 0, 7) == 0)
        op->above = case_between(seed, 0, 1) ? -INFINITY : NAN;
}

static void next_box(struct operation *op, uint64_t *seed, enum gi_border border, enum gi_type type,
                     bool large)
{
    static const int sides[] = {1, 3, 5, 7, 9, 11, 15, 23, 31, 63, 127, 129, 255, 301};
    (void)large;
    random_rest(op, seed, border, type);
    op->box.k = sides[case_between(seed, 0, 13)];
}

static void next_min_max(struct operation *op, uint64_t *seed, enum gi_border border,
                         enum gi_type type, bool large)
{
    random_min_max(op, seed, border, type, large ? 9 : case_between(seed, 0, 1) ? 5 : 70);
    if (case_between(seed, 0, 2) == 0) {
        op->min_max.width = op->min_max.height = 3;
        op->min_max.anchor_x = op->min_max.anchor_y = 1;
        op->min_max.runs = NULL;
    }
}

static void next_median(struct operation *op, uint64_t *seed, enum gi_border border,
                        enum gi_type type, bool large)
{
    random_median(op, seed, border, type, large ? 5 : case_between(seed, 0, 1) ? 5 : 31);
}

static void next_bilateral(struct operation *op, uint64_t *seed, enum gi_border border,
                           enum gi_type type, bool large)
{
    random_bilateral(op, seed, border, type, large ? 5 : case_between(seed, 0, 1) ? 9 : 15);
}

static void next_nlmeans(struct operation *op, uint64_t *seed, enum gi_border border,
                         enum gi_type type, bool large)
{
    random_nlmeans(op, seed, border, type, large ? 3 : 9);
}

static void separable(void **state)
{
    (void)state;
    walk("convolve_separable", SEPARABLE, next_separable);
    walk("convolve_separable, as many taps each way", SEPARABLE, next_square);
    walk("convolve_separable, few taps", SEPARABLE, next_small);
    walk("convolve_separable, whole taps", SEPARABLE, next_whole);
}

static void dense(void **state)
{
    (void)state;
    walk("convolve_2d", DENSE, next_dense);
    walk("convolve_2d, square", DENSE, next_dense_square);
}

static void box(void **state)
{
    (void)state;
    walk("box", BOX, next_box);
    walk("box, small", BOX, next_rest);
}

static void rest(void **state)
{
    (void)state;
    walk("min_max", MIN_MAX, next_min_max);
    walk("median", MEDIAN, next_median);
    walk("bilateral", BILATERAL, next_bilateral);
    walk("nlmeans", NLMEANS, next_nlmeans);
    walk("gradient_magnitude", GRADIENT, next_rest);
    walk("threshold", THRESHOLD, next_rest);
    walk("luma", LUMA, next_rest);
}

/* ---- tables and forcing ---- */

static bool is_named(const char *const *names, size_t n, const char *name)
{
    while (n > 0)
        if (strcmp(names[--n], name) == 0)
            return true;
    return false;
}

static void check_tables(const struct gi_kernels *k)
{
    int primitives = 0;
    for (const struct gi_ways *const *ways = k->ways; *ways; ways++, primitives++) {
        const char *primitive = (*ways)->primitive;
        if (!is_named(image_primitives, sizeof image_primitives / sizeof *image_primitives,
                      primitive) &&
            !is_named(elsewhere, sizeof elsewhere / sizeof *elsewhere, primitive))
            fail_msg("no test walks the ways of %s", primitive);
        assert_ptr_equal(walk_ways(k, primitive), *ways);
        for (int i = 0; gi_way_at(*ways, i); i++) {
            const struct gi_way *way = gi_way_at(*ways, i);
            assert_true(way->name[0] && way->what[0] && strlen(way->name) < 32);
            assert_int_equal(strspn(way->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                             strlen(way->name));
            for (int j = 0; j < i; j++)
                assert_string_not_equal(way->name, gi_way_at(*ways, j)->name);
        }
    }
    assert_in_range(primitives, 1, WALK_TABLES);
}

static void tables_are_sound(void **state)
{
    (void)state;
    for (int l = 0; l < CASE_LEVELS; l++)
        if (gi_kernels_cpu_level(case_levels[l]))
            check_tables(gi_kernels_cpu_level(case_levels[l]));
    if (gi_kernels_cuda())
        check_tables(gi_kernels_cuda());
}

static void check_force(const char *text, enum gi_status status, const char *says)
{
    struct gi_err err = {0};
    assert_int_equal(gi_queue_force_ways(walk_queues[0], text, &err), status);
    if (!strstr(err.text, says))
        fail_msg("%s: \"%s\" says not \"%s\"", text, err.text, says);
}

static void forcing_says_what_there_is(void **state)
{
    (void)state;
    check_force("", GI_OK, "");
    check_force("box:running", GI_OK, "");
    check_force("cpu/box:running,convolve_2d:rows", GI_OK, "");
    check_force("box:walking", GI_E_USAGE, "GPUIMG_WAY=box:walking: want box:WAY, one of small");
    check_force("bux:running", GI_E_USAGE, "want PRIMITIVE:WAY, one of convolve_separable");
    check_force("box", GI_E_USAGE, "want box:WAY");
    check_force("gpu/box:running", GI_E_USAGE, "want cpu/ or cuda/");
    check_force("box:running,box:walking", GI_E_USAGE, "box:walking");
    const struct gi_kernels *cuda = gi_kernels_cuda();
    if (!cuda) {
        check_force("cuda/box:running", GI_E_USAGE, "this build has no cuda");
        return;
    }
    char text[100];
    const struct gi_ways *ways = cuda->ways[0]; /* the CPU refuses names of the other backend */
    snprintf(text, sizeof text, "cuda/%s:%s", ways->primitive, gi_way_at(ways, 0)->name);
    check_force(text, GI_OK, "");
    check_force("cuda/box:walking", GI_E_USAGE, "(cuda)");
}

static void uses_are_counted(void **state)
{
    (void)state;
    struct gi_queue *queue;
    struct gi_way_use uses[8];
    struct guard src, dst;
    uint64_t seed = SEED;
    struct gi_box spec = {.k = 3};
    guard_alloc(&src, 31, 33, 1, GI_U8, 0);
    guard_alloc(&dst, 31, 33, 1, GI_U8, 0);
    case_fill(&src.image, &seed);
    assert_int_equal(setenv("GPUIMG_WAY", "box:narrow", 1), 0);
    case_open(&queue, gi_kernels_cpu(), 1);
    assert_int_equal(unsetenv("GPUIMG_WAY"), 0);
    assert_int_equal(gi_queue_ways(queue, uses, 8), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(queue->k->box(queue, &dst.image, &src.image, &spec, NULL), GI_OK);
    assert_int_equal(gi_queue_force_ways(queue, NULL, NULL), GI_OK);
    assert_int_equal(queue->k->box(queue, &dst.image, &src.image, &spec, NULL), GI_OK);
    assert_int_equal(gi_queue_ways(queue, uses, 8), 2);
    assert_string_equal(uses[0].primitive, "box");
    assert_string_equal(uses[0].way, "narrow");
    assert_int_equal(uses[0].runs, 3);
    assert_string_equal(uses[1].way, "small");
    assert_int_equal(uses[1].runs, 1);
    gi_queue_close_alone(&queue);
    guard_free(&src);
    guard_free(&dst);
}

static void labels_are_no_samples(void **state)
{
    (void)state;
    struct operation op = {.separable = {.row = op.row, .col = op.col, .nrow = 1, .ncol = 1},
                           .dense = {.weights = op.row, .width = 1, .height = 1},
                           .box = {.k = 3},
                           .min_max = {.width = 1, .height = 1},
                           .median = {.width = 1, .height = 1},
                           .bilateral = {.k = 1, .n = 1},
                           .nlmeans = {.patch = 1, .search = 1, .n = 1}};
    for (int q = 0; q < WALK_QUEUES; q++)
        for (int which = SEPARABLE; walk_queues[q] && which <= LUMA; which++) {
            struct gi_queue *queue = walk_queues[q];
            struct gi_image src, dst;
            struct gi_err err = {0};
            op.which = which;
            assert_int_equal(queue->k->alloc(queue, &src, 5, 5, 1, GI_U32, &err), GI_OK);
            assert_int_equal(queue->k->alloc(queue, &dst, 5, 5, 1, GI_U32, &err), GI_OK);
            walk_refused(image_primitives[which], run(queue, &op, &dst, &src, &err), &err);
            src.type = dst.type = GI_F32;
            if (which == BOX)
                assert_int_equal(run(queue, &op, &dst, &src, &err), GI_E_UNSUPPORTED);
            queue->k->release(queue, &src);
            queue->k->release(queue, &dst);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_sound),
        cmocka_unit_test(forcing_says_what_there_is),
        cmocka_unit_test(uses_are_counted),
        cmocka_unit_test(separable),
        cmocka_unit_test(dense),
        cmocka_unit_test(box),
        cmocka_unit_test(rest),
        cmocka_unit_test(walk_check_all),
        cmocka_unit_test(labels_are_no_samples),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
