/* The image primitives of the CPU are their definitions to the bit, at every instruction level and
 * number of threads, and keep within the samples of their images.
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"

#define REAL      float
#define REF(name) exact_##name
#define FMA       fmaf
#define SQRT      sqrtf
#include "reference.h"

enum { SEED = 20240611 };

/* An operation as the walk below sees it: on the table under test, and by its definition. */
struct operation {
    const char *name;
    enum { SEPARABLE, DENSE, BOX, GRADIENT, THRESHOLD, LUMA } which;
    struct gi_separable separable;
    struct gi_dense dense;
    struct gi_box box;
    struct gi_gradient gradient;
    float above;
    bool invert;
    bool step; /* on an image of 0 left and full scale right, where sums are extreme */
    float row[CASE_TAPS_MAX], col[CASE_TAPS_MAX];
};

static void exact_box(struct gi_image *dst, const struct gi_image *src, const struct gi_box *spec)
{
    int n = src->channels, k = spec->k, half = k / 2;
    bool weigh = n % 2 == 0 && spec->alpha == GI_ALPHA_WEIGH;
    struct gi_edge edge = spec->edge;
    for (int c = 0; c < n; c++)
        edge.value[c] = rintf(fminf(edge.value[c], gi_type_full_scale(src->type)));
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++) {
            uint64_t s[4] = {0}, count = (uint64_t)k * (uint64_t)k;
            for (int j = -half; j <= half; j++)
                for (int i = -half; i <= half; i++)
                    for (int c = 0; c < n; c++) {
                        enum gi_alpha_rule plain = GI_ALPHA_PLAIN;
                        uint64_t v = (uint64_t)exact_at(src, &edge, plain, y + j, x + i, c);
                        uint64_t a = (uint64_t)exact_at(src, &edge, plain, y + j, x + i, n - 1);
                        s[c] += weigh && c < n - 1 ? v * a : v;
                    }
            for (int c = 0; c < n; c++) {
                uint64_t by = weigh && c < n - 1 ? s[n - 1] : count;
                uint64_t v = by ? (2 * s[c] + by) / (2 * by) : 0;
                exact_put(dst, y, x, c, (float)v);
            }
        }
}

static void exact_threshold(struct gi_image *dst, const struct gi_image *src, float above,
                            bool invert)
{
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int c = 0; c < src->channels; c++) {
                float s = exact_sample(src, y, x, c);
                bool is_alpha = src->channels % 2 == 0 && c == src->channels - 1;
                float v = (s > above) != invert ? gi_type_full_scale(src->type) : 0;
                exact_put(dst, y, x, c, is_alpha ? s : v);
            }
}

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
        status = queue->k->gradient(queue, dst, src, &op->gradient, &err);
    else if (op->which == THRESHOLD)
        status = queue->k->threshold(queue, dst, src, op->above, op->invert, &err);
    else if (op->which == LUMA)
        status = queue->k->luma(queue, dst, src, &err);
    assert_int_equal(status, GI_OK);
}

static void define(const struct operation *op, struct gi_image *dst, const struct gi_image *src)
{
    if (op->which == SEPARABLE)
        exact_separable(dst, src, &op->separable);
    else if (op->which == DENSE)
        exact_dense(dst, src, &op->dense);
    else if (op->which == BOX)
        exact_box(dst, src, &op->box);
    else if (op->which == GRADIENT)
        exact_gradient(dst, src, &op->gradient);
    else if (op->which == THRESHOLD)
        exact_threshold(dst, src, op->above, op->invert);
    else
        exact_luma(dst, src);
}

static void fill_step(struct gi_image *image)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++)
                exact_put(image, y, x, c,
                          x < image->width / 2 ? 0 : gi_type_full_scale(image->type));
}

/* Runs `op` on a random image of the shape at all levels and 1, 2, 3 and 7 threads (the last three
 * where `threads`), against its definition. */
static void check(const struct operation *op, const int *size, int channels, enum gi_type type,
                  uint64_t *seed, bool threads)
{
    struct guard src, want, got;
    size_t pad = gi_type_nbytes(type) * (size_t)case_between(seed, 0, 70);
    int out = op->which == LUMA ? 1 : channels;
    guard_alloc(&src, size[0], size[1], channels, type, pad);
    guard_alloc(&want, size[0], size[1], out, type, 0);
    case_fill(&src.image, seed);
    if (op->step)
        fill_step(&src.image);
    define(op, &want.image, &src.image);
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        static const int counts[] = {1, 2, 3, 7};
        for (int t = 0; k && t < (threads ? 4 : 1); t++) {
            struct gi_queue *queue;
            char what[100];
            snprintf(what, sizeof what, "%s at %s, %d threads", op->name, case_levels[l],
                     counts[t]);
            case_open(&queue, k, counts[t]);
            guard_alloc(&got, size[0], size[1], out, type, pad);
            run(queue, op, &got.image, &src.image);
            case_equal(&got.image, &want.image, what);
            guard_check(&got);
            guard_free(&got);
            gi_queue_close_alone(&queue);
        }
    }
    guard_free(&src);
    guard_free(&want);
}

