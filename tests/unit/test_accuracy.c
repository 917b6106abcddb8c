/* The results of the CPU's image primitives are close to double precision, on usual images and on
 * images and kernels of extreme shapes.
 * Sources: convolution color
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "cases.h"

enum { SEED = 7 };

/* For each type, how many samples were compared with double precision, and how many of these were
 * equal. */
static uint64_t samples[3], equal[3];

/* Fails unless integers differ by at most 1, and floats by at most 2^-20 of the largest value. */
static void compare(const struct gi_image *got, const struct gi_image *want)
{
    double largest = 0;
    for (int y = 0; y < want->height; y++)
        for (int x = 0; x < want->width; x++)
            for (int c = 0; c < want->channels; c++)
                largest = fmax(largest, fabs(ideal_sample(want, y, x, c)));
    double limit = want->type == GI_F32 ? ldexp(largest, -20) : 1;
    for (int y = 0; y < want->height; y++)
        for (int x = 0; x < want->width; x++)
            for (int c = 0; c < want->channels; c++) {
                double a = ideal_sample(got, y, x, c), b = ideal_sample(want, y, x, c);
                if (!(fabs(a - b) <= limit))
                    fail_msg("%d x %d x %d, type %d, at %d %d %d: %g, want %g", want->width,
                             want->height, want->channels, (int)want->type, x, y, c, a, b);
                samples[want->type]++;
                equal[want->type] += a == b;
            }
}

/* Computes the weights of a Gaussian whose sum is 1. Each weight is rounded once. */
static void gaussian(float *taps, int n, double sigma)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += exp(-(i - n / 2) * (double)(i - n / 2) / (2 * sigma * sigma));
    for (int i = 0; i < n; i++)
        taps[i] = (float)(exp(-(i - n / 2) * (double)(i - n / 2) / (2 * sigma * sigma)) / sum);
}

struct work {
    struct gi_queue *queue;
    struct guard src, got, want;
};

static void work_alloc(struct work *w, const int *size, int channels, int channels_out,
                       enum gi_type type, uint64_t *seed)
{
    guard_alloc(&w->src, size[0], size[1], channels, type, 0);
    guard_alloc(&w->got, size[0], size[1], channels_out, type, 0);
    guard_alloc(&w->want, size[0], size[1], channels_out, type, 0);
    case_fill(&w->src.image, seed);
}

static void work_free(struct work *w)
{
    compare(&w->got.image, &w->want.image);
    guard_free(&w->src);
    guard_free(&w->got);
    guard_free(&w->want);
}

static void try_all(struct work *w, const int *size, int channels, enum gi_type type,
                    enum gi_border border, uint64_t *seed)
{
    static const int counts[] = {3, 5, 11, 41};
    float taps[41], weights[35];
    int n = counts[case_between(seed, 0, 3)];
    gaussian(taps, n, n / 6.0 + 0.3);
    struct gi_epilogue epilogue = {.kind = (enum gi_epilogue_kind)case_between(seed, 0, 2),
                                   .amount = 1.5f};
    struct gi_separable separable = {.row = taps,
                                     .col = taps,
                                     .nrow = n,
                                     .ncol = n,
                                     .row_anchor = n / 2,
                                     .col_anchor = n / 2,
                                     .sum = 1,
                                     .alpha = (enum gi_alpha_rule)case_between(seed, 0, 2),
                                     .border = case_border(seed, border, type),
                                     .epilogue = epilogue};
    struct gi_err err;
    work_alloc(w, size, channels, channels, type, seed);
    ideal_separable(&w->want.image, &w->src.image, &separable);
    w->queue->k->convolve_separable(w->queue, &w->got.image, &w->src.image, &separable, &err);
    work_free(w);

    struct gi_dense dense = {.weights = weights,
                             .width = 7,
                             .height = 5,
                             .anchor_x = 3,
                             .anchor_y = 2,
                             .alpha = separable.alpha,
                             .border = separable.border,
                             .epilogue = epilogue};
    for (int i = 0; i < 35; i++)
        dense.sum += weights[i] = (case_real(seed) + 1.1f) / 40;
    work_alloc(w, size, channels, channels, type, seed);
    ideal_dense(&w->want.image, &w->src.image, &dense);
    w->queue->k->convolve_2d(w->queue, &w->got.image, &w->src.image, &dense, &err);
    work_free(w);

