/* The estimates of --device auto grow with the work, and the time to open CUDA keeps small images
 * on the CPU. Also tests the counts of `gpuimg bench` (bytes, multiply-adds, ceilings) and the
 * memory that a batch reserves.
 * Sources: filters/estimate.c filters/time.c filters/plan*
 * SPDX-License-Identifier: MIT */
#include "filter_cases.h"

#include "imgio/coded.h"
#include "kernels/kernels.h"

enum { SMALLEST = 64, LARGEST = 32768 }; /* regions count pixels in 32 bits */

/* A server's CPU, with the properties that a device reports. */
static const struct gi_device_info host = {.units = 16, .lanes = 32, .clock_khz = 3700000};
static const struct gi_device_info gpu = {
    .units = 132, .lanes = 128, .clock_khz = 1980000, .memory_rate = 4.8e12, .link_rate = 63e9};

/* A pipeline of one step with its example options for an image of this shape. The caller frees it
 * with *params. */
static struct gi_pipeline *pipeline_for(const struct gi_filter *filter, struct gi_image shape,
                                        void **made)
{
    void *params = calloc(1, filter->params_nbytes);
    struct gi_image other = shape;
    if (strcmp(filter->name, "remap") == 0) { /* a map */
        other.channels = 2;
        other.type = GI_F32;
    }
    if (strcmp(filter->name, "paste") == 0) /* points */
        other.channels = 3;
    gi_options_example(params, filter->options);
    if (filter->check)
        assert_int_equal(filter->check(params, NULL), GI_OK);
    struct gi_step step = {.filter = filter, .params = params, .others = &other};
    struct gi_pipeline *pipeline;
    step.nothers = gi_filter_others(filter, params);
    assert_int_equal(gi_pipeline_new(&pipeline, &step, 1, &shape, NULL, NULL), GI_OK);
    *made = params;
    return pipeline;
}

static struct gi_estimate estimate(const struct gi_filter *filter, int side, int threads,
                                   int images)
{
    const struct gi_estimate_options options = {.images = images, .threads = threads};
    struct gi_image shape = {.width = side, .height = side, .channels = 1, .type = GI_U8};
    struct gi_rates cpu = gi_rates_of(GI_DEVICE_CPU, &host, threads);
    struct gi_rates cuda = gi_rates_of(GI_DEVICE_CUDA, &gpu, threads);
    void *params;
    struct gi_pipeline *pipeline = pipeline_for(filter, shape, &params);
    struct gi_estimate seconds = gi_pipeline_estimate(pipeline, &options, &cpu, &cuda);
    gi_pipeline_free(&pipeline);
    free(params);
    return seconds;
}

static bool takes_cuda(struct gi_estimate seconds)
{
    return seconds.cuda_s < seconds.cpu_s;
}

/* A larger image takes longer on the CPU. If CUDA is chosen for an image, CUDA is also chosen for
 * every larger image. */
TEST(grows_with_the_image)
{
    static const int threads[] = {1, 2, 3, 16, 256};
    for (int i = 0; gi_filters[i]; i++)
        for (int t = 0; t < 5; t++) {
            struct gi_estimate last = {0};
            for (int side = SMALLEST; side <= LARGEST; side *= 2) {
                struct gi_estimate now = estimate(gi_filters[i], side, threads[t], 1);
                assert_true(now.cpu_s > last.cpu_s && now.cuda_s > 0);
                assert_true(takes_cuda(now) || !takes_cuda(last));
                last = now;
            }
        }
}

/* More threads never make the CPU's estimate slower. Nor do they make `auto` choose CUDA for work
 * that `auto` leaves to the CPU with fewer threads. */
TEST(shrinks_with_threads)
{
    for (int i = 0; gi_filters[i]; i++)
        for (int side = SMALLEST; side <= LARGEST; side *= 4)
            for (int threads = 2; threads <= 256; threads *= 2) {
                struct gi_estimate one = estimate(gi_filters[i], side, 1, 1);
                struct gi_estimate few = estimate(gi_filters[i], side, threads / 2, 1);
                struct gi_estimate more = estimate(gi_filters[i], side, threads, 1);
                assert_true(more.cpu_s <= few.cpu_s);
                assert_true(takes_cuda(one) || !takes_cuda(more));
            }
}

/* A single small image never justifies opening a context. Many images share the cost of opening
 * it. */