static struct gi_finish random_finish(uint64_t *seed, enum gi_type type)
{
    float full = gi_type_full_scale(type);
    return (struct gi_finish){.kind = (enum gi_finish_kind)case_between(seed, 0, 2),
                              .bias = case_between(seed, 0, 1) ? case_real(seed) * full / 4 : 0,
                              .amount = 2 * case_real(seed),
                              .threshold = full * 0.05f};
}

static void random_separable(struct operation *op, uint64_t *seed, enum gi_border border,
                             enum gi_type type, bool long_taps)
{
    static const int counts[] = {1, 2, 3, 5, 8, 31, 33, 64, 66, CASE_TAPS_MAX};
    struct gi_separable *s = &op->separable;
    *s = (struct gi_separable){.row = op->row, .col = op->col};
    s->nrow = counts[case_between(seed, 0, long_taps ? 9 : 4)];
    s->ncol = counts[case_between(seed, 0, long_taps ? 9 : 4)];
    s->row_anchor = case_between(seed, 0, s->nrow - 1);
    s->col_anchor = case_between(seed, 0, s->ncol - 1);
    float row = 0, col = 0;
    for (int i = 0; i < s->nrow; i++)
        row += op->row[i] = (case_real(seed) + 0.5f) / (float)s->nrow;
    for (int i = 0; i < s->ncol; i++)
        col += op->col[i] = (case_real(seed) + 0.5f) / (float)s->ncol;
    s->sum = row * col;
    s->alpha = (enum gi_alpha_rule)case_between(seed, 0, 2);
    s->edge = case_edge(seed, border, type);
    s->finish = random_finish(seed, type);
}

static void random_dense(struct operation *op, uint64_t *seed, enum gi_border border,
                         enum gi_type type)
{
    struct gi_dense *d = &op->dense;
    *d = (struct gi_dense){.weights = op->row};
    d->width = case_between(seed, 1, 9);
    d->height = case_between(seed, 1, 7);
    d->anchor_x = case_between(seed, 0, d->width - 1);
    d->anchor_y = case_between(seed, 0, d->height - 1);
    for (int i = 0; i < d->width * d->height; i++)
        d->sum += op->row[i] = (case_real(seed) + 0.5f) / (float)(d->width * d->height);
    d->alpha = (enum gi_alpha_rule)case_between(seed, 0, 2);
    d->edge = case_edge(seed, border, type);
    d->finish = random_finish(seed, type);
}

/* 3, 5 or 7 taps each way; `whole`: 3, all of them integers. */
static void random_small(struct operation *op, uint64_t *seed, enum gi_border border,
                         enum gi_type type, bool whole)
{
    struct gi_separable *s = &op->separable;
    int k = whole ? 3 : 2 * case_between(seed, 1, 3) + 1, most = case_between(seed, 1, 9);
    *s = (struct gi_separable){.row = op->row, .col = op->col, .nrow = k, .ncol = k};
    s->row_anchor = case_between(seed, 0, k - 1);
    s->col_anchor = case_between(seed, 0, k - 1);
    for (int i = 0; i < 2 * k; i++) {
        float tap = whole ? (float)case_between(seed, -most / 2, most) : case_real(seed);
        (i < k ? op->row : op->col)[i % k] = tap;
    }
    if (whole && case_between(seed, 0, 1))
        (case_between(seed, 0, 1) ? op->row : op->col)[1] = 0;
    s->sum = 1;
    s->edge = case_edge(seed, border, type);
    for (int c = 0; type != GI_F32 && c < GI_MAX_CHANNELS; c++)
        s->edge.value[c] = rintf(s->edge.value[c]);
    s->finish.kind = case_between(seed, 0, 1) ? GI_FINISH_STORE : GI_FINISH_ABS;
    s->finish.bias = whole ? 0 : case_real(seed) * gi_type_full_scale(type);
}

