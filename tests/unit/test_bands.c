/* Processing in bands, also after running out of memory, gives the bytes of the whole image.
 * Sources: filters/bands.c filters/pipeline* filters/execution.h
 * SPDX-License-Identifier: MIT */
#include "filter_cases.h"
#include "filters/regions/extract.h"
#include "filters/statistics/histogram.h"
#include "kernels/kernels.h"

/* The limits and the counters of the small backend. */
static struct {
    size_t nbytes, row_nbytes;
    int rows, upload_rows, uploads;
    int depth;       /* ranges that have not ended */
    char names[512]; /* of those that began */
} small;

static enum gi_status (*real_upload)(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_image *host, struct gi_ticket *ticket,
                                     struct gi_err *err);

static void small_limits(struct gi_queue *queue, struct gi_device_limits *limits)
{
    *limits = (struct gi_device_limits){small.nbytes, small.rows, small.row_nbytes, 512};
}

static enum gi_status small_upload(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *host, struct gi_ticket *ticket,
                                   struct gi_err *err)
{
    small.uploads++;
    assert_true(host->height > 0); /* an image has a row */
    if (host->height > small.upload_rows)
        return gi_fail(err, GI_E_DEVICE_MEMORY, "%d rows do not fit", host->height);
    return real_upload(queue, dst, host, ticket, err);
}

static void small_range(struct gi_queue *unused, const char *name)
{
    size_t n = strlen(small.names);
    small.depth += name ? 1 : -1;
    if (name)
        snprintf(small.names + n, sizeof small.names - n, " %s", name);
}

static struct gi_kernels small_kernels;
static struct gi_queue *queue;

static int open_cpu(void **unused)
{
    queue = case_open(gi_kernels_cpu(), 2);
    small_kernels = *queue->k;
    real_upload = small_kernels.upload;
    small_kernels.limits = small_limits;
    small_kernels.upload = small_upload;
    small_kernels.range = small_range;
    return 0;
}

static int close_cpu(void **unused)
{
    queue->k = gi_kernels_cpu();
    gi_queue_close_alone(&queue);
    return 0;
}

static void take(int rows, int upload_rows)
{
    queue->k = &small_kernels;
    small.nbytes = small.row_nbytes = SIZE_MAX;
    small.rows = rows;
    small.upload_rows = upload_rows;
    small.uploads = 0;
    small.names[0] = 0;
}

static struct gi_image whole_of(const struct gi_filter *filter, const void *params,
                                const struct gi_image *src)
{
    struct gi_image whole;
    queue->k = gi_kernels_cpu();
    assert_int_equal(gi_run_one(queue, &whole, NULL, src, filter, params, NULL), GI_OK);
    return whole;
}

/* Compares results made in bands with the whole. Limits or a lack of memory cut the bands. */
static void compare(const struct gi_filter *filter, const void *params, const struct gi_image *src,
                    const struct gi_image *whole, int rows, int upload_rows)
{
    struct gi_image cut;
    struct gi_err err = {0};
    struct gi_times times;
    double nbytes;
    take(rows, upload_rows);
    if (case_run(queue, &cut, NULL, src, filter, params, &times, &nbytes, &err))
        fail_msg("%s: %s", filter->name, err.text);
    assert_string_equal(err.text, "");
    assert_true(times.bands > 1);
    if (!filter->sources.needs) /* the filter reads the whole source */
        assert_true(nbytes >= 2.0 * (double)gi_row_nbytes(src) * src->height);
    if (!case_is_equal(whole, &cut))
        fail_msg("%s: %d rows at most, %d in memory: differs", filter->name, rows, upload_rows);
    gi_image_free(&cut);
}

/* Compares the steps' result made in bands with the whole, as compare() does. */
static void compare_steps(const struct gi_step *steps, int n, const struct gi_image *src,
                          const struct gi_side *sides, int rows, int upload_rows)
{
    struct gi_image whole, cut;
    struct gi_pipeline *pipeline;
    struct gi_times times = {.step_ms = (double[16]){0}, .step_nbytes = (double[16]){0}};
    assert_int_equal(gi_pipeline_new(&pipeline, steps, n, src, NULL, NULL), GI_OK);
    queue->k = gi_kernels_cpu();
    assert_int_equal(gi_pipeline_run(pipeline, queue, &whole, src, sides, NULL, NULL), GI_OK);
    take(rows, upload_rows);
    assert_int_equal(gi_pipeline_run(pipeline, queue, &cut, src, sides, &times, NULL), GI_OK);
    assert_true(times.bands > 1 && case_is_equal(&whole, &cut));
    gi_pipeline_free(&pipeline);
    gi_image_free(&whole);
    gi_image_free(&cut);
}

