/* Stacks of images on every level of the CPU and on CUDA: means, medians, extremes, sums and sigma
 * clipping against definitions in plain loops, at once and continued.
 * Sources: filters/statistics/stack* kernels/cpu/statistics/stack.c
 *     kernels/cuda/statistics/stack.cu
 * SPDX-License-Identifier: MIT */
#include "image_cases.h"
#include "ways_walk.h"
#include "kernels/statistics.h"

enum { IMAGES_MAX = 600 };

static uint64_t seed = 20261125;

/* ---- the definition, by sorting doubles ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x == y ? (signbit(y) != 0) - (signbit(x) != 0) : (x > y) - (x < y);
}

static double sum_of(const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

static double median_of(const double *v, int n)
{
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static double clipped_mean_of(const double *sorted, int n, double kappa)
{
    double v[IMAGES_MAX];
    memcpy(v, sorted, (size_t)n * sizeof *v);
    for (int round = 0; round < 5; round++) {
        double mean = sum_of(v, n) / n, median = median_of(v, n), squares = 0;
        for (int i = 0; i < n; i++)
            squares += (v[i] - mean) * (v[i] - mean);
        double reach = kappa * sqrt(squares / n);
        int kept = 0;
        for (int i = 0; i < n; i++)
            if (!(fabs(v[i] - median) > reach))
                v[kept++] = v[i];
        if (kept == n)
            break;
        n = kept;
    }
    return sum_of(v, n) / n;
}

/* Returns the result for a pixel from its n samples: `s` in the order of the images, `v` sorted. */
static double define(const struct gi_stack *spec, double *v, int n)
{
    double s = v[0];
    for (int i = 0; i < n; i++)
        if (isnan(v[i]))
            return (double)NAN;
    for (int i = 1; i < n; i++)
        s = spec->method == GI_STACK_MIN   ? (v[i] < s ? v[i] : s)
            : spec->method == GI_STACK_MAX ? (v[i] > s ? v[i] : s)
                                           : s + v[i];
    if (spec->method != GI_STACK_MEDIAN && spec->method != GI_STACK_SIGMA_CLIP)
        return s;
    qsort(v, (size_t)n, sizeof *v, by_value);
    return spec->method == GI_STACK_MEDIAN ? median_of(v, n) : clipped_mean_of(v, n, spec->kappa);
}

static enum gi_type result_type(const struct gi_image *src, const struct gi_stack *spec)
{
    return spec->method == GI_STACK_SUM ? GI_F32 : src->type;
}

static void compare(const struct gi_image *got, const struct gi_image *src,
                    const struct gi_stack *spec, const char *what)
{
    size_t samples = gi_row_samples(got);
    for (int y = 0; y < got->height; y++)
        for (size_t i = 0; i < samples; i++) {
            double v[IMAGES_MAX] = {0}, full = (double)gi_type_full_scale(src->type);
            for (int k = 0; k < spec->images; k++)
                v[k] = gi_sample(gi_row(src, y), (size_t)k * samples + i, src->type);
            double s = define(spec, v, spec->images);
            s = spec->method == GI_STACK_MEAN  ? s / spec->images
                : spec->method == GI_STACK_SUM ? s / full
                                               : s;
            float want = got->type != GI_F32 ? (float)floor(s + 0.5) : isnan(s) ? NAN : (float)s;
            float have = (float)gi_sample(gi_row(got, y), i, got->type);
            if (memcmp(&want, &have, sizeof want))
                fail_msg("%s: type %d, %d x %d x %d, method %d, %d images: row %d sample %zu is "
                         "%.9g, want %.9g",
                         what, (int)src->type, src->width, src->height, src->channels,
                         (int)spec->method, spec->images, y, i, (double)have, (double)want);
        }
}

/* ---- runs ---- */

/* Reduces the images from number `first` on, with the sums of an earlier run over those before. */
static enum gi_status stack_from(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_stack *spec, int first,
                                 struct gi_err *err)
{
    int width = src->width / spec->images;
    struct gi_stack before = *spec, after = *spec;
    struct gi_image sums = {0}, left = *src, right = *src;
    enum gi_status status = GI_OK;
    size_t pixel = (size_t)src->channels * gi_type_nbytes(src->type);
    before.images = first;
    after.images -= first;
    left.width = first * width;
    right.width = after.images * width;
    right.data = (char *)src->data + (size_t)left.width * pixel;
    if (first) {
        status = queue->k->alloc(queue, &sums, 2 * width, src->height, src->channels, GI_U32, err);
        assert_int_equal(status, GI_OK);
        status = queue->k->stack(queue, &sums, &left, &before, err);
        after.earlier = &sums;
        after.nearlier = (uint64_t)first;
    }
    if (!status)
        status = queue->k->stack(queue, dst, &right, &after, err);
    if (first)
        queue->k->release(queue, &sums);
    return status;
}