TEST(start_is_paid_once)
{
    for (int i = 0; gi_filters[i]; i++) {
        assert_false(takes_cuda(estimate(gi_filters[i], 512, 1, 1)));
        struct gi_estimate one = estimate(gi_filters[i], 1024, 2, 1);
        struct gi_estimate ten = estimate(gi_filters[i], 1024, 2, 10);
        assert_true(ten.cuda_s < 2 * one.cuda_s);
        assert_true(fabs(ten.cpu_s - 10 * one.cpu_s) < 1e-9);
    }
}

/* ---- codecs ---- */

/* How images come and go. */
enum coding { SAMPLES, JPEG, PNG, SEARCHED };

static bool coding_of(void *self, struct gi_coding *coding, const struct gi_image *shape)
{
    enum coding to = *(const enum coding *)self;
    *coding = (struct gi_coding){.strip_rows = to == PNG ? 64 : 0,
                                 .ssimulacra2 = to == SEARCHED ? 80 : 0};
    return to != SAMPLES;
}

/* Estimates `gaussian` of images of 1920 x 1080 RGB. */
static struct gi_estimate coded(int images, enum coding from, enum coding to,
                                const struct gi_rates *cpu, const struct gi_rates *cuda)
{
    struct gi_ending ending = {.coding_of = coding_of, .self = &to};
    struct gi_side side = {.ending = &ending};
    const struct gi_image shape = {.width = 1920, .height = 1080, .channels = 3, .type = GI_U8};
    struct gi_estimate_options options = {.images = images, .threads = 16};
    void *params;
    struct gi_pipeline *pipeline = pipeline_for(gi_filter_find("gaussian"), shape, &params);
    options.coded = from == JPEG ? GI_CODED_JPEG : from == PNG ? GI_CODED_PNG : GI_CODED_NONE;
    options.ending = gi_pipeline_ending(pipeline, &side);
    assert_null(gi_pipeline_ending(pipeline, NULL));
    struct gi_estimate seconds = gi_pipeline_estimate(pipeline, &options, cpu, cuda);
    gi_pipeline_free(&pipeline);
    free(params);
    return seconds;
}

/* A batch of JPEGs is worth a GPU from fewer images on than a batch of other files, because the GPU
 * decodes and encodes. One image and ten are not. */
TEST(codecs_are_counted)
{
    const struct gi_rates cpu = gi_rates_of(GI_DEVICE_CPU, &host, 16);
    const struct gi_rates cuda = gi_rates_of(GI_DEVICE_CUDA, &gpu, 16);
    const struct gi_rates hope = gi_rates_hoped_for();
    int first[3] = {0}; /* number of images from which on CUDA is chosen */
    static const enum coding ways[3][2] = {{SAMPLES, SAMPLES}, {SAMPLES, PNG}, {JPEG, JPEG}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(coded(1, ways[i][0], ways[i][1], &cpu, &cuda).with_coding, i > 0);
        for (int images = 1; images <= 100000 && !first[i]; images++)
            if (takes_cuda(coded(images, ways[i][0], ways[i][1], &cpu, &cuda)))
                first[i] = images;
    }
    assert_true(coded(1, JPEG, SAMPLES, &cpu, &cuda).with_coding);
    print_message("CUDA from %d images without codecs, %d to PNG, %d from JPEG to JPEG\n", first[0],
                  first[1], first[2]);
    assert_in_range(first[2], 11, 1000);
    assert_true(first[2] < first[0] || first[0] == 0);
    assert_true(first[1] < first[0] || first[0] == 0);
    assert_false(takes_cuda(coded(1, JPEG, JPEG, &cpu, &hope)));
    assert_false(takes_cuda(coded(10, JPEG, JPEG, &cpu, &hope)));
    assert_true(takes_cuda(coded(1000, JPEG, JPEG, &cpu, &hope)));
}

/* The search for the quality of a JPEG takes several times as long as the rest. A GPU is worth it
 * for 20 images, but not for one. An H200 makes 262 such images per second, and 16 threads of its
 * host 17 to 21, both without a gaussian. */
