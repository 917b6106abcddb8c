/* Every image filter agrees with its definition, which is written here in plain loops in double
 * precision.
 * Sources: filters
 * SPDX-License-Identifier: MIT */
#include "filter_cases.h"
#include "definitions.h"
#include "filters/tone/otsu.h"

/* A kernel with the weights w[j][i]. Its anchor is at the pixel that is computed. */
struct kernel {
    int width, height, anchor_x, anchor_y;
    double w[64 * 64];
};

enum rule { WEIGH, KEEP };
enum finish { STORE, ABS, UNSHARP };

static int step_inside(int i, int n, enum gi_border border)
{
    while (i < 0 || i >= n) {
        if (border == GI_BORDER_VALUE)
            return -1;
        if (border == GI_BORDER_CLAMP)
            i = i < 0 ? 0 : n - 1;
        else if (border == GI_BORDER_WRAP)
            i += i < 0 ? n : -n;
        else if (border == GI_BORDER_MIRROR)
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
        else
            i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
    }
    return i;
}

/* Returns the weighted sum of channel c over the kernel. If `weighed`, each sample is also
 * multiplied by its alpha. */
static double sum_at(const struct gi_image *src, const struct kernel *k, enum gi_border border,
                     double value, int y, int x, int c, bool weighed)
{
    double sum = 0;
    for (int j = 0; j < k->height; j++)
        for (int i = 0; i < k->width; i++) {
            int sy = step_inside(y + j - k->anchor_y, src->height, border);
            int sx = step_inside(x + i - k->anchor_x, src->width, border);
            bool outside = sy < 0 || sx < 0;
            double v = outside ? value : ideal_sample(src, sy, sx, c);
            double a = outside ? value : ideal_sample(src, sy, sx, src->channels - 1);
            sum += k->w[j * k->width + i] * (weighed ? v * a : v);
        }
    return sum;
}

struct oracle {
    struct kernel kernel, second; /* second: gy of a magnitude */
    bool magnitude;
    enum rule rule;
    enum finish finish;
    double bias, amount, threshold;
    double sum; /* of the kernel */
};

static double filtered(const struct oracle *o, const struct gi_image *src, enum gi_border border,
                       double value, int y, int x, int c)
{
    bool alpha = gi_has_alpha(src);
    int last = src->channels - 1;
    double f = sum_at(src, &o->kernel, border, value, y, x, c, alpha && c != last);
    if (o->magnitude)
        f = hypot(f, sum_at(src, &o->second, border, value, y, x, c, alpha && c != last));
    if (!alpha)
        return f;
    if (o->rule == KEEP)
        return f / (double)gi_type_full_scale(src->type);
    double a = sum_at(src, &o->kernel, border, value, y, x, last, false) / o->sum;
    return c == last ? a : a > 0 ? f / a : 0;
}

static double expected(const struct oracle *o, const struct gi_image *src, enum gi_border border,
                       double value, int y, int x, int c)
{
    double s = ideal_sample(src, y, x, c), f;
    bool is_alpha = gi_has_alpha(src) && c == src->channels - 1;
    if (is_alpha && (o->rule == KEEP || o->finish == UNSHARP))
        return s;
    f = filtered(o, src, border, value, y, x, c);
    if (is_alpha)
        return f;
    if (o->finish == UNSHARP)
        return fabs(s - f) > o->threshold ? s + o->amount * (s - f) : s;
    return (o->finish == ABS && src->type != GI_F32 ? fabs(f) : f) + o->bias;
}

/* Tests the contract. Integers differ by at most 1, and 99.9 % of 8-bit samples and 95 % of 16-bit
 * samples are equal. Floats differ by at most 2^-20 of the largest value. */
