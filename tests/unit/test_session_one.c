/* Images that come one at a time run on the device that the option --device names or that the
 * estimate chooses. Errors name the device. Under `auto` the CPU replaces a device that fails. The
 * devices are fakes.
 * Sources: cli/run/session* cli/run/session_device*
 * SPDX-License-Identifier: MIT */
#include "fake_cuda.h"

#include "cli/run/session_estimate.h"

/* Runs two images of w x h pixels through `filter`, one after the other. The second image reuses
 * the queue's memory. */
static enum gi_status run_in_turn(const char *name, const char *filter, int w, int h,
                                  struct gi_err *err)
{
    struct gi_device_params device = {.device = name, .threads = 1};
    struct gi_step step = {.filter = gi_filter_find(filter)};
    struct gi_image src, want, made = {0};
    struct gi_pipeline *pipeline;
    struct gi_session *session;
    struct gi_queue *queue;
    uint64_t seed = 20261125;
    void *params = calloc(1, step.filter->params_nbytes);
    gi_options_default(params, step.filter->options);
    assert_int_equal(step.filter->check ? step.filter->check(params, NULL) : GI_OK, GI_OK);
    step.params = params;
    src = case_image(w, h, 1, GI_U8, &seed);
    assert_int_equal(gi_pipeline_new(&pipeline, &step, 1, &src, NULL, NULL), GI_OK);
    queue = case_open(gi_kernels_cpu(), 1);
    assert_int_equal(gi_pipeline_run(pipeline, queue, &want, &src, NULL, NULL, NULL), GI_OK);
    gi_queue_close_alone(&queue);
    enum gi_status status = gi_session_new_for_one(&session, &device, err);
    if (!status && gi_session_may_open(session))
        gi_session_expect(session, pipeline);
    for (int i = 0; i < 2 && !status; i++) {
        status = gi_session_run(session, pipeline, &made, &src, NULL, NULL, err);
        if (!status)
            case_equal(&made, &want, "of the session");
        gi_image_free(&made);
    }
    gi_session_free(&session);
    gi_pipeline_free(&pipeline);
    gi_image_free(&src);
    gi_image_free(&want);
    free(params);
    return status;
}

TEST(one_at_a_time_by_name)
{
    struct gi_err err = {0};
    assert_int_equal(run_in_turn("cuda:1", "gaussian", 67, 41, &err), GI_OK);
    assert_int_equal(run_in_turn("cuda:2,0", "gaussian", 67, 41, &err), GI_OK);
    assert_int_equal(run_in_turn("cpu", "gaussian", 67, 41, &err), GI_OK);
    assert_int_equal(fakes[0].calls[UPLOAD], 0);
    assert_int_equal(fakes[1].calls[UPLOAD], 2);
    assert_int_equal(fakes[2].calls[UPLOAD], 2);
    assert_int_equal(fakes[2].queues, 1);
    /* Under `auto`, an image that is too small for a GPU is processed on the CPU. */
    assert_int_equal(run_in_turn("auto", "gaussian", 67, 41, &err), GI_OK);
    assert_int_equal(fakes[0].calls[UPLOAD], 0);
}

/* If the device that --device names fails, no other device replaces it. */
TEST(one_at_a_time_fails)
{
    struct gi_err err = {0};
    fakes[0].opens = fakes[1].opens = false;
    assert_int_equal(run_in_turn("cuda", "gaussian", 67, 41, &err), GI_E_DEVICE);
    assert_string_equal(err.text, "--device cuda: is in use by another process");
    assert_int_equal(run_in_turn("cuda:1", "gaussian", 67, 41, &err), GI_E_DEVICE);
    assert_string_equal(err.text, "--device cuda:1: is in use by another process");
    fresh(NULL);
    fakes[0].most = 0;
    assert_int_equal(run_in_turn("cuda", "gaussian", 67, 41, &err), GI_E_DEVICE_MEMORY);
    assert_string_equal(err.text, "--device cuda: out of device memory: a queue");
    for (int stage = 0; stage < STAGES; stage++) {
        fresh(NULL);
        fakes[0].stage = (enum stage)stage;
        fakes[0].refuses_at = 2;
        assert_int_equal(run_in_turn("cuda", "gaussian", 67, 41, &err), GI_E_LAUNCH);
        fakes[0].fails_at = fakes[0].calls[stage] + 1;
        assert_int_equal(run_in_turn("cuda", "gaussian", 67, 41, &err), GI_E_DEVICE);
        assert_string_equal(err.text, "fell off the bus");
    }
}