    struct gi_gradient_magnitude sobel = {.smooth = {1, 2, 1}, .border = separable.border};
    sobel.alpha = separable.alpha == GI_ALPHA_KEEP ? GI_ALPHA_KEEP : GI_ALPHA_PLAIN;
    work_alloc(w, size, channels, channels, type, seed);
    ideal_gradient(&w->want.image, &w->src.image, &sobel);
    w->queue->k->gradient_magnitude(w->queue, &w->got.image, &w->src.image, &sobel, &err);
    work_free(w);

    work_alloc(w, size, channels, 1, type, seed);
    ideal_luma(&w->want.image, &w->src.image);
    w->queue->k->luma(w->queue, &w->got.image, &w->src.image, NULL, &err);
    work_free(w);
}

static void accuracy(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    struct work w;
    printf("seed %d\n", SEED);
    w.queue = case_open(gi_kernels_cpu(), 1);
    for (int type = GI_U8; type <= GI_F32; type++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int border = 0; border < CASE_BORDERS; border++)
                for (int i = 0; i < CASE_SIZES; i++)
                    try_all(&w, case_sizes[i], channels, (enum gi_type)type, (enum gi_border)border,
                            &seed);
    gi_queue_close_alone(&w.queue);
    for (int type = GI_U8; type <= GI_U16; type++) {
        double part = (double)equal[type] / (double)samples[type];
        printf("type %d: %.4f %% of %llu samples equal\n", type, 100 * part,
               (unsigned long long)samples[type]);
        assert_true(part >= (type == GI_U8 ? 0.999 : 0.95));
    }
}

static float many_taps[GI_TAPS_MAX];

static struct gi_separable long_gaussian(int n, double sigma)
{
    gaussian(many_taps, n, sigma);
    return (struct gi_separable){.row = many_taps,
                                 .col = many_taps,
                                 .nrow = n,
                                 .ncol = n,
                                 .row_anchor = n / 2,
                                 .col_anchor = n / 2,
                                 .sum = 1};
}

/* A constant image is unchanged by a kernel of any length. */
static void constant(void **state)
{
    (void)state;
    static const int lengths[] = {3, 31, 33, 65, 401, 1601, GI_TAPS_MAX};
    static const uint16_t values[] = {1, 255, 40001, 65535};
    struct gi_queue *queue;
    struct gi_err err;
    queue = case_open(gi_kernels_cpu(), 2);
    for (int i = 0; i < 7; i++)
        for (int v = 0; v < 4; v++) {
            struct gi_separable spec = long_gaussian(lengths[i], lengths[i] / 8.0);
            struct guard src, got;
            guard_alloc(&src, 70, 40, 1, GI_U16, 0);
            guard_alloc(&got, 70, 40, 1, GI_U16, 0);
            for (int p = 0; p < 70 * 40; p++)
                ((uint16_t *)src.image.data)[p] = values[v];
            assert_int_equal(
                queue->k->convolve_separable(queue, &got.image, &src.image, &spec, &err), 0);
            case_equal(&got.image, &src.image, "Gaussian of a constant");
            struct gi_box box = {.k = lengths[i]};
            assert_int_equal(queue->k->box(queue, &got.image, &src.image, &box, &err), 0);
            case_equal(&got.image, &src.image, "box of a constant");
            guard_free(&src);
            guard_free(&got);
        }
    gi_queue_close_alone(&queue);
}

/* Filters a row of 3 000 000 pixels, and a column of as many pixels. Because of the border mode,
 * all rows outside the image equal its row, and all columns outside equal its column. */
static void long_images(void **state)
{
    (void)state;
    struct gi_queue *queue;
    struct gi_err err;
    uint64_t seed = SEED;
    queue = case_open(gi_kernels_cpu(), 2);
    for (int turn = 0; turn < 2; turn++) {
        int n = 3000000, size[2] = {turn ? 1 : n, turn ? n : 1};
        struct gi_separable spec = long_gaussian(7, 1.2);
        struct work w = {.queue = queue};
        work_alloc(&w, size, 1, 1, GI_U8, &seed);
        ideal_separable(&w.want.image, &w.src.image, &spec);
        assert_int_equal(
            queue->k->convolve_separable(queue, &w.got.image, &w.src.image, &spec, &err), 0);
        work_free(&w);
    }
    gi_queue_close_alone(&queue);
}