static void compare(const char *what, const struct oracle *o, const struct gi_image *src,
                    const struct gi_image *got, enum gi_border border, double value)
{
    double worst = 0, largest = 1, full = (double)gi_type_full_scale(src->type);
    size_t differ = 0, n = gi_row_samples(src) * (size_t)src->height;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int c = 0; c < src->channels; c++) {
                double want = expected(o, src, border, value, y, x, c);
                largest = fmax(largest, fabs(want));
                if (src->type != GI_F32)
                    want = want > 0 ? rint(fmin(want, full)) : 0;
                double off = fabs(ideal_sample(got, y, x, c) - want);
                worst = fmax(worst, off);
                differ += off != 0;
            }
    double share = (double)differ / (double)n;
    bool ok = src->type == GI_F32 ? worst <= largest * 0x1p-20 : worst <= 1;
    if (n >= 2000)
        ok = ok && (src->type == GI_F32 || share <= (src->type == GI_U8 ? 0.001 : 0.05));
    if (!ok)
        fail_msg("%s: %d x %d x %d, type %d, border %d: off by %g, %g differ", what, src->width,
                 src->height, src->channels, (int)src->type, (int)border, worst, share);
}

/* Runs the filter with all types, channel counts and border modes on images of some sizes. */
static void check(const char *name, const char *const *words, struct oracle *o)
{
    static const int sizes[][2] = {{1, 1}, {5, 2}, {33, 31}};
    const struct gi_filter *filter = gi_filter_find(name);
    struct gi_queue *queue = case_open(gi_kernels_cpu(), 2);
    void *params = case_params(filter, words);
    uint64_t seed = CASE_SEED;
    double threshold = o->threshold;
    o->sum = 0;
    for (int i = 0; i < o->kernel.width * o->kernel.height; i++)
        o->sum += o->kernel.w[i];
    for (int i = 0; i < 3 * 4 * 5 * 3; i++) {
        struct gi_image src, got;
        const int *size = sizes[i / 60];
        enum gi_type type = (enum gi_type)(i % 3);
        enum gi_border border = (enum gi_border)(i / 12 % 5);
        struct gi_err err = {0};
        assert_int_equal(gi_image_alloc(&src, size[0], size[1], i / 3 % 4 + 1, type, NULL), GI_OK);
        case_fill_samples(&src, &seed);
        case_set(filter, params, "border", gi_border_choices[border].name);
        case_set(filter, params, "border-value", type == GI_F32 ? "0.25" : "60");
        o->threshold = threshold * (double)gi_type_full_scale(type);
        if (gi_run_one(queue, &got, NULL, &src, filter, params, &err))
            fail_msg("%s: %s", name, err.text);
        compare(words ? words[0] : name, o, &src, &got, border, type == GI_F32 ? 0.25 : 60);
        gi_image_free(&src);
        gi_image_free(&got);
    }
    free(params);
    gi_queue_close_alone(&queue);
}

/* Makes the kernel exp(-d^2 / 2 sigma^2), divided by the sum of its weights. If sigma is 0, all
 * weights are equal. */
static struct oracle gaussian(double sigma, int k)
{
    struct oracle o = {.kernel = {k, k, k / 2, k / 2, {0}}};
    double sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < k * k; i++) {
            int y = i / k - k / 2, x = i % k - k / 2;
            double w = sigma > 0 ? exp(-(x * x + y * y) / (2 * sigma * sigma)) : 1;
            sum += pass == 0 ? w : 0;
            o.kernel.w[i] = w / sum;
        }
    return o;
}

static const char *const *words_of(const char *a, const char *b, const char *c)
{
    static const char *words[4];
    words[0] = a;
    words[1] = b;
    words[2] = b ? c : NULL;
    return words;
}

static void test_blur(void **unused)
{
    (void)unused;
    struct oracle five = gaussian(0, 5), three = gaussian(0, 3), one = gaussian(0, 1);
    check("blur", NULL, &five);
    check("blur", words_of("k=3", NULL, NULL), &three);
    check("blur", words_of("k=1", NULL, NULL), &one);
}

static void test_gaussian(void **unused)
{
    (void)unused;
    struct oracle o = gaussian(1, 9);
    check("gaussian", NULL, &o);
    o = gaussian(1.4, 13);
    check("gaussian", words_of("sigma=1.4", NULL, NULL), &o);
    o = gaussian(0.3 * ((7 - 1) * 0.5 - 1) + 0.8, 7); /* OpenCV: 1.4 */
    check("gaussian", words_of("k=7", NULL, NULL), &o);
    o = gaussian(3, 5);
    check("gaussian", words_of("sigma=3", "k=5", NULL), &o);
    o = gaussian(0.1, 3);
    check("gaussian", words_of("sigma=0.1", NULL, NULL), &o);
}

