/* The result of a pipeline leaves the device as the scan of a JPEG if the caller can use one and
 * the device encodes it; otherwise as samples, also if the frame is not one that the device takes.
 * Sources: filters/pipeline.c kernels/jpeg_encode imgio/jpeg_write imgio/save
 * SPDX-License-Identifier: MIT */
#include "filter_cases.h"
#include "imgio/imgio.h"

/* What the caller answers when it is asked for a frame. */
struct asked {
    const struct gi_save_options *options; /* NULL: samples are needed */
    bool broken;                           /* the frame is one that no device takes */
    int times;                             /* how often it was asked */
};

static bool frame_of(void *self, struct gi_jpeg_frame *frame, const struct gi_image *shape)
{
    struct asked *asked = self;
    asked->times++;
    bool can = asked->options && gi_save_frame(frame, shape, "out.jpg", asked->options);
    frame->components[1].h = asked->broken ? 4 : frame->components[1].h;
    return can;
}

/* Runs "invert" on the image. The caller frees `dst` and the scan. */
static void run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                struct gi_ending *ending, struct gi_times *times)
{
    const struct gi_filter *filter = gi_filter_find("invert");
    void *params = calloc(1, filter->params_nbytes);
    const struct gi_step step = {.filter = filter, .params = params};
    const struct gi_side side = {.ending = ending};
    struct gi_pipeline *pipeline;
    struct gi_err err = {0};
    gi_options_example(params, filter->options);
    assert_int_equal(gi_pipeline_new(&pipeline, &step, 1, src, NULL, &err), GI_OK);
    if (gi_pipeline_run(pipeline, queue, dst, src, &side, times, &err))
        fail_msg("%s", err.text);
    assert_string_equal(err.text, "");
    gi_pipeline_free(&pipeline);
    free(params);
}

/* Fails unless both files are equal: that of the samples, and that of the scan. */
static void check_files(const struct gi_image *samples, const struct gi_image *shape,
                        const struct gi_jpeg_scan *scan, struct gi_save_options options)
{
    void *want, *got;
    size_t nwant, ngot;
    assert_int_equal(gi_save_memory(&want, &nwant, samples, NULL, "a.jpg", &options, NULL, NULL),
                     GI_OK);
    options.scan = scan;
    assert_int_equal(gi_save_memory(&got, &ngot, shape, NULL, "a.jpg", &options, NULL, NULL),
                     GI_OK);
    assert_int_equal(ngot, nwant);
    assert_memory_equal(got, want, nwant);
    free(want);
    free(got);
}

static void check(struct gi_queue *queue, const struct gi_image *src, bool cpu_encodes)
{
    const struct gi_save_options options = {.quality = 80};
    double steps[2];
    struct gi_image want, dst;
    bool encodes = queue->k->kind == GI_DEVICE_CUDA || cpu_encodes;
    run(queue, &want, src, NULL, NULL);
    for (int kind = 0; kind < 3; kind++) {
        struct asked asked = {kind ? &options : NULL, kind == 2, 0};
        struct gi_ending ending = {frame_of, &asked, .on_cpu = cpu_encodes};
        struct gi_times times = {.step_ms = steps, .step_nbytes = steps + 1};
        run(queue, &dst, src, &ending, kind % 2 ? &times : NULL);
        assert_int_equal(asked.times, encodes);
        assert_int_equal(ending.scan.bytes != NULL, encodes && kind == 1);
        assert_int_equal(dst.data == NULL, encodes && kind == 1);
        assert_int_equal(times.encodes, encodes && kind == 1);
        if (ending.scan.bytes)
            check_files(&want, &dst, &ending.scan, options);
        else
            case_equal(&dst, &want, "samples");
        gi_jpeg_scan_free(&ending.scan);
        assert_null(ending.scan.bytes);
        gi_image_free(&dst);
    }
    gi_image_free(&want);
}

static void scan_or_samples(void **state)
{
    uint64_t seed = CASE_SEED;
    struct gi_image src;
    struct gi_queue *cpu = case_open(gi_kernels_cpu(), 2);
    const struct gi_kernels *k = case_cuda(1);
    struct gi_queue *cuda = k ? case_open(k, 1) : NULL;
    assert_int_equal(gi_image_alloc(&src, 71, 45, 3, GI_U8, NULL), GI_OK);
    case_fill(&src, &seed);
    check(cpu, &src, false);
    check(cpu, &src, true);
    if (cuda)
        check(cuda, &src, false);
    gi_queue_close_alone(&cpu);
    gi_queue_close_alone(&cuda);
    gi_image_free(&src);
}

/* gi_save_frame() takes only images whose samples are written as they are. */
static void frames_of_shapes(void **state)
{
    struct gi_jpeg_frame frame;
    const struct gi_image rgb = {.width = 100, .height = 50, .channels = 3};
    const struct gi_save_options good = {.quality = 50};
    assert_true(gi_save_frame(&frame, &rgb, "a.jpg", &good));
    assert_int_equal(frame.components[0].h, 2);
    assert_int_equal(frame.width, 100);
    assert_int_equal(frame.restart_interval, 7 * 3); /* the last 2 rows are another strip */
    assert_true(gi_save_frame(&frame, &rgb, "jpeg:-", &good));
    assert_false(gi_save_frame(&frame, &rgb, "a.png", &good));
    assert_false(gi_save_frame(&frame, &rgb, "-", &good));
    for (int i = 0; i < 8; i++) {
        struct gi_image shape = rgb;
        struct gi_save_options options = good;
        shape.type = i == 0 ? GI_U16 : GI_U8;
        shape.channels = i == 1 ? 4 : i == 2 ? 2 : 3;
        options.orientation = i == 3 ? 6 : 1;
        options.bits = i == 4 ? 16 : i == 5 ? 1 : 8;
        shape.width = i == 6 ? 65501 : 100;
        options.format = i == 7 ? "png" : NULL;
        assert_false(gi_save_frame(&frame, &shape, "a.jpg", &options));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scan_or_samples),
                                       cmocka_unit_test(frames_of_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