static void check_way(struct gi_queue *queue, int way, const struct gi_image *src,
                      const struct gi_image *host, const struct gi_stack *spec, int first)
{
    struct gi_image dst, back;
    struct gi_err err = {0};
    assert_int_equal(queue->k->alloc(queue, &dst, src->width / spec->images, src->height,
                                     src->channels, result_type(src, spec), &err),
                     GI_OK);
    enum gi_status status = stack_from(queue, &dst, src, spec, first, &err);
    if (!walk_ran(queue, "stack", way, status, &err)) {
        queue->k->release(queue, &dst);
        return;
    }
    assert_int_equal(queue->k->download(queue, &back, &dst, NULL, &err), GI_OK);
    compare(&back, host, spec, walk_what(queue, "stack", way));
    gi_image_free(&back);
}

static void check(const struct gi_image *host, const struct gi_stack *spec)
{
    bool continues = spec->method != GI_STACK_MEDIAN && spec->method != GI_STACK_SIGMA_CLIP;
    for (int q = 0; q < WALK_QUEUES; q++) {
        struct gi_queue *queue = walk_queues[q];
        struct gi_image src;
        if (!queue)
            continue;
        assert_int_equal(queue->k->upload(queue, &src, host, NULL, NULL), GI_OK);
        for (int i = -1; walk_force(queue, "stack", i); i++)
            for (int first = 0; first < (continues ? spec->images : 1); first += 3)
                check_way(queue, i, &src, host, spec, first);
        queue->k->release(queue, &src);
    }
}

/* Fills with random samples, some floats unusual; `few`: three values, so that many are equal. */
static void fill(struct gi_image *image, bool few)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 1e-40f, 3e38f, -3e38f};
    case_fill(image, &seed);
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            if (few)
                case_put(image, y, i, (float)case_between(&seed, 0, 2));
            if (image->type == GI_F32 && !case_between(&seed, 0, 40))
                case_put(image, y, i, odd[case_between(&seed, few ? 3 : 0, few ? 4 : 7)]);
        }
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        int width, height, images, rest; /* `rest`: columns behind the last image */
    } shapes[] = {{1, 1, 1, 0},  {1, 3, 2, 1},  {5, 4, 3, 2},    {7, 5, 4, 3},  {31, 9, 5, 4},
                  {70, 3, 6, 0}, {3, 2, 17, 5}, {300, 2, 16, 7}, {130, 1, 8, 1}};
    print_message("seed %llu\n", (unsigned long long)seed);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
                for (int method = GI_STACK_MEAN; method <= GI_STACK_SIGMA_CLIP; method++) {
                    struct gi_stack spec = {.method = (enum gi_stack_method)method,
                                            .images = shapes[i].images,
                                            .kappa = i % 2 ? 1 : 1.75};
                    struct guard g;
                    guard_alloc(&g, shapes[i].width * spec.images + shapes[i].rest,
                                shapes[i].height, channels, (enum gi_type)type, 12);
                    fill(&g.image, method % 2);
                    check(&g.image, &spec);
                    guard_check(&g);
                    guard_free(&g);
                }
}

/* More images than a byte can count, and a row that several jobs share. */
static void test_many(void **state)
{
    (void)state;
    static const int sizes[][2] = {{3, 255}, {3, 256}, {2, 511}, {5000, 2}};
    for (int i = 0; i < 4; i++)
        for (int type = GI_U8; type <= GI_F32; type++)
            for (int method = GI_STACK_MEAN; method <= GI_STACK_SIGMA_CLIP; method++) {
                struct gi_stack spec = {
                    .method = (enum gi_stack_method)method, .images = sizes[i][1], .kappa = 1.5};
                struct guard g;
                if (spec.images > 300 && gi_stack_continues(&spec))
                    continue; /* many runs of the same kind */
                guard_alloc(&g, sizes[i][0] * spec.images, 2, 1, (enum gi_type)type, 0);
                fill(&g.image, i == 1);
                check(&g.image, &spec);
                guard_free(&g);
            }
}

static enum gi_status of_labels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *labels, struct gi_err *err)
{
    struct gi_stack spec = {.images = 1};
    return queue->k->stack(queue, dst, labels, &spec, err);
}

static void test_types(void **state)
{
    (void)state;
    walk_refuses("stack", of_labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_types),
        cmocka_unit_test(walk_check_all),
    };
    return cmocka_run_group_tests(tests, walk_open, walk_close);
}