TEST(trials_are_counted)
{
    const struct gi_rates cpu = gi_rates_of(GI_DEVICE_CPU, &host, 16);
    const struct gi_rates cuda = gi_rates_of(GI_DEVICE_CUDA, &gpu, 16);
    struct gi_estimate one = coded(1, SAMPLES, SEARCHED, &cpu, &cuda);
    struct gi_estimate many = coded(101, SAMPLES, SEARCHED, &cpu, &cuda);
    double per_cuda = (many.cuda_s - one.cuda_s) / 100;
    print_message("%.1f images/s on the CPU, %.1f on CUDA\n", 1 / one.cpu_s, 1 / per_cuda);
    assert_true(one.with_coding && one.cpu_s > 4 * coded(1, SAMPLES, JPEG, &cpu, &cuda).cpu_s);
    assert_false(takes_cuda(one));
    assert_true(takes_cuda(coded(20, SAMPLES, SEARCHED, &cpu, &cuda)));
    assert_true(1 / one.cpu_s > 17.0 / 2 && 1 / one.cpu_s < 21 * 2);
    assert_true(1 / per_cuda > 262.0 / 2 && 1 / per_cuda < 262 * 2);
}

/* The rates decide: codecs of a GPU that are slower than the CPU's keep a batch on the CPU, and
 * slow codecs of the CPU give ten images to the GPU. Rates of codecs that are not needed do not
 * count. */
TEST(rates_of_codecs_decide)
{
    const struct gi_rates cpu = gi_rates_of(GI_DEVICE_CPU, &host, 16);
    const struct gi_rates cuda = gi_rates_of(GI_DEVICE_CUDA, &gpu, 16);
    const size_t rates[] = {
        offsetof(struct gi_rates, jpeg_decode), offsetof(struct gi_rates, jpeg_encode),
        offsetof(struct gi_rates, png_encode), offsetof(struct gi_rates, png_decode)};
    static const enum coding ways[4][2] = {
        {JPEG, SAMPLES}, {SAMPLES, JPEG}, {SAMPLES, PNG}, {PNG, SAMPLES}};
    for (int i = 0; i < 4; i++) {
        enum coding from = ways[i][0], to = ways[i][1], other = i == 1 ? PNG : JPEG;
        struct gi_rates slow_cpu = cpu, slow_cuda = cuda;
        *(double *)(void *)((char *)&slow_cpu + rates[i]) = 1e7;
        *(double *)(void *)((char *)&slow_cuda + rates[i]) = 1e7;
        assert_true(takes_cuda(coded(10, from, to, &slow_cpu, &cuda)));
        assert_false(takes_cuda(coded(1000, from, to, &cpu, &slow_cuda)));
        struct gi_estimate a = coded(1000, SAMPLES, other, &cpu, &cuda);
        struct gi_estimate b = coded(1000, SAMPLES, other, &slow_cpu, &slow_cuda);
        assert_true(a.cpu_s == b.cpu_s && a.cuda_s == b.cuda_s);
        a = coded(1000, from == PNG ? JPEG : PNG, SAMPLES, &cpu, &cuda);
        b = coded(1000, from == PNG ? JPEG : PNG, SAMPLES, &slow_cpu, &slow_cuda);
        assert_true(a.with_coding && a.cpu_s == b.cpu_s && a.cuda_s == b.cuda_s);
    }
}

/* A plan counts at least the bytes that it must read and write, and at least the operations that it
 * must compute. Timing a plan changes no image. */
TEST(times_are_counted)
{
    static const struct {
        const char *name;
        double looks, fmas; /* per sample; fmas -1: any */
    } cases[] = {{"gaussian", 2, -1}, {"blur", 2, 0},       {"histogram", 1, 0},
                 {"extract", 1, 0},   {"threshold", -1, 0}, {"convolve", 2, -1}};
    struct gi_queue *queue = case_open(gi_kernels_cpu(), 2);
    struct gi_image images[3];
    uint64_t seed = CASE_SEED;
    for (int i = 0; i < 3; i++) {
        images[i] = case_image(67, 31, 3, GI_U16, &seed);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gi_filter *filter = gi_filter_find(cases[i].name);
        struct gi_pipeline_time time;
        struct gi_pipeline *pipeline;
        struct gi_step step = {.filter = filter};
        struct gi_err err = {0};
        void *params = calloc(1, filter->params_nbytes);
        gi_options_example(params, filter->options);
        if (filter->check)
            assert_int_equal(filter->check(params, &err), GI_OK);
        step.params = params;
        if (gi_pipeline_new(&pipeline, &step, 1, &images[0], NULL, &err) ||
            gi_pipeline_measure(&time, pipeline, queue, images, 3, &err))
            fail_msg("%s: %s", filter->name, err.text);
        gi_pipeline_free(&pipeline);
        assert_true(time.ms > 0);
        if (cases[i].looks > 0)
            assert_true(time.nbytes == cases[i].looks * 67 * 31 * 3 * 2);
        if (cases[i].fmas >= 0)
            assert_true(time.fmas == 0);
        else
            assert_true(time.fmas >= 67 * 31 * 3);
        free(params);
    }
    for (int i = 0; i < 3; i++)
        gi_image_free(&images[i]);
    gi_queue_close_alone(&queue);
}