static void random_rest(struct operation *op, uint64_t *seed, enum gi_border border,
                        enum gi_type type)
{
    static const float smooth[][3] = {{1, 2, 1}, {3, 10, 3}, {1, 1, 1}};
    memcpy(op->gradient.smooth, smooth[case_between(seed, 0, 2)], sizeof smooth[0]);
    op->gradient.alpha = case_between(seed, 0, 1) ? GI_ALPHA_KEEP : GI_ALPHA_PLAIN;
    op->gradient.edge = op->box.edge = case_edge(seed, border, type);
    for (int c = 0; type != GI_F32 && c < GI_MAX_CHANNELS && case_between(seed, 0, 1); c++)
        op->gradient.edge.value[c] = rintf(op->gradient.edge.value[c]);
    op->box.k = 2 * case_between(seed, 0, 5) + 1;
    op->box.alpha = case_between(seed, 0, 1) ? GI_ALPHA_WEIGH : GI_ALPHA_PLAIN;
    op->above = (case_real(seed) * 0.6f + 0.5f) * gi_type_full_scale(type);
    op->invert = case_between(seed, 0, 1);
}

/* Every type, number of channels, border and size, each with a new random operation. */
static void walk(struct operation *op)
{
    uint64_t seed = SEED;
    printf("%s: seed %d\n", op->name, SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int border = 0; border < CASE_BORDERS; border++)
                for (int i = 0; i < CASE_SIZES; i++) {
                    if (op->which == BOX && type == GI_F32)
                        continue;
                    bool large = i == CASE_SIZES - 1;
                    random_separable(op, &seed, (enum gi_border)border, (enum gi_type)type, !large);
                    if (op->which == DENSE)
                        random_dense(op, &seed, (enum gi_border)border, (enum gi_type)type);
                    random_rest(op, &seed, (enum gi_border)border, (enum gi_type)type);
                    bool threads = large ? border == channels : border == 0;
                    check(op, case_sizes[i], channels, (enum gi_type)type, &seed, threads);
                }
}

static void separable(void **state)
{
    (void)state;
    walk(&(struct operation){.name = "convolve_separable", .which = SEPARABLE});
}

/* Widths around the blocks and pieces that rows are cut into, and one of several strips. */
static void walk_small(const char *name, bool whole)
{
    static const int sizes[][2] = {{1, 1},   {2, 3},    {63, 5},   {129, 6}, {131, 9},
                                   {195, 4}, {257, 13}, {700, 21}, {7001, 5}};
    uint64_t seed = SEED;
    struct operation op = {.name = name, .which = SEPARABLE};
    printf("%s: seed %d\n", op.name, SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int border = 0; border < CASE_BORDERS; border++)
                for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                    if (sizes[i][0] > 1000 && border != type)
                        continue;
                    random_small(&op, &seed, (enum gi_border)border, (enum gi_type)type, whole);
                    op.step = case_between(&seed, 0, 2) == 0;
                    check(&op, sizes[i], channels, (enum gi_type)type, &seed, border == channels);
                }
}

static void small(void **state)
{
    (void)state;
    walk_small("small convolve_separable", false);
}

static void whole(void **state)
{
    (void)state;
    walk_small("convolve_separable of whole taps", true);
}

static void dense(void **state)
{
    (void)state;
    walk(&(struct operation){.name = "convolve_2d", .which = DENSE});
}

static void box(void **state)
{
    (void)state;
    walk(&(struct operation){.name = "box", .which = BOX});
}

/* Windows up to and above what 16-bit sums hold, wider than the image, and rows in several strips.
 */
static void large_box(void **state)
{
    (void)state;
    static const int cases[][3] = {{64, 7, 31},   {9, 5, 125},  {40, 2, 127},  {31, 2, 129},
                                   {700, 19, 5},  {9001, 3, 3}, {16401, 2, 3}, {130, 5, 33},
                                   {301, 1, 127}, {301, 1, 129}};
    uint64_t seed = SEED;
    struct operation op = {.name = "large box", .which = BOX};
    printf("%s: seed %d\n", op.name, SEED);
    for (int type = GI_U8; type <= GI_U16; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int border = 0; border < CASE_BORDERS; border++)
                for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                    if (cases[i][0] > 1000 && border % 2 != (int)i % 2)
                        continue;
                    random_rest(&op, &seed, (enum gi_border)border, (enum gi_type)type);
                    op.box.k = cases[i][2];
                    op.step = cases[i][1] == 1;
                    check(&op, cases[i], channels, (enum gi_type)type, &seed, border == channels);
                }
}

static void gradient(void **state)
{
    (void)state;
    walk(&(struct operation){.name = "gradient", .which = GRADIENT});
}

static void threshold(void **state)
{
    (void)state;
    walk(&(struct operation){.name = "threshold", .which = THRESHOLD});
}

static void luma(void **state)
{
    (void)state;
    walk(&(struct operation){.name = "luma", .which = LUMA});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separable), cmocka_unit_test(small),     cmocka_unit_test(whole),
        cmocka_unit_test(dense),     cmocka_unit_test(box),       cmocka_unit_test(large_box),
        cmocka_unit_test(gradient),  cmocka_unit_test(threshold), cmocka_unit_test(luma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