static const char *const uneven[] = {"kernel=1 2 3; 0 1 0; 2 -1 4; 0 0 1; 5 1 1; 1 1 2",
                                     "anchor=0,5", NULL};
static const char *const wide[] = {"k=31", NULL};
static const char *const above[] = {"size=4x8", "origin=-2,3", NULL};
static const char *const below[] = {"size=4x8", "origin=1,-4", NULL};
static const char *const high[] = {"heights=1 2 0; 0.5 -3 0; 0 0 9; 1 1 1", "origin=0,-2", NULL};
static const char *const apart[] = {"per-channel", NULL};
static const char *const deviant[] = {"sigma=1.7", NULL};
static const char *const kept[] = {"sigma=1.7", "alpha=keep", NULL};
static const char *const data[] = {"sigma=1.7", "alpha=straight", NULL};
static const char *const wolf[] = {"method=wolf", "k=9", NULL};
static const char *const wolf_apart[] = {"method=wolf", "k=5", "per-channel", NULL};
static const char *const turned[] = {"angle=5", NULL};
static const char *const turned_more[] = {"angle=-9", "interpolation=bicubic", "expand", NULL};
static const char *const moved[] = {"offset=3.25,-11.5", NULL};
static const char *const flipped[] = {"matrix=1 0.1 2; 0.2 -1 57.5", "interpolation=bicubic", NULL};
static const char *const turned_spline[] = {"angle=5", "interpolation=bspline", NULL};
static const char *const moved_spline[] = {"offset=3.25,-11.5", "interpolation=bspline", NULL};
static const char *const far_spline[] = {"offset=0.5,25.5", "interpolation=bspline", NULL};
static const char *const nearest[] = {"matrix=1 0.1 2; 0.2 -1 57.5", "interpolation=nearest", NULL};

/* The least number of rows in memory is that of the halo, or `rows` for a map, which decides which
 * source rows a band needs. With border wrap, some are at the other end. */
static const struct {
    const char *filter;
    const char *const *words;
    int rows;
} cases[] = {{"blur", NULL, 0},
             {"blur", wide, 0},
             {"gaussian", deviant, 0},
             {"gaussian", wide, 0},
             {"gaussian", kept, 0},
             {"bilateral", data, 0},
             {"sharpen", deviant, 0},
             {"convolve", uneven, 0},
             {"edges", NULL, 0},
             {"erode", below, 0},
             {"close", above, 0},
             {"open", high, 0},
             {"threshold", NULL, 0},
             {"threshold", apart, 0},
             {"local-threshold", wolf, 0},
             {"local-threshold", wolf_apart, 0},
             {"rotate", turned, 30},
             {"rotate", turned_more, 40},
             {"shift", moved, 30},
             {"affine", flipped, 30},
             {"affine", nearest, 30},
             {"rotate", turned_spline, 45},
             {"shift", moved_spline, 45},
             {"shift", far_spline, 45}};

TEST(test_same_bytes)
{
    enum { HEIGHT = 61 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gi_filter *filter = gi_filter_find(cases[i].filter);
        void *params = case_params(filter, cases[i].words);
        for (int j = 0; j < 5 * 3 * 2; j++) {
            if (case_is_left_out())
                continue;
            if (gi_option_find(filter->options, "border"))
                case_set(filter, params, "border", gi_border_choices[j % 5].name);
            struct gi_image src =
                case_image(23, HEIGHT, j / 15 ? 4 : 3, (enum gi_type)(j / 5 % 3), NULL);
            struct gi_plan plan = case_plan(filter, params, &src);
            int least = cases[i].rows ? cases[i].rows : 2 * plan.halo + 1;
            gi_plan_free(&plan);
            struct gi_image whole = whole_of(filter, params, &src);
            /* from case to case other numbers of rows, from the least one */
            for (int rows = least + j % 3; rows < HEIGHT; rows += 1 + rows * (1 + j % 2))
                compare(filter, params, &src, &whole, rows, HEIGHT);
            compare(filter, params, &src, &whole, INT32_MAX, least);
            compare(filter, params, &src, &whole, INT32_MAX,
                    least + 5 < HEIGHT ? least + 5 : least);
            gi_image_free(&whole);
            gi_image_free(&src);
        }
        free(params);
    }
}