/* Under `auto`, work that takes long enough runs on the GPU, and an image that fails there runs on
 * the CPU. */
TEST(one_at_a_time_falls_back)
{
    struct gi_err err = {0};
    assert_int_equal(run_in_turn("auto", "nlmeans", 640, 480, &err), GI_OK);
    assert_int_equal(fakes[0].calls[UPLOAD], 2);
    fakes[0].fails_at = fakes[0].calls[UPLOAD] + 2;
    assert_int_equal(run_in_turn("auto", "nlmeans", 640, 480, &err), GI_OK);
    assert_true(fakes[0].lost);
    fresh(NULL);
    fakes[0].opens = false;
    assert_int_equal(run_in_turn("auto", "nlmeans", 640, 480, &err), GI_OK);
    assert_int_equal(fakes[0].calls[UPLOAD], 0);
}

static void store_rate(FILE *file, double rate)
{
    fprintf(file,
            "{\"memory_bytes_per_s\": %g, \"fma_per_s\": %g, \"up_bytes_per_s\": null, "
            "\"down_bytes_per_s\": null, \"open_s\": 0.2, \"close_s\": 0.1}",
            rate, rate);
}

/* Stores rates of the CPU with 4 threads, and `factor` times these rates for the device. */
static void store_rates(const char *path, struct gi_device *device, double factor)
{
    struct gi_device_info info;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(device->k->describe(device, &info, NULL), GI_OK);
    fprintf(file, "{\"cpu %s, 4 threads\": ", gi_cpu_level());
    store_rate(file, 1e9);
    fprintf(file, ", \"%s\": ", info.name);
    store_rate(file, 1e9 * factor);
    fprintf(file, "}");
    fclose(file);
}

/* As many images may wait for a device as it computes while a thread of the CPU computes one. */
TEST(waiting_follows_from_rates)
{
    char path[] = "/tmp/gpuimg-test-rates.XXXXXX";
    struct gi_device *device = case_device(gi_kernels_cpu(), 0, 1);
    struct gi_step step = {.filter = gi_filter_find("invert")};
    struct gi_image src = {.width = 500, .height = 300, .channels = 1, .type = GI_U8};
    struct gi_session_job job = {0};
    struct gi_pipeline *pipeline;
    void *params = calloc(1, step.filter->params_nbytes);
    step.params = params;
    close(mkstemp(path));
    setenv("GPUIMG_RATES", path, 1);
    assert_int_equal(gi_pipeline_new(&pipeline, &step, 1, &src, NULL, NULL), GI_OK);
    job.pipeline = pipeline;
    store_rates(path, device, 100);
    assert_in_range(gi_session_waiting(&job, 4, device, 5), 399, 401);
    store_rates(path, device, 0.5);
    assert_int_equal(gi_session_waiting(&job, 4, device, 5), 5);
    store_rates(path, device, 1e12); /* no device is that fast */
    assert_int_equal(gi_session_waiting(&job, 4, device, 5), 5);
    assert_true(gi_session_estimate(&job, 7, 4, device).cpu_s >
                6.9 * gi_session_estimate(&job, 1, 4, device).cpu_s);
    unlink(path);
    gi_pipeline_free(&pipeline);
    case_close_device(device);
    free(params);
}

TEST_FRAME(.before = fresh)