/* Tests kernels of many taps on float images of one row or one column, for which the definition
 * needs only a single sum per pixel. */
static void check_long(const char *name, const char *const *words, double sigma, int k)
{
    enum { LONG = 601 };
    static double weights[GI_TAPS_MAX];
    const struct gi_filter *filter = gi_filter_find(name);
    void *params = case_params(filter, words);
    struct gi_queue *queue = case_open(gi_kernels_cpu(), 2);
    uint64_t seed = CASE_SEED;
    double total = 0;
    for (int i = 0; i < k; i++)
        total += weights[i] = sigma > 0 ? exp(-(i - k / 2) * (i - k / 2) / (2 * sigma * sigma)) : 1;
    for (int turn = 0; turn < 2; turn++) {
        struct gi_image src, got;
        int w = turn ? 1 : LONG, h = turn ? LONG : 1;
        assert_int_equal(gi_image_alloc(&src, w, h, 1, GI_F32, NULL), GI_OK);
        case_fill_samples(&src, &seed);
        assert_int_equal(gi_run_one(queue, &got, NULL, &src, filter, params, NULL), GI_OK);
        for (int p = 0; p < LONG; p++) {
            double want = 0;
            for (int i = 0; i < k; i++) {
                int at = step_inside(p + i - k / 2, LONG, GI_BORDER_CLAMP);
                want += weights[i] / total * ideal_sample(&src, turn ? at : 0, turn ? 0 : at, 0);
            }
            double off = fabs(ideal_sample(&got, turn ? p : 0, turn ? 0 : p, 0) - want);
            if (!(off <= 0x1p-20)) /* of samples up to 1 */
                fail_msg("%s, k %d, turn %d, at %d: off by %g", words[0], k, turn, p, off);
        }
        gi_image_free(&src);
        gi_image_free(&got);
    }
    free(params);
    gi_queue_close_alone(&queue);
}

static void test_long(void **unused)
{
    (void)unused;
    check_long("blur", words_of("k=33", NULL, NULL), 0, 33);
    check_long("blur", words_of("k=101", NULL, NULL), 0, 101);
    check_long("blur", words_of("k=4001", NULL, NULL), 0, 4001);
    check_long("gaussian", words_of("sigma=20", "k=65", NULL), 20, 65);
    check_long("gaussian", words_of("sigma=250", NULL, NULL), 250, 2001);
}

static void test_sharpen(void **unused)
{
    (void)unused;
    struct oracle o = gaussian(1, 9);
    o.finish = UNSHARP;
    o.amount = 1;
    check("sharpen", NULL, &o);
    o = gaussian(1.3, 13);
    o.finish = UNSHARP;
    o.amount = 2.5;
    o.threshold = 0.0612345; /* of full scale; no difference equals it */
    check("sharpen", words_of("sigma=1.3", "amount=2.5", "threshold=6.12345"), &o);
}

static void test_convolve(void **unused)
{
    (void)unused;
    struct oracle even = {.kernel = {4, 2, 2, 1, {1, 2, 3, 0.5, 0.25, 1, 4, 2}}};
    check("convolve", words_of("kernel=1 2,3 1/2\n# two\n0.25 1 4 2;", NULL, NULL), &even);
    struct oracle turned = {.kernel = {4, 2, 1, 0, {2, 4, 1, 0.25, 0.5, 3, 2, 1}}};
    check("convolve", words_of("kernel=1 2 3 .5; .25 1 4 2", "flip", NULL), &turned);
    struct oracle placed = {.kernel = {3, 1, 0, 0, {0.5, 0.25, 0.25}}};
    check("convolve", words_of("kernel=2 1 1", "normalize", "anchor=0,0"), &placed);
    struct oracle zero = {.kernel = {3, 3, 1, 1, {1, 2, 0, 0, 0, 1, -1, -2, -1}}, .rule = KEEP};
    zero.bias = 0.5;
    check("convolve", words_of("kernel=1 2 0; 0 0 1; -1 -2 -1", "bias=0.5", NULL), &zero);
    struct oracle rank = {.kernel = {3, 2, 1, 1, {1, 2, 3, 0.5, 1, 1.5}}};
    check("convolve", words_of("kernel=1 2 3; .5 1 1.5", NULL, NULL), &rank);
}