/* The result has another height than the source, so that its rows come from other source rows. */
TEST(test_resize)
{
    static const char *const sizes[] = {"size=20x23", "size=31x150", "size=9x90", "size=23x61",
                                        "size=40x7"};
    static const char *const modes[] = {"stretch", "fill", "pad", "no-enlarge"};
    static const char *const likes[] = {"like=pillow", "gravity=southwest", "border-value=9"};
    const struct gi_filter *filter = gi_filter_find("resize");
    for (int i = 0; i < 5 * 4 * 3; i++) {
        void *params =
            case_params(filter, (const char *const[]){sizes[i % 5], modes[i / 5 % 4], likes[i / 20],
                                                      "filter=box", NULL});
        struct gi_image src = case_image(23, 61, 1 + i % 4, GI_U8, NULL), cut;
        struct gi_image whole = whole_of(filter, params, &src);
        for (int rows = 20; rows <= 61; rows += 7) {
            struct gi_err err = {0};
            take(rows, 61);
            if (gi_run_one(queue, &cut, NULL, &src, filter, params, &err))
                fail_msg("%s %s: %d rows: %s", sizes[i % 5], modes[i / 5 % 4], rows, err.text);
            if (!case_is_equal(&whole, &cut))
                fail_msg("%s %s: %d rows: differs", sizes[i % 5], modes[i / 5 % 4], rows);
            gi_image_free(&cut);
        }
        gi_image_free(&whole);
        gi_image_free(&src);
        free(params);
    }
}

/* Integer sums that 64 bits can't hold are refused before memory for them is allocated. Float sums
 * are scaled. */
TEST(test_sums_too_large)
{
    static const char *const squares[] = {"squares", NULL};
    const struct gi_filter *filter = gi_filter_find("integral");
    void *params = case_params(filter, squares);
    for (int type = GI_U8; type <= GI_F32; type++) {
        struct gi_image src = {
            .width = 1 << 16, .height = 1 << 17, .channels = 1, .type = (enum gi_type)type};
        struct gi_plan plan;
        struct gi_err err = {0};
        enum gi_status status = gi_plan_make(&plan, filter, params, &src, 1, &err);
        assert_int_equal(status, type == GI_U16 ? GI_E_UNSUPPORTED : GI_OK);
        if (!status)
            gi_plan_free(&plan);
    }
    free(params);
}

TEST(test_bytes_limit)
{
    const struct gi_filter *filter = gi_filter_find("edges");
    void *params = case_params(filter, NULL);
    struct gi_image src = case_image(300, 40, 1, GI_U8, NULL), dst;
    struct gi_times times;
    double nbytes;
    take(INT32_MAX, 40);
    small.nbytes = 2 * 512 * 12; /* 12 rows in and out: 10 and two of halo */
    assert_int_equal(case_run(queue, &dst, NULL, &src, filter, params, &times, &nbytes, NULL),
                     GI_OK);
    assert_int_equal(times.bands, 4);
    gi_image_free(&dst);
    gi_image_free(&src);
    free(params);
}

TEST(test_too_little)
{
    const struct gi_filter *filter = gi_filter_find("gaussian");
    void *params = case_params(filter, NULL); /* k = 9 */
    struct gi_image src = case_image(10, 50, 1, GI_U8, NULL), dst;
    struct gi_err err = {0};
    take(8, 50);
    assert_int_equal(gi_run_one(queue, &dst, NULL, &src, filter, params, &err), GI_E_DEVICE_MEMORY);
    assert_string_equal(
        err.text, "out of device memory: not even one row of the result fits with those that it "
                  "needs");
    take(50, 4); /* a row in the middle needs nine rows */
    assert_int_equal(gi_run_one(queue, &dst, NULL, &src, filter, params, &err), GI_E_DEVICE_MEMORY);
    assert_true(small.uploads < 20);
    take(50, 50);
    small.row_nbytes = 9;
    assert_int_equal(gi_run_one(queue, &dst, NULL, &src, filter, params, &err), GI_E_DEVICE_MEMORY);
    assert_string_equal(err.text, "a row of 10 bytes: the device takes 9");
    gi_image_free(&src);
    free(params);
}