/* The longest kernels on small images. */
static void longest_kernels(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {5, 2}};
    uint64_t seed = SEED;
    for (int i = 0; i < 2 * CASE_BORDERS; i++) {
        struct work w;
        struct gi_err err;
        struct gi_separable spec = long_gaussian(GI_TAPS_MAX, 60);
        spec.border = case_border(&seed, (enum gi_border)(i / 2), GI_U8);
        w.queue = case_open(gi_kernels_cpu(), 2);
        work_alloc(&w, sizes[i % 2], 1, 1, GI_U8, &seed);
        ideal_separable(&w.want.image, &w.src.image, &spec);
        assert_int_equal(
            w.queue->k->convolve_separable(w.queue, &w.got.image, &w.src.image, &spec, &err), 0);
        gi_queue_close_alone(&w.queue);
        work_free(&w);
    }
}

/* Tests float sums of many taps, which are equal (sigma 0) or a Gaussian's, over noise and over a
 * constant. */
static void long_sums(void **state)
{
    (void)state;
    static const struct {
        int n;
        double sigma;
    } kernels[] = {{31, 0},  {33, 0},   {64, 0},          {65, 0},     {101, 0},
                   {401, 0}, {1999, 0}, {GI_TAPS_MAX, 0}, {401, 50.0}, {2001, 250.0}};
    uint64_t seed = SEED;
    struct gi_err err;
    for (int i = 0; i < 2 * 10; i++) {
        struct work w;
        int n = kernels[i / 2].n, size[2] = {n > 1000 ? 9 : 67, n > 1000 ? 2 : 21};
        struct gi_separable spec = long_gaussian(n, kernels[i / 2].sigma);
        for (int t = 0; t < n && !(kernels[i / 2].sigma > 0); t++)
            many_taps[t] = 1 / (float)n;
        spec.border.mode = GI_BORDER_MIRROR;
        w.queue = case_open(gi_kernels_cpu(), 1);
        work_alloc(&w, size, 1, 1, GI_F32, &seed);
        for (int y = 0; i % 2 && y < size[1]; y++)
            for (int x = 0; x < size[0]; x++)
                ((float *)gi_row(&w.src.image, y))[x] = 0.7f;
        ideal_separable(&w.want.image, &w.src.image, &spec);
        assert_int_equal(
            w.queue->k->convolve_separable(w.queue, &w.got.image, &w.src.image, &spec, &err), 0);
        gi_queue_close_alone(&w.queue);
        work_free(&w);
    }
}

/* An infinite sample makes a result infinite only if the taps of that result reach the sample. */
static void infinite(void **state)
{
    (void)state;
    struct gi_separable spec = long_gaussian(65, 40);
    struct gi_queue *queue;
    struct gi_err err;
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        if (!k)
            continue;
        struct guard src, got;
        guard_alloc(&src, 160, 100, 1, GI_F32, 0);
        guard_alloc(&got, 160, 100, 1, GI_F32, 0);
        for (int p = 0; p < 160 * 100; p++)
            ((float *)src.image.data)[p] = 0.5f;
        ((float *)gi_row(&src.image, 60))[80] = -INFINITY;
        queue = case_open(k, 1);
        assert_int_equal(k->convolve_separable(queue, &got.image, &src.image, &spec, &err), 0);
        gi_queue_close_alone(&queue);
        for (int y = 0; y < 100; y++)
            for (int x = 0; x < 160; x++) {
                float v = ((float *)gi_row(&got.image, y))[x];
                bool met = abs(x - 80) <= 32 && abs(y - 60) <= 32;
                assert_true(met ? v == -INFINITY : fabsf(v - 0.5f) < 1e-6f);
            }
        guard_free(&src);
        guard_free(&got);
    }
}

static unsigned wide_sample(const struct gi_image *image, uint64_t i)
{
    return image->type == GI_U8 ? ((uint8_t *)image->data)[i] : ((uint16_t *)image->data)[i];
}

