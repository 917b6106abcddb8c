/* The image primitives of CUDA give the bytes of the CPU's, for every type, channel count, border
 * mode, alpha rule, epilogue and size; test_cpu_image.c holds the CPU's to their definitions.
 * Sources: convolution tone color kernels/cuda/device
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "cuda_pair.h"
#include "kernels/convolution.h"
#include "kernels/tone.h"

enum { SEED = 20260111, TAPS_MAX = 4001, QUICK_FIRST = 3, QUICK_END = 5 };

static const int taps[] = {1,  2,  3,  4,  5,  7,  9,  11, 13, 15,  18, 21,
                           26, 31, 32, 33, 45, 55, 61, 64, 65, 101, 301};
static const int sides[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 17, 33};
static const int box_sides[] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 23, 29, 31, 33, 255, 301};
enum { TAPS = 23, SIDES = 14, BOX_SIDES = 16 };

static bool no_device(void)
{
    if (!cuda)
        print_message("skipped: %s\n", reason);
    return !cuda;
}

enum which { SEPARABLE, DENSE, BOX, GRADIENT, THRESHOLD, LUMA };

struct operation {
    enum which which;
    struct gi_separable separable;
    struct gi_dense dense;
    struct gi_box box;
    struct gi_gradient_magnitude gradient;
    float above;
    bool invert;
    float row[GI_WEIGHTS_MAX], col[TAPS_MAX];
};

static void run(struct gi_queue *queue, const struct operation *op, struct gi_image *dst,
                const struct gi_image *src)
{
    struct gi_err err = {0};
    enum gi_status status = GI_E_USAGE;
    if (op->which == SEPARABLE)
        status = queue->k->convolve_separable(queue, dst, src, &op->separable, &err);
    else if (op->which == DENSE)
        status = queue->k->convolve_2d(queue, dst, src, &op->dense, &err);
    else if (op->which == BOX)
        status = queue->k->box(queue, dst, src, &op->box, &err);
    else if (op->which == GRADIENT)
        status = queue->k->gradient_magnitude(queue, dst, src, &op->gradient, &err);
    else if (op->which == THRESHOLD)
        status = queue->k->threshold(queue, dst, src, &(struct gi_threshold){op->above, op->invert},
                                     &err);
    else
        status = queue->k->luma(queue, dst, src, NULL, &err);
    if (status)
        fail_msg("%s", err.text);
}

/* Runs one operation on both backends; the device's result starts as 0x5a everywhere. */
static void check(const struct operation *op, const struct gi_image *src,
                  const struct gi_image *device_src, const char *what)
{
    struct gi_err err = {0};
    struct gi_image want, got, poison;
    int channels = op->which == LUMA ? 1 : src->channels;
    assert_int_equal(gi_image_alloc(&want, src->width, src->height, channels, src->type, &err), 0);
    run(cpu, op, &want, src);
    assert_int_equal(gi_image_alloc(&poison, src->width, src->height, channels, src->type, &err),
                     0);
    memset(poison.data, 0x5a, poison.stride * (size_t)poison.height);
    assert_int_equal(cuda->k->upload(cuda, &got, &poison, NULL, &err), 0);
    run(cuda, op, &got, device_src);
    gi_image_free(&poison);
    struct gi_image host;
    if (cuda->k->download(cuda, &host, &got, NULL, &err))
        fail_msg("%s: %s", what, err.text);
    case_equal(&host, &want, what);
    gi_image_free(&host);
    gi_image_free(&want);
}

static struct gi_epilogue random_epilogue(uint64_t *seed, enum gi_type type)
{
    float full = gi_type_full_scale(type);
    return (struct gi_epilogue){.kind = (enum gi_epilogue_kind)case_between(seed, 0, 3),
                                .bias = case_between(seed, 0, 1) ? case_real(seed) * full / 4 : 0,
                                .amount = 2 * case_real(seed),
                                .threshold = case_between(seed, 0, 1) ? full / 16 : 0};
}