/* A profiler gets a range for each stage. Each range is ended, also after a failure. */
TEST(test_ranges)
{
    const struct gi_filter *filter = gi_filter_find("threshold");
    void *params = case_params(filter, (const char *const[]){"threshold=otsu", NULL});
    struct gi_image src = case_image(10, 40, 1, GI_U8, NULL), dst;
    take(40, 40);
    assert_int_equal(gi_run_one(queue, &dst, NULL, &src, filter, params, NULL), GI_OK);
    assert_string_equal(small.names, " upload threshold threshold download");
    gi_image_free(&dst);
    take(40, 39);
    assert_int_equal(gi_run_one(queue, &dst, NULL, &src, filter, params, NULL), GI_OK);
    assert_string_equal(small.names, " upload upload threshold upload threshold"
                                     " upload threshold download upload threshold download");
    gi_image_free(&dst);
    take(40, 0);
    assert_int_equal(gi_run_one(queue, &dst, NULL, &src, filter, params, NULL), GI_E_DEVICE_MEMORY);
    assert_int_equal(small.depth, 0);
    gi_image_free(&src);
    free(params);
}

/* Makes about every ninth float unusual. With `whole_channel`, makes the first channel NaN. */
static void spoil(struct gi_image *image, uint64_t *seed, bool whole_channel)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, -1e30f};
    for (int y = 0; y < image->height && image->type == GI_F32; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            float *v = (float *)gi_row(image, y) + i;
            if (whole_channel && i % (size_t)image->channels == 0)
                *v = NAN;
            else if (case_random(seed) % 9 == 0)
                *v = odd[case_random(seed) % 5];
        }
}

/* Bands hold parts of CLAHE's tiles. If tiles do not divide the image, the image is mirrored. */
TEST(test_tiles)
{
    static const char *const words[][4] = {{"tiles=1x40", "clip-limit=1.4", NULL},
                                           {"tiles=3x4", "per-channel", NULL},
                                           {"tiles=1x1", "clip-limit=0", NULL}};
    const struct gi_filter *filter = gi_filter_find("clahe");
    uint64_t seed = CASE_SEED;
    for (int i = 0; i < 3 * 4; i++) {
        void *params = case_params(filter, words[i % 3]);
        struct gi_image src = case_image(23, 61, 1 + i % 4, (enum gi_type)(i / 3 % 3), NULL);
        spoil(&src, &seed, false);
        struct gi_image whole = whole_of(filter, params, &src);
        compare(filter, params, &src, &whole, 4, 61);
        compare(filter, params, &src, &whole, 37, 61);
        compare(filter, params, &src, &whole, INT32_MAX, 30);
        gi_image_free(&whole);
        gi_image_free(&src);
        free(params);
    }
}

static void analyse(struct gi_histogram *result, const struct gi_image *src, const void *params,
                    int rows, int upload_rows)
{
    struct gi_err err = {0};
    struct gi_times times;
    double nbytes;
    *result = (struct gi_histogram){0};
    take(rows, upload_rows);
    if (case_run(queue, NULL, result, src, &gi_filter_histogram, params, &times, &nbytes, &err))
        fail_msg("%s", err.text);
    assert_string_equal(err.text, "");
    assert_int_equal(times.bands > 1, rows < src->height || upload_rows < src->height);
}

/* The histogram works in bands. */
TEST(test_analysis)
{
    static const char *const words[] = {"bins=37", "percentiles=0,10,50,99.5,100", NULL};
    struct gi_histogram_params *params = case_params(&gi_filter_histogram, words);
    for (int i = 0; i < 3 * 4 * 2 * 3; i++) {
        enum gi_type type = (enum gi_type)(i / 4 % 3);
        if (i / 24 && type != GI_F32) /* integers can't be spoiled */
            continue;
        struct gi_image src = case_image(19, 33, 1 + i % 4, type, NULL);
        uint64_t seed = CASE_SEED + (uint64_t)i;
        if (i / 24)
            spoil(&src, &seed, i / 24 == 2);
        params->luminance = i / 12 % 2;
        struct gi_histogram whole, cut;
        analyse(&whole, &src, params, 33, 33);
        for (int rows = i % 7 ? 6 : 1; rows <= 33; rows = 3 * rows + 1)
            for (int j = 0; j < 2; j++) {
                analyse(&cut, &src, params, j ? rows : 33, j ? 33 : rows);
                if (!gi_results_equal(&gi_filter_histogram, &whole, &cut))
                    fail_msg("histogram: case %d, bands of %d rows: differs", i, rows);
                gi_filter_histogram.analysis.free(&cut);
            }
        gi_filter_histogram.analysis.free(&whole);
        gi_image_free(&src);
    }
    free(params);
}