/* Tests sums beyond 32 bits. The image wraps around, so that the mean over a box much larger than
 * the image equals the mean of whole periods. */
static void check_wide_box(const struct gi_kernels *k, enum gi_type type, int channels,
                           uint64_t *seed)
{
    /* 1023 is 33 * 31, so the window covers the wrapped 33 x 31 image exactly 31 x 33 times. */
    struct gi_queue *queue;
    struct gi_err err;
    struct guard src, got;
    struct gi_box box = {.k = 1023, .border = {.mode = GI_BORDER_WRAP}};
    box.alpha = channels % 2 ? GI_ALPHA_PLAIN : GI_ALPHA_WEIGH;
    guard_alloc(&src, 33, 31, channels, type, 0);
    guard_alloc(&got, 33, 31, channels, type, 0);
    case_fill(&src.image, seed);
    queue = case_open(k, 1);
    assert_int_equal(k->box(queue, &got.image, &src.image, &box, &err), 0);
    gi_queue_close_alone(&queue);
    uint64_t count = (uint64_t)channels, n = 33 * 31;
    for (uint64_t c = 0; c < count; c++) {
        uint64_t sum = 0, by = 0;
        for (uint64_t p = 0; p < n; p++) {
            uint64_t alpha = wide_sample(&src.image, p * count + count - 1);
            uint64_t weight = count % 2 || c == count - 1 ? 1 : alpha;
            sum += wide_sample(&src.image, p * count + c) * weight;
            by += weight;
        }
        for (uint64_t p = 0; p < n; p++)
            assert_int_equal(wide_sample(&got.image, p * count + c), (2 * sum + by) / (2 * by));
    }
    guard_free(&src);
    guard_free(&got);
}

static void wide_box(void **state)
{
    (void)state;
    uint64_t seed = SEED;
    for (int l = 0; l < CASE_LEVELS; l++) {
        const struct gi_kernels *k = gi_kernels_cpu_level(case_levels[l]);
        for (int channels = 1; k && channels <= GI_MAX_CHANNELS; channels++)
            for (int type = GI_U8; type <= GI_U16; type++)
                check_wide_box(k, (enum gi_type)type, channels, &seed);
    }
}

/* Tests means just below and above a half, where float has the least precision left. The images
 * have k x k pixels and wrap around, so that each mean is the mean of the whole image. */
static void near_halves(void **state)
{
    (void)state;
    static const int sizes[] = {7, 127, 129, 255};
    for (int i = 0; i < 2 * 4 * CASE_LEVELS; i++) {
        const struct gi_kernels *kernels = gi_kernels_cpu_level(case_levels[i / 8]);
        int k = sizes[i / 2 % 4], n = k * k;
        enum gi_type type = k == 7 ? GI_U16 : GI_U8;
        unsigned full = k == 7 ? 65535 : 255;
        if (!kernels)
            continue;
        struct gi_queue *queue;
        struct gi_err err;
        struct guard src, got;
        struct gi_box box = {.k = k, .border = {.mode = GI_BORDER_WRAP}};
        guard_alloc(&src, k, k, 1, type, 0);
        guard_alloc(&got, k, k, 1, type, 0);
        for (int p = 0; p < n; p++) { /* the mean is full - 1/2 -+ 1 / (2 n) */
            unsigned v = full - (p < n / 2 + i % 2);
            if (type == GI_U8)
                ((uint8_t *)src.image.data)[p] = (uint8_t)v;
            else
                ((uint16_t *)src.image.data)[p] = (uint16_t)v;
        }
        queue = case_open(kernels, 1);
        assert_int_equal(kernels->box(queue, &got.image, &src.image, &box, &err), 0);
        gi_queue_close_alone(&queue);
        for (int p = 0; p < n; p++)
            assert_int_equal(wide_sample(&got.image, (uint64_t)p), full - (unsigned)(i % 2));
        guard_free(&src);
        guard_free(&got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracy),    cmocka_unit_test(constant),
        cmocka_unit_test(long_images), cmocka_unit_test(longest_kernels),
        cmocka_unit_test(long_sums),   cmocka_unit_test(infinite),
        cmocka_unit_test(wide_box),    cmocka_unit_test(near_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