/* Draws weights of both signs with a sum of about 1, a few of them 0. */
static float random_weights(float *weights, int n, uint64_t *seed)
{
    float sum = 0;
    for (int i = 0; i < n; i++) {
        weights[i] = case_between(seed, 0, 9) ? (case_real(seed) + 0.4f) / (float)n * 2.5f : 0;
        sum += weights[i];
    }
    return sum;
}

static void random_separable(struct operation *op, int nrow, int ncol, enum gi_border border,
                             enum gi_type type, uint64_t *seed)
{
    bool centred = case_between(seed, 0, 2) > 0;
    float sum = random_weights(op->row, nrow, seed);
    sum *= random_weights(op->col, ncol, seed);
    op->which = SEPARABLE;
    op->separable =
        (struct gi_separable){.row = op->row,
                              .col = op->col,
                              .nrow = nrow,
                              .ncol = ncol,
                              .row_anchor = centred ? nrow / 2 : case_between(seed, 0, nrow - 1),
                              .col_anchor = centred ? ncol / 2 : case_between(seed, 0, ncol - 1),
                              .sum = sum,
                              .alpha = (enum gi_alpha_rule)case_between(seed, 0, 2),
                              .border = case_border(seed, border, type),
                              .epilogue = random_epilogue(seed, type)};
    if (case_between(seed, 0, 3) == 0)
        memset(op->separable.border.value, 0, sizeof op->separable.border.value);
}

static void random_dense(struct operation *op, int width, int height, enum gi_border border,
                         enum gi_type type, uint64_t *seed)
{
    bool centred = case_between(seed, 0, 2) > 0;
    op->which = DENSE;
    op->dense =
        (struct gi_dense){.weights = op->row,
                          .width = width,
                          .height = height,
                          .anchor_x = centred ? width / 2 : case_between(seed, 0, width - 1),
                          .anchor_y = centred ? height / 2 : case_between(seed, 0, height - 1),
                          .sum = random_weights(op->row, width * height, seed),
                          .alpha = (enum gi_alpha_rule)case_between(seed, 0, 2),
                          .border = case_border(seed, border, type),
                          .epilogue = random_epilogue(seed, type)};
}

typedef void walk_fn(struct operation *op, const struct gi_image *src,
                     const struct gi_image *device, uint64_t *seed);

static void walk_image(walk_fn *fn, int width, int height, int channels, enum gi_type type,
                       bool odd_values, uint64_t *seed)
{
    static struct operation op;
    struct gi_err err = {0};
    struct gi_image src, device;
    assert_int_equal(gi_image_alloc(&src, width, height, channels, type, &err), GI_OK);
    case_fill(&src, seed);
    for (int i = 0; odd_values && i < width; i++) { /* values that only floats can hold */
        static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-40f, -1e30f, 3e38f};
        float *row = gi_row(&src, case_between(seed, 0, height - 1));
        row[case_between(seed, 0, width * channels - 1)] = odd[case_between(seed, 0, 6)];
        static const uint32_t other_nan = 0xffc12345;
        memcpy(&row[case_between(seed, 0, width * channels - 1)], &other_nan, sizeof other_nan);
    }
    assert_int_equal(cuda->k->upload(cuda, &device, &src, NULL, &err), GI_OK);
    fn(&op, &src, &device, seed);
    cuda->k->release(cuda, &device);
    gi_image_free(&src);
}

/* Runs every size, channel count and type; the last size once more for floats with unusual values.
 */
static void walk(walk_fn *fn, bool floats)
{
    uint64_t seed = SEED;
    if (no_device())
        skip();
    print_message("seed %d\n", SEED);
    for (int s = quick() ? QUICK_FIRST : 0; s < (quick() ? QUICK_END : CASE_SIZES); s++)
        for (int channels = 1; channels <= 4; channels++)
            for (int type = GI_U8; type <= (floats ? GI_F32 : GI_U16); type++)
                walk_image(fn, case_sizes[s][0], case_sizes[s][1], channels, (enum gi_type)type,
                           false, &seed);
    for (int channels = 1; floats && channels <= 4; channels++)
        walk_image(fn, quick() ? 67 : 257, quick() ? 45 : 129, channels, GI_F32, true, &seed);
}