TEST(ceilings_are_positive)
{
    struct gi_queue *queue = case_open(gi_kernels_cpu(), 2);
    struct gi_roofline roofline;
    assert_int_equal(queue->k->roofline(queue, &roofline, NULL), GI_OK);
    assert_true(roofline.copy_rate > 1e6 && roofline.copy_rate < 1e14);
    assert_true(roofline.fma_rate > 1e6 && roofline.fma_rate < 1e15);
    gi_queue_close_alone(&queue);
}

/* Returns how many bytes a batch counts against --memory for one operation with these options on an
 * image of 100 x 90 pixels. */
static uint64_t counted(const char *name, const char *const options[], int channels,
                        enum gi_type type)
{
    struct gi_image shape = {.width = 100, .height = 90, .channels = channels, .type = type};
    struct gi_pipeline *pipeline;
    const struct gi_filter *filter = gi_filter_find(name);
    struct gi_step step = {.filter = filter, .params = case_params(filter, options)};
    assert_int_equal(gi_pipeline_new(&pipeline, &step, 1, &shape, NULL, NULL), GI_OK);
    uint64_t nbytes = gi_pipeline_nbytes(pipeline);
    gi_pipeline_free(&pipeline);
    free((void *)step.params);
    return nbytes;
}

/* Against --memory a batch counts results, arrays, and tables whose size depends on the image's
 * shape and on the options. */
TEST(memory_is_counted)
{
    static const char *const each[] = {"tiles=64x64", "per-channel", NULL}, *const none[] = {NULL};
    static const char *const half[] = {"size=200x50", "stretch", NULL};
    static const char *const pixels[] = {"group-by=1x1", NULL};
    enum { PIXELS = 100 * 90, SMALL = 65536 };
    assert_int_equal(counted("invert", none, 3, GI_U16), PIXELS * 6);
    /* weights of 250 rows and columns */
    assert_in_range(counted("resize", half, 3, GI_U16), 200 * 50 * 6, 200 * 50 * 6 + SMALL);
    /* 64 x 64 tables for each of three colours; each table has 65536 entries of 16 bits */
    assert_in_range(counted("clahe", each, 3, GI_U16), PIXELS * 6 + 3LL * 64 * 64 * 65536 * 2,
                    PIXELS * 6 + 3LL * 64 * 64 * 65536 * 2 + SMALL);
    /* 9000 * 65535 fits in 32 bits; doubles */
    assert_int_equal(counted("integral", none, 3, GI_U16), PIXELS * 3 * 4);
    assert_int_equal(counted("integral", none, 3, GI_F32), PIXELS * 3 * 8);
    /* labels of 32 bits, and for a colour image also its luma */
    assert_int_equal(counted("extract", none, 1, GI_U16), PIXELS * 4);
    assert_int_equal(counted("extract", none, 3, GI_U16), PIXELS * (4 + 2));
    assert_in_range(counted("remove-small", none, 3, GI_U8), PIXELS * (3 + 4 + 1),
                    PIXELS * (3 + 4 + 1) + SMALL);
    /* for 8 bits, two 32-bit counters and a byte for each of 2^24 colours, and a flag for 64 of
     * them; for palette in 16 bits,
     * two 64-bit numbers for each pixel */
    const long long colors = 9LL * (1 << 24) + (1 << 24) / 64;
    assert_in_range(counted("quantize", none, 3, GI_U8), PIXELS * 3 + colors,
                    PIXELS * 3 + colors + SMALL);
    assert_int_equal(counted("palette", none, 3, GI_U8), 4LL * (1 << 24));
    assert_int_equal(counted("palette", none, 3, GI_U16), PIXELS * 2 * 8);
    /* at least 15 numbers of 64 bits for each channel of each tile */
    assert_true(counted("stats", pixels, 3, GI_U8) >= PIXELS * (4 + 3 * 15 * 8));
}