static void test_edges(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        double s[3];
    } operators[] = {{"operator=sobel", {1, 2, 1}},
                     {"operator=scharr", {3, 10, 3}},
                     {"operator=prewitt", {1, 1, 1}}};
    for (int i = 0; i < 3; i++) {
        struct oracle x = {.kernel = {3, 3, 1, 1, {0}}, .rule = KEEP, .finish = ABS};
        struct oracle y = x;
        for (int j = 0; j < 9; j++) {
            x.kernel.w[j] = 0.25 * operators[i].s[j / 3] * (j % 3 - 1);
            y.kernel.w[j] = 0.25 * operators[i].s[j % 3] * (j / 3 - 1);
        }
        check("edges", words_of(operators[i].name, "scale=0.25", "component=x"), &x);
        check("edges", words_of(operators[i].name, "scale=0.25", "component=y"), &y);
        x.magnitude = true;
        x.second = y.kernel;
        check("edges", words_of(operators[i].name, "scale=0.25", NULL), &x);
    }
    struct oracle o = {
        .kernel = {3, 3, 1, 1, {0, 1, 0, 1, -4, 1, 0, 1, 0}}, .rule = KEEP, .finish = ABS};
    check("edges", words_of("operator=laplacian", NULL, NULL), &o);
}

/* OpenCV and scikit-image give the same thresholds for these counts. */
static void test_otsu(void **unused)
{
    (void)unused;
    uint64_t counts[256] = {0};
    assert_int_equal(gi_otsu(counts, 256), 0);
    counts[40] = 9;
    assert_int_equal(gi_otsu(counts, 256), 40);
    /* All levels between both groups are equally good, and the lowest level is taken. */
    counts[200] = 9;
    assert_int_equal(gi_otsu(counts, 256), 40);
    counts[45] = 3;
    counts[190] = 1;
    assert_int_equal(gi_otsu(counts, 256), 45);
}

static void test_threshold(void **unused)
{
    (void)unused;
    static const float pixels[8] = {-1, 0, 0.25f, 0.5f, 0.5000001f, NAN, INFINITY, 2};
    static const char *const half[] = {"threshold=50%", NULL};
    static const char *const not_half[] = {"threshold=0.5", "invert", NULL};
    const struct gi_filter *filter = gi_filter_find("threshold");
    struct gi_queue *queue = case_open(gi_kernels_cpu(), 1);
    struct gi_image src = {.data = (void *)(uintptr_t)pixels,
                           .stride = sizeof pixels,
                           .width = 8,
                           .height = 1,
                           .channels = 1,
                           .type = GI_F32},
                    got;
    for (int invert = 0; invert < 2; invert++) {
        void *params = case_params(filter, invert ? not_half : half);
        assert_int_equal(gi_run_one(queue, &got, NULL, &src, filter, params, NULL), GI_OK);
        for (int x = 0; x < 8; x++)
            assert_true(ideal_sample(&got, 0, x, 0) == (((double)pixels[x] > 0.5) != invert));
        gi_image_free(&got);
        free(params);
    }
    /* Otsu's method over the range -1 to 2. NaN and infinity don't count. */
    void *params = case_params(filter, NULL);
    double otsu;
    float lo, hi;
    assert_int_equal(gi_level_find(queue, &otsu, &lo, &hi, &src, NULL), GI_OK);
    assert_true(otsu > 0.5 && otsu < 2 && lo == -1 && hi == 2);
    assert_int_equal(gi_run_one(queue, &got, NULL, &src, filter, params, NULL), GI_OK);
    assert_true(ideal_sample(&got, 0, 3, 0) == 0 && ideal_sample(&got, 0, 7, 0) == 1);
    gi_image_free(&got);
    free(params);
    gi_queue_close_alone(&queue);
}

