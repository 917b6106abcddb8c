/* The image primitives of the CPU equal their definitions to the bit, at every instruction level
 * and number of threads, and touch only the samples of their images.
 * Sources: convolution morphology rank denoise tone color
 * SPDX-License-Identifier: MIT */
#include "operation.h"

enum { SEED = 20240611 };

/* Compares `op` with its definition on a random image of the shape, at all levels and with 1, 2, 3
 * and 7 threads (the last three only if `threads`). */
static void check(const struct operation *op, const int *size, int channels, enum gi_type type,
                  uint64_t *seed, bool threads)
{
    if (case_is_left_out())
        return;
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
            assert_int_equal(run(queue, op, &got.image, &src.image, NULL), GI_OK);
            case_equal(&got.image, &want.image, what);
            guard_check(&got);
            guard_free(&got);
            gi_queue_close_alone(&queue);
        }
    }
    guard_free(&src);
    guard_free(&want);
}

/* Runs every type, number of channels, border mode and size, each with a new random operation. If
 * the definition takes long, the large size is run with one border mode only. */
static void walk(struct operation *op)
{
    uint64_t seed = SEED;
    bool slow = op->which == MEDIAN || op->which == NLMEANS || op->which == BILATERAL;
    printf("%s: seed %d\n", op->name, SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int border = 0; border < CASE_BORDERS; border++)
                for (int i = 0; i < CASE_SIZES; i++) {
                    if (op->which == BOX && type == GI_F32)
                        continue;
                    bool large = i == CASE_SIZES - 1;
                    if (slow && large && border != channels)
                        continue;
                    random_separable(op, &seed, (enum gi_border)border, (enum gi_type)type, !large);
                    if (op->which == DENSE)
                        random_dense(op, &seed, (enum gi_border)border, (enum gi_type)type);
                    if (op->which == MIN_MAX)
                        random_min_max(op, &seed, (enum gi_border)border, (enum gi_type)type, 9);
                    if (op->which == MEDIAN)
                        random_median(op, &seed, (enum gi_border)border, (enum gi_type)type,
                                      large ? 5 : 9);
                    if (op->which == NLMEANS)
                        random_nlmeans(op, &seed, (enum gi_border)border, (enum gi_type)type,
                                       large ? 3 : 9);
                    if (op->which == BILATERAL)
                        random_bilateral(op, &seed, (enum gi_border)border, (enum gi_type)type,
                                         large ? 5 : 15);
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

/* Widths around the blocks that rows are divided into, and one of several strips. */
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

/* Sums of bytes that are ties between integers, far outside the range of samples, and beyond 2^31.
 */
static void ties_and_ends(void **state)
{
    (void)state;
    static const float units[] = {0.125f, 40, 3e5f, 1e30f};
    uint64_t seed = SEED;
    struct operation op = {.name = "ties and ends", .which = SEPARABLE};
    for (int width = 1; width <= 70; width++)
        for (int i = 0; i < 4; i++) {
            int channels = 1 + (width + i) % GI_MAX_CHANNELS;
            random_small(&op, &seed, GI_BORDER_CLAMP, GI_U8, false);
            for (int t = 0; t < op.separable.nrow; t++) {
                op.row[t] = (float)case_between(&seed, -2, 4) * units[i];
                op.col[t] = (float)case_between(&seed, -1, 4) * 0.25f;
            }
            op.separable.epilogue = (struct gi_epilogue){.kind = GI_EPILOGUE_STORE};
            op.step = width % 7 == 0;
            check(&op, (int[]){width, 1 + width % 9}, channels, GI_U8, &seed, false);
        }
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

/* Boxes whose sums reach and exceed 16 bits, boxes wider than the image, and rows in several
 * strips. */
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
                    if (cases[i][0] > 100 && border != (channels + (int)i) % CASE_BORDERS)
                        continue;
                    random_rest(&op, &seed, (enum gi_border)border, (enum gi_type)type);
                    op.box.k = cases[i][2];
                    op.step = cases[i][1] == 1;
                    check(&op, cases[i], channels, (enum gi_type)type, &seed, border == channels);
                }
}

static void min_max(void **state)
{
    (void)state;
    walk(&(struct operation){.name = "min_max", .which = MIN_MAX});
}

/* Blocks of more rows than the image has, rows in several strips, structuring elements wider than
 * the image. */
static void large_min_max(void **state)
{
    (void)state;
    static const int cases[][3] = {{64, 7, 31},    {9, 5, 125},   {40, 2, 4001},
                                   {700, 19, 33},  {9001, 3, 2},  {31, 60, 17},
                                   {2100, 1, 600}, {301, 1, 129}, {1, 67, 129}};
    uint64_t seed = SEED;
    struct operation op = {.name = "large min_max", .which = MIN_MAX};
    printf("%s: seed %d\n", op.name, SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                int border = case_between(&seed, 0, CASE_BORDERS - 1);
                random_min_max(&op, &seed, (enum gi_border)border, (enum gi_type)type, 1);
                bool tall = cases[i][0] > 1000;
                op.min_max.width = tall ? 5 : cases[i][2];
                op.min_max.height = cases[i][0] == 40 ? 3 : cases[i][2];
                op.min_max.anchor_x = case_between(&seed, 0, op.min_max.width - 1);
                op.min_max.anchor_y = case_between(&seed, 0, op.min_max.height - 1);
                op.min_max.runs = NULL;
                check(&op, cases[i], channels, (enum gi_type)type, &seed,
                      (int)i % 4 == channels - 1);
            }
}

static void median(void **state)
{
    (void)state;
    walk(&(struct operation){.name = "median", .which = MEDIAN});
}

/* Rows in several strips and tiles, windows wider than the image, and more samples than 16 bits
 * count. */
static void large_median(void **state)
{
    (void)state;
    static const int cases[][3] = {{9001, 3, 3}, {1100, 9, 5}, {300, 290, 7}, {20, 9, 61},
                                   {700, 3, 33}, {3, 5, 257},  {2, 1, 301}};
    uint64_t seed = SEED;
    struct operation op = {.name = "large median", .which = MEDIAN};
    printf("%s: seed %d\n", op.name, SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            int channels = case_between(&seed, 1, GI_MAX_CHANNELS);
            random_median(&op, &seed, (enum gi_border)(i % CASE_BORDERS), (enum gi_type)type, 1);
            op.median.width = cases[i][2];
            op.median.height = i % 2 ? cases[i][2] : cases[i][2] / 2 + 1;
            op.median.rank = op.median.width * op.median.height / 2;
            op.median.runs = NULL;
            op.median.nruns = 0;
            op.median.opaque = false;
            check(&op, cases[i], channels, (enum gi_type)type, &seed, i % 2 == 0);
        }
}

/* Structuring elements of runs on rows in several strips and tiles. */
static void large_runs(void **state)
{
    (void)state;
    static const int size[] = {5003, 9};
    uint64_t seed = SEED;
    struct operation op = {.name = "large runs"};
    printf("%s: seed %d\n", op.name, SEED);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int i = 0; i < 2; i++) {
            int channels = case_between(&seed, 1, GI_MAX_CHANNELS);
            op.which = i ? MEDIAN : MIN_MAX;
            random_min_max(&op, &seed, GI_BORDER_WRAP, (enum gi_type)type, 1);
            random_median(&op, &seed, GI_BORDER_WRAP, (enum gi_type)type, 1);
            op.min_max.width = op.median.width = 9;
            op.min_max.height = op.median.height = 4;
            op.min_max.anchor_x = 4;
            op.min_max.anchor_y = 2;
            op.min_max.runs = op.median.runs = op.runs;
            op.min_max.nruns = op.median.nruns = random_runs(&op, &seed, 9, 4, 4, 2);
            op.median.rank = gi_footprint_pixels(op.runs, op.median.nruns) / 2;
            check(&op, size, channels, (enum gi_type)type, &seed, true);
        }
}

static void bilateral(void **state)
{
    (void)state;
    walk(&(struct operation){.name = "bilateral", .which = BILATERAL});
}

static void nlmeans(void **state)
{
    (void)state;
    walk(&(struct operation){.name = "nlmeans", .which = NLMEANS});
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
        cmocka_unit_test(separable),     cmocka_unit_test(small),
        cmocka_unit_test(whole),         cmocka_unit_test(ties_and_ends),
        cmocka_unit_test(dense),         cmocka_unit_test(box),
        cmocka_unit_test(large_box),     cmocka_unit_test(min_max),
        cmocka_unit_test(large_min_max), cmocka_unit_test(median),
        cmocka_unit_test(large_median),  cmocka_unit_test(large_runs),
        cmocka_unit_test(bilateral),     cmocka_unit_test(nlmeans),
        cmocka_unit_test(gradient),      cmocka_unit_test(threshold),
        cmocka_unit_test(luma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