/* In quick runs every kernel size is run with one border mode, each with a different one. */
static int first_border(int t)
{
    return quick() ? t % CASE_BORDERS : 0;
}

static int border_step(void)
{
    return quick() ? CASE_BORDERS : 1;
}

static void walk_separable(struct operation *op, const struct gi_image *src,
                           const struct gi_image *device, uint64_t *seed)
{
    for (int t = 0; t < TAPS; t++)
        for (int border = first_border(t); border < CASE_BORDERS; border += border_step()) {
            char what[80];
            int other = case_between(seed, 0, 2) ? taps[t] : taps[case_between(seed, 0, TAPS - 1)];
            random_separable(op, taps[t], other, (enum gi_border)border, src->type, seed);
            snprintf(what, sizeof what, "separable %d + %d, border %d, alpha %d, finish %d",
                     taps[t], other, border, op->separable.alpha, op->separable.epilogue.kind);
            check(op, src, device, what);
        }
}

static void walk_dense(struct operation *op, const struct gi_image *src,
                       const struct gi_image *device, uint64_t *seed)
{
    for (int t = 0; t < SIDES; t++)
        for (int border = first_border(t); border < CASE_BORDERS; border += border_step()) {
            char what[80];
            int other =
                case_between(seed, 0, 1) ? sides[t] : sides[case_between(seed, 0, SIDES - 1)];
            random_dense(op, sides[t], other, (enum gi_border)border, src->type, seed);
            snprintf(what, sizeof what, "dense %d x %d, border %d, alpha %d, finish %d", sides[t],
                     other, border, op->dense.alpha, op->dense.epilogue.kind);
            check(op, src, device, what);
        }
}

static void walk_box(struct operation *op, const struct gi_image *src,
                     const struct gi_image *device, uint64_t *seed)
{
    for (int t = 0; t < BOX_SIDES; t++)
        for (int border = first_border(t); border < CASE_BORDERS; border += border_step())
            for (int alpha = GI_ALPHA_PLAIN; alpha <= GI_ALPHA_WEIGH; alpha++) {
                char what[80];
                op->which = BOX;
                op->box =
                    (struct gi_box){.k = box_sides[t],
                                    .alpha = (enum gi_alpha_rule)alpha,
                                    .border = case_border(seed, (enum gi_border)border, src->type)};
                snprintf(what, sizeof what, "box %d, border %d, alpha %d", box_sides[t], border,
                         alpha);
                check(op, src, device, what);
            }
}

static void walk_rest(struct operation *op, const struct gi_image *src,
                      const struct gi_image *device, uint64_t *seed)
{
    static const float smooth[3][3] = {{1, 2, 1}, {3, 10, 3}, {0.3f, -0.7f, 1.1f}};
    for (int border = 0; border < CASE_BORDERS; border++)
        for (int i = 0; i < 3; i++) {
            char what[80];
            op->which = GRADIENT;
            op->gradient = (struct gi_gradient_magnitude){
                .alpha = i % 2 ? GI_ALPHA_KEEP : GI_ALPHA_PLAIN,
                .border = case_border(seed, (enum gi_border)border, src->type)};
            memcpy(op->gradient.smooth, smooth[i], sizeof smooth[i]);
            snprintf(what, sizeof what, "gradient %d, border %d", i, border);
            check(op, src, device, what);
        }
    for (int i = 0; i < 8; i++) {
        static const float above[] = {-1, 0, 0.25f, 0.5f, 1, 2, -INFINITY, NAN};
        op->which = THRESHOLD;
        op->above = above[i] * gi_type_full_scale(src->type);
        op->invert = i % 3 == 1;
        check(op, src, device, "threshold");
    }
    op->which = LUMA;
    check(op, src, device, "luma");
}

static void separable_equals_cpu(void **state)
{
    (void)state;
    walk(walk_separable, true);
}

static void dense_equals_cpu(void **state)
{
    (void)state;
    walk(walk_dense, true);
}