/* Connected components cross bands, so the whole image must fit. The message is always the same. */
TEST(test_analysis_of_the_whole)
{
    void *params = case_params(&gi_filter_extract, NULL);
    struct gi_image src = case_image(19, 33, 3, GI_U8, NULL);
    struct gi_extract result = {0};
    for (int i = 0; i < 2; i++) {
        struct gi_err err = {0};
        take(i ? 33 : 32, i ? 32 : 33);
        assert_int_equal(gi_run_one(queue, NULL, &result, &src, &gi_filter_extract, params, &err),
                         GI_E_DEVICE_MEMORY);
        assert_string_equal(err.text,
                            "out of device memory: extract needs all 19 x 33 pixels there at once");
        gi_filter_extract.analysis.free(&result);
    }
    take(33, 33);
    assert_int_equal(gi_run_one(queue, NULL, &result, &src, &gi_filter_extract, params, NULL),
                     GI_OK);
    gi_filter_extract.analysis.free(&result);
    gi_image_free(&src);
    free(params);
}

/* A reference image of another size is read only once, whatever the number of bands. */
TEST(test_reference)
{
    const struct gi_filter *filter = gi_filter_find("match");
    void *params = case_params(filter, (const char *const[]){"reference=image.png", NULL});
    for (int type = GI_U8; type <= GI_U16; type++)
        for (int height = 9; height < 99; height += 80) {
            struct gi_image src = case_image(23, 61, 3, (enum gi_type)type, NULL);
            struct gi_image like = case_image(17, height, 4, (enum gi_type)type, NULL);
            struct gi_step step = {
                .filter = filter, .params = params, .others = &like, .nothers = 1};
            struct gi_side side = {.others = &like};
            for (int y = 0; y < height / 2; y++) /* other tones above than below */
                memset(gi_row(&like, y), 40 + y, gi_row_nbytes(&like));
            compare_steps(&step, 1, &src, &side, 20, height > 61 ? height : 61);
            gi_image_free(&like);
            gi_image_free(&src);
        }
    free(params);
}

/* With border wrap, a band at the top or bottom needs two pieces of the source, however many steps
 * the chain has. */
TEST(test_many_that_wrap)
{
    enum { STEPS = 14, HEIGHT = 200, BANDS = 4 };
    const struct gi_filter *filter = gi_filter_find("blur"), *other = gi_filter_find("invert");
    void *params = case_params(filter, (const char *const[]){"k=3", "border=wrap", NULL});
    void *none = case_params(other, NULL);
    struct gi_image src = case_image(16, HEIGHT, 3, GI_U8, NULL);
    struct gi_step steps[STEPS];
    for (int i = 0; i < STEPS; i++)
        steps[i] = i % 3 ? (struct gi_step){.filter = filter, .params = params}
                         : (struct gi_step){.filter = other, .params = none};
    compare_steps(steps, STEPS, &src, NULL, HEIGHT / BANDS + 2 * STEPS, HEIGHT);
    assert_in_range(small.uploads, 2, 2 * BANDS);
    gi_image_free(&src);
    free(params);
    free(none);
}

/* The rows that border wrap takes from past an end are rows of the step's source. A source that is
 * made with another border, from two images or by a map can't be made from rows that repeat. */
TEST(test_before_a_wrap)
{
    static const char *const words[][4] = {
        {"blur", "k=5", "border=clamp"}, {"blend", "with=b.png"}, {"resize", "size=23x61"}};
    const struct gi_filter *wrap = gi_filter_find("blur");
    void *last = case_params(wrap, (const char *const[]){"k=5", "border=wrap", NULL});
    struct gi_image src = case_image(23, 90, 3, GI_U8, NULL),
                    other = case_image(23, 90, 3, GI_U8, NULL);
    memset(gi_row(&other, 0), 200, gi_row_nbytes(&other));
    for (int i = 0; i < 3; i++) {
        const struct gi_filter *filter = gi_filter_find(words[i][0]);
        void *params = case_params(filter, words[i] + 1);
        struct gi_step steps[] = {
            {.filter = filter, .params = params, .others = &other, .nothers = i == 1},
            {.filter = wrap, .params = last}};
        struct gi_side sides[] = {{.others = &other}, {0}};
        compare_steps(steps, 2, &src, sides, 35, 90);
        free(params);
    }
    gi_image_free(&src), gi_image_free(&other), free(last);
}

TEST_FRAME(.first = open_cpu, .last = close_cpu)