/* A colour image is thresholded per channel or by its luma. The test computes the luma in integers
 * of 1/10000. */
static void test_threshold_colour(void **unused)
{
    (void)unused;
    static const char *const luma[] = {"threshold=100", NULL};
    static const char *const apart[] = {"threshold=100", "per-channel", NULL};
    uint8_t pixels[64][4];
    uint32_t seed = 5;
    for (int i = 0; i < 256; i++)
        pixels[i / 4][i % 4] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    const struct gi_filter *filter = gi_filter_find("threshold");
    struct gi_queue *queue = case_open(gi_kernels_cpu(), 1);
    struct gi_image src = {.data = pixels,
                           .stride = 64,
                           .width = 16,
                           .height = 4,
                           .channels = 4,
                           .type = GI_U8},
                    got;
    void *params = case_params(filter, luma);
    assert_int_equal(gi_run_one(queue, &got, NULL, &src, filter, params, NULL), GI_OK);
    assert_int_equal(got.channels, 1);
    for (int i = 0; i < 64; i++) {
        const uint8_t *p = pixels[i];
        int sum = 2126 * p[0] + 7152 * p[1] + 722 * p[2]; /* luma rounds to more than 100 */
        assert_true(ideal_sample(&got, i / 16, i % 16, 0) == (sum > 1005000 ? 255 : 0));
    }
    gi_image_free(&got);
    free(params);
    params = case_params(filter, apart);
    assert_int_equal(gi_run_one(queue, &got, NULL, &src, filter, params, NULL), GI_OK);
    assert_int_equal(got.channels, 4);
    for (int i = 0; i < 256; i++)
        assert_true(ideal_sample(&got, i / 64, i / 4 % 16, i % 4) == (i % 4 == 3 ? pixels[i / 4][3]
                                                                      : pixels[i / 4][i % 4] > 100
                                                                          ? 255
                                                                          : 0));
    gi_image_free(&got);
    free(params);
    gi_queue_close_alone(&queue);
}

/* Backends without the primitive flood, such as CUDA, compute the same result from labels
 * instead. */
static void test_without_flood(void **state)
{
    (void)state;
    static const char *const names[] = {"clear-border", "fill-holes"};
    const char *const words[] = {"connectivity=4", NULL};
    struct gi_err err = {0};
    struct gi_queue *queue = case_open(gi_kernels_cpu(), 2);
    const struct gi_kernels *kernels = queue->k;
    struct gi_kernels by_labels = *kernels;
    by_labels.flood = NULL;
    for (int i = 0; i < 20; i++) {
        const struct gi_filter *filter = gi_filter_find(names[i % 2]);
        struct gi_image src, flooded, labelled;
        uint32_t random = (uint32_t)i; /* Numerical Recipes' generator */
        assert_int_equal(gi_image_alloc(&src, 37, 29, 1, GI_U8, NULL), GI_OK);
        for (int y = 0; y < src.height; y++)
            for (int x = 0; x < src.width; x++) {
                random = 1664525 * random + 1013904223;
                ((uint8_t *)gi_row(&src, y))[x] = (random >> 24) < (i % 2 ? 150 : 80) ? 200 : 0;
            }
        void *params = case_params(filter, words);
        queue->k = kernels;
        assert_int_equal(gi_run_one(queue, &flooded, NULL, &src, filter, params, &err), GI_OK);
        queue->k = &by_labels;
        assert_int_equal(gi_run_one(queue, &labelled, NULL, &src, filter, params, &err), GI_OK);
        for (int y = 0; y < src.height; y++)
            assert_memory_equal(gi_row(&labelled, y), gi_row(&flooded, y), (size_t)src.width);
        free(params);
        gi_image_free(&src);
        gi_image_free(&flooded);
        gi_image_free(&labelled);
    }
    queue->k = kernels;
    gi_queue_close_alone(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blur),
        cmocka_unit_test(test_gaussian),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_sharpen),
        cmocka_unit_test(test_convolve),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_otsu),
        cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_threshold_colour),
        cmocka_unit_test(test_without_flood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