static void box_equals_cpu(void **state)
{
    (void)state;
    walk(walk_box, false);
}

static void rest_equals_cpu(void **state)
{
    (void)state;
    walk(walk_rest, true);
}

/* Images large enough for whole bands of every kernel and for several blocks across. */
static void walk_large(struct operation *op, const struct gi_image *src,
                       const struct gi_image *device, uint64_t *seed)
{
    char what[80];
    for (int t = 0; t < TAPS; t++) {
        enum gi_border border = (enum gi_border)case_between(seed, 0, CASE_BORDERS - 1);
        random_separable(op, taps[t], taps[t], border, src->type, seed);
        snprintf(what, sizeof what, "separable %d, border %d", taps[t], border);
        check(op, src, device, what);
    }
    for (int t = 0; t < SIDES; t++) {
        enum gi_border border = (enum gi_border)case_between(seed, 0, CASE_BORDERS - 1);
        random_dense(op, sides[t], sides[t], border, src->type, seed);
        snprintf(what, sizeof what, "dense %d, border %d", sides[t], border);
        check(op, src, device, what);
    }
    for (int t = 0; t < BOX_SIDES && src->type != GI_F32; t++) {
        op->which = BOX;
        op->box.k = box_sides[t];
        op->box.alpha = (enum gi_alpha_rule)case_between(seed, 0, 1);
        op->box.border = case_border(seed, (enum gi_border)case_between(seed, 0, 4), src->type);
        snprintf(what, sizeof what, "box %d", box_sides[t]);
        check(op, src, device, what);
    }
}

static void large_equals_cpu(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    if (no_device() || quick())
        skip();
    for (int channels = 1; channels <= 4; channels++)
        for (int type = GI_U8; type <= GI_F32; type++) {
            walk_image(walk_large, 1031, 517, channels, (enum gi_type)type, false, &seed);
            walk_image(walk_rest, 2500, 90, channels, (enum gi_type)type, false, &seed);
        }
    walk_image(walk_large, 3000, 1200, 1, GI_U8, false, &seed);
}

/* Sizes and numbers of taps around the ends of strips, bands and blocks of taps. */
static void walk_strips(struct operation *op, const struct gi_image *src,
                        const struct gi_image *device, uint64_t *seed)
{
    static const int many[] = {3, 5, 7, 9, 16, 17, 29, 32, 61, 96, 97, 128, 160, 161};
    for (int t = 0; t < 14; t++) {
        char what[80];
        enum gi_border border = (enum gi_border)case_between(seed, 0, CASE_BORDERS - 1);
        int other = case_between(seed, 0, 1) ? many[t] : many[case_between(seed, 0, 13)];
        random_separable(op, many[t], other, border, src->type, seed);
        snprintf(what, sizeof what, "separable %d + %d, border %d, anchors %d %d", many[t], other,
                 border, op->separable.row_anchor, op->separable.col_anchor);
        check(op, src, device, what);
    }
}

static void strips_equal_cpu(void **state)
{
    (void)state;
    static const int shapes[][2] = {{128, 32}, {129, 33},  {63, 64},  {64, 65}, {255, 31},
                                    {256, 96}, {257, 161}, {193, 30}, {512, 8}, {1025, 129}};
    uint64_t seed = SEED;
    if (no_device())
        skip();
    for (int i = 0; i < (quick() ? 2 : 10); i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int type = GI_U8; type <= GI_F32; type++)
                walk_image(walk_strips, shapes[i][0], shapes[i][1], channels, (enum gi_type)type,
                           type == GI_F32 && i % 3 == 1, &seed);
}

/* The maximum number of taps and weights. */
static void walk_limits(struct operation *op, const struct gi_image *src,
                        const struct gi_image *device, uint64_t *seed)
{
    random_separable(op, GI_TAPS_MAX, GI_TAPS_MAX, GI_BORDER_MIRROR, src->type, seed);
    check(op, src, device, "separable 4001");
    op->which = BOX;
    op->box = (struct gi_box){.k = GI_TAPS_MAX,
                              .alpha = GI_ALPHA_WEIGH,
                              .border = case_border(seed, GI_BORDER_WRAP, src->type)};
    check(op, src, device, "box 4001");
}

/* Shapes of which a CUDA block holds all rows, some rows, and not even one row. */
static void walk_dense_limits(struct operation *op, const struct gi_image *src,
                              const struct gi_image *device, uint64_t *seed)
{
    static const int shapes[][2] = {
        {89, 89}, {GI_WEIGHTS_MAX, 1}, {1, GI_WEIGHTS_MAX}, {395, 20}, {61, 61}};
    for (int i = 0; i < 5; i++) {
        char what[80];
        enum gi_border border = (enum gi_border)(i % CASE_BORDERS);
        random_dense(op, shapes[i][0], shapes[i][1], border, src->type, seed);
        snprintf(what, sizeof what, "dense %d x %d, border %d", shapes[i][0], shapes[i][1], border);
        check(op, src, device, what);
    }
}

static void limits_equal_cpu(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    if (no_device())
        skip();
    walk_image(walk_limits, 67, 45, 4, GI_U8, false, &seed);
    walk_image(walk_limits, 31, 33, 2, GI_U16, false, &seed);
    for (int channels = 1; channels <= 4; channels++)
        walk_image(walk_dense_limits, 300, 77, channels, channels % 2 ? GI_U8 : GI_F32, false,
                   &seed);
}

/* Upload and download, in chunks and in one row, keep the bytes. Sizes are around those of the
 * staging buffers, first without these, then (once the last size has allocated them) through them.
 */
static void copies_keep_bytes(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1},       {5, 3},      {1000, 4195}, {4 << 20, 1},
                                   {70001, 130}, {512, 9000}, {5807, 5801}};
    enum { NSIZES = sizeof sizes / sizeof *sizes };
    uint64_t seed = SEED;
    if (no_device())
        skip();
    for (int i = 0; i < 2 * NSIZES; i++) {
        const int *size = sizes[i % NSIZES];
        struct gi_image src, device, back;
        struct gi_err err = {0};
        assert_int_equal(gi_image_alloc(&src, size[0], size[1], 1, GI_U8, &err), GI_OK);
        case_fill(&src, &seed);
        assert_int_equal(cuda->k->upload(cuda, &device, &src, NULL, &err), GI_OK);
        assert_int_equal(cuda->k->download(cuda, &back, &device, NULL, &err), GI_OK);
        case_equal(&back, &src, "copy");
        assert_null(device.data);
        gi_image_free(&src);
        gi_image_free(&back);
    }
}

/* Two contexts that work at the same time don't disturb each other; limits obey the cap. */
static void contexts_are_separate(void **state)
{
    (void)state;
    if (no_device())
        skip();
    struct gi_queue *second;
    struct gi_open_options options = {.threads = 1, .max_bytes = 12345678};
    struct gi_err err = {0};
    assert_int_equal(gi_queue_open_alone(&second, cuda->k, &options, &err), GI_OK);
    struct gi_device_limits limits;
    cuda->k->limits(second, &limits);
    assert_int_equal(limits.free_nbytes, 12345678);
    assert_true(limits.rows >= 32768 && limits.row_nbytes >= 65536);
    uint64_t seed = SEED;
    struct gi_queue *first = cuda;
    for (int i = 0; i < 4; i++) {
        cuda = i % 2 ? first : second;
        walk_image(walk_separable, 67, 5, 3, GI_U8, false, &seed);
    }
    cuda = first;
    gi_queue_close_alone(&second);
    assert_null(second);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_keep_bytes),     cmocka_unit_test(separable_equals_cpu),
        cmocka_unit_test(dense_equals_cpu),      cmocka_unit_test(box_equals_cpu),
        cmocka_unit_test(rest_equals_cpu),       cmocka_unit_test(limits_equal_cpu),
        cmocka_unit_test(contexts_are_separate), cmocka_unit_test(strips_equal_cpu),
        cmocka_unit_test(large_equals_cpu),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, open_both, close_both);
}
