/* When devices are lost, can't be opened or run short of memory in a batch over several devices,
 * the remaining devices continue and the bytes stay the same. Without any device the batch ends
 * with the status that asks for another run.
 * Sources: cli/run/backoff.h cli/run/session* cli/run/session_device* cli/run/imaging*
 * cli/run/ready* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "command_line.h"
#include "imgio_folder.h"
#include "fake_cuda.h"
#include "session_work.h"

#include "cli/run/backoff.h"
#include "cli/run/imaging.h"
#include "imgio/imgio.h"

enum { FILES = 48 };

/* ---- the session alone ---- */

/* Runs single images until `auto` runs an image on a GPU. Meanwhile `auto` opens the GPUs. */
static void wait_for_a_gpu(struct work *work)
{
    for (int tries = 0; tries < 5000 && fakes[0].calls[UPLOAD] == 0; tries++) {
        struct gi_image made;
        assert_int_equal(
            gi_session_run(work->session, work->pipeline, &made, &work->srcs[0], NULL, NULL, NULL),
            GI_OK);
        gi_image_free(&made);
        usleep(1000);
    }
}

static void run_work_on(struct work *work, const char *devices, uint64_t images)
{
    struct gi_device_params device = {.device = devices, .threads = 2};
    struct gi_err err = {0};
    make_work(work);
    if (gi_session_new(&work->session, &device, images, &err))
        fail_msg("%s", err.text);
    if (strcmp(devices, "auto") == 0)
        wait_for_a_gpu(work);
    run_threads(work);
    check_work(work);
    free_work(work);
}

static void run_work(struct work *work)
{
    run_work_on(work, "cuda:all", IMAGES);
}

TEST(all_devices_work)
{
    struct work work;
    run_work(&work);
    assert_int_equal(work.failed, 0);
    for (int i = 0; i < DEVICES; i++)
        assert_true(fakes[i].calls[UPLOAD] > 0);
}

/* When a device is lost at any stage, no image is lost, and the device gets no further image. */
TEST(one_is_lost)
{
    for (int stage = 0; stage < STAGES; stage++) {
        struct work work;
        fresh(NULL);
        fakes[1].stage = (enum stage)stage;
        fakes[1].fails_at = 6;
        run_work(&work);
        assert_int_equal(work.failed, 0);
        assert_true(fakes[1].lost);
        /* Before the device was lost, five images were done and each queue held at most one
         * image. */
        assert_true(fakes[1].calls[stage] >= 6 && fakes[1].calls[stage] < 6 + THREADS);
        assert_true(fakes[0].calls[stage] + fakes[2].calls[stage] >= RUNS - 5 - THREADS);
    }
}

/* When CUDA refuses a launch, one image fails and the device continues. */
TEST(one_launch_is_refused)
{
    for (int stage = 0; stage < STAGES; stage++) {
        struct work work;
        fresh(NULL);
        fakes[1].stage = (enum stage)stage;
        fakes[1].refuses_at = 6;
        run_work(&work);
        assert_int_equal(work.failed, 1);
        assert_int_equal(work.refused, 1);
        assert_true(fakes[1].calls[stage] > 6 + THREADS);
    }
}

/* The batch has many images, so that `auto` opens the GPUs. */
TEST(auto_does_a_refused_image_on_the_cpu)
{
    struct work work;
    fakes[0].stage = KERNEL;
    fakes[0].refuses_at = 6;
    run_work_on(&work, "auto", 1 << 30);
    assert_int_equal(work.failed, 0);
    assert_true(fakes[0].calls[KERNEL] > 6);
}

/* Runs one of many images under `auto`. Returns whether it ran on a GPU. */
static bool runs_first_on_a_gpu(uint64_t images)
{
    const struct gi_device_params device = {.device = "auto", .threads = 2};
    struct work work;
    make_work(&work);
    assert_int_equal(gi_session_new(&work.session, &device, images, NULL), GI_OK);
    assert_int_equal(
        gi_session_run(work.session, work.pipeline, &work.made[0], &work.srcs[0], NULL, NULL, NULL),
        GI_OK);
    case_equal(&work.made[0], &work.want[0], "of the session");
    bool on_gpu = fakes[0].calls[UPLOAD] > 0;
    free_work(&work);
    return on_gpu;
}

/* If the GPU is expected to save much time, images wait until it is open, for a while. */
TEST(auto_waits_until_a_gpu_is_open)
{
    fakes[0].opening_us = 100 * 1000;
    assert_true(runs_first_on_a_gpu(1 << 30));
    fresh(NULL);
    fakes[0].opening_us = 100 * 1000;
    assert_false(runs_first_on_a_gpu(10));
    fresh(NULL);
    fakes[0].opening_us = 1500 * 1000;
    assert_false(runs_first_on_a_gpu(1 << 30));
    fresh(NULL);
    fakes[0].opening_us = 100 * 1000;
    fakes[0].opens = false;
    assert_false(runs_first_on_a_gpu(1 << 30));
}

/* An operation that copies slowly and counts the threads that run it at once. */
static int inside, most_inside;

static enum gi_status run_slowly(const struct gi_plan *plan, struct gi_queue *queue,
                                 const struct gi_work *work, struct gi_err *err)
{
    int n = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    for (int most = __atomic_load_n(&most_inside, __ATOMIC_SEQ_CST); n > most;)
        if (__atomic_compare_exchange_n(&most_inside, &most, n, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            break;
    usleep(2000);
    enum gi_status status = queue->k->copy(queue, work->dst, work->srcs, err);
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    return status;
}

/* If `auto` declines the GPUs, the threads that were meant to feed them do not compute. */
TEST(no_more_threads_compute_than_asked_for)
{
    static const struct gi_filter slow = {.name = "slow", .run = run_slowly};
    const struct gi_device_params device = {.device = "auto", .threads = 2};
    const struct gi_step step = {.filter = &slow};
    struct work work;
    make_work(&work);
    gi_pipeline_free(&work.pipeline);
    assert_int_equal(gi_pipeline_new(&work.pipeline, &step, 1, &work.srcs[0], NULL, NULL), GI_OK);
    assert_int_equal(gi_session_new(&work.session, &device, 10, NULL), GI_OK);
    run_threads(&work);
    for (int i = 0; i < RUNS; i++)
        case_equal(&work.made[i], &work.srcs[i % IMAGES], "of the session");
    assert_int_equal(fakes[0].calls[UPLOAD], 0);
    assert_int_equal(most_inside, 2);
    free_work(&work);
}

TEST(all_are_lost)
{
    struct work work;
    for (int i = 0; i < DEVICES; i++)
        fakes[i].fails_at = 3 + 2 * i;
    run_work(&work);
    /* Earlier images are done. The images on queues of the last device have failed together with
     * it. */
    assert_in_range(work.failed, RUNS - (2 + 4 + 6), RUNS);
}

TEST(one_does_not_open)
{
    struct gi_device_params device = {.device = "cuda:all", .threads = 2};
    struct gi_session *session;
    struct gi_err err = {0};
    fakes[0].opening_us = fakes[2].opening_us = 50 * 1000; /* so that cuda:1 fails before */
    fakes[1].opens = false;
    assert_int_equal(gi_session_new(&session, &device, IMAGES, &err), GI_E_DEVICE);
    assert_string_equal(err.text, "--device cuda:1: is in use by another process");
    assert_null(session);
    device.device = "cuda:0,2";
    assert_int_equal(gi_session_new(&session, &device, IMAGES, &err), GI_OK);
    gi_session_free(&session);
}

/* A device that is short of memory processes fewer images at the same time. */
TEST(one_is_short_of_memory)
{
    struct work work;
    fakes[0].most = 1;
    fakes[2].most = 2;
    run_work(&work);
    assert_int_equal(work.failed, 0);
    assert_true(fakes[0].calls[UPLOAD] > 0);
}

/* ---- whole batches ---- */

static enum gi_status gpuimg(const char *line)
{
    struct gi_err err = {0};
    return run_command_line(line, false, &err);
}

static int make_files(void **state)
{
    uint64_t seed = 7;
    char name[32];
    const struct gi_save_options options = {0};
    setenv("GPUIMG_TEAR_DOWN", "1", 1);
    fresh(NULL);
    enter_folder(state);
    assert_int_equal(mkdir("session-in", 0777), 0);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "session-in/%02d.pgm", i);
        struct gi_image image = case_image(60 + i, 40, 1, GI_U8, &seed);
        assert_int_equal(gi_save(&image, NULL, name, &options, NULL, NULL), GI_OK);
        gi_image_free(&image);
    }
    return gpuimg("gaussian --recursive session-in --out-dir session-cpu --device cpu") != GI_OK;
}

static int lines_that_log(const char *status)
{
    char command[128];
    snprintf(command, sizeof command, "grep -c '\"status\": \"%s\"' session.jsonl", status);
    FILE *pipe = popen(command, "r");
    int n = -1;
    assert_int_equal(fscanf(pipe, "%d", &n), 1);
    pclose(pipe);
    return n;
}

static enum gi_status run_batch(const char *devices)
{
    char line[256];
    snprintf(line, sizeof line,
             "gaussian --recursive session-in --out-dir session-out --report session.jsonl "
             "--threads 2 --device %s",
             devices);
    return gpuimg(line);
}

TEST(a_batch_goes_on)
{
    fakes[0].fails_at = 4;
    fakes[2].fails_at = 9;
    fakes[2].stage = DOWNLOAD;
    assert_int_equal(run_batch("cuda:all"), GI_OK);
    assert_true(fakes[0].lost && fakes[2].lost);
    assert_int_equal(lines_that_log("done"), FILES);
    assert_int_equal(system("diff -r session-cpu session-out"), 0);
}

/* The exit status is 75, because the machine has failed. The next run makes the missing image. */
TEST(a_batch_loses_one_image)
{
    assert_int_equal(system("rm -rf session-out session.jsonl"), 0);
    fakes[1].stage = KERNEL;
    fakes[1].refuses_at = 3;
    assert_int_equal(run_batch("cuda:all"), GI_E_AGAIN);
    assert_int_equal(lines_that_log("done"), FILES - 1);
    assert_int_equal(lines_that_log("failed"), 1);
    assert_true(fakes[1].calls[KERNEL] > 3);
    assert_int_equal(run_batch("cuda:all --resume"), GI_OK);
    assert_int_equal(system("diff -r session-cpu session-out"), 0);
}

/* The exit status is 75. The outputs that exist are complete, and another run makes the rest. */
TEST(a_batch_without_devices_is_tried_again)
{
    assert_int_equal(system("rm -rf session-out session.jsonl"), 0);
    for (int i = 0; i < DEVICES; i++)
        fakes[i].fails_at = 5;
    assert_int_equal(run_batch("cuda:all"), GI_E_AGAIN);
    int done = lines_that_log("done");
    assert_in_range(done, 0, 4 * DEVICES);
    fresh(NULL);
    assert_int_equal(run_batch("cuda:1,2 --resume"), GI_OK);
    assert_int_equal(fakes[0].calls[UPLOAD], 0);
    assert_int_equal(fakes[1].calls[UPLOAD] + fakes[2].calls[UPLOAD], FILES - done);
    assert_int_equal(lines_that_log("done"), FILES);
    assert_int_equal(system("diff -r session-cpu session-out"), 0);
}

/* Runs the JPEGs of a folder on one device that refuses the first n of them. Returns how many of
 * them the device was asked to decode. */
static int decodes_if_refused(int n)
{
    fresh(NULL);
    fakes[0].refused_decodes = n;
    assert_int_equal(system("rm -rf session-out"), 0);
    assert_int_equal(
        gpuimg("gaussian --recursive session-jpeg --out-dir session-out --threads 2 --device cuda"),
        GI_OK);
    assert_int_equal(system("diff -r session-coded session-out"), 0);
    return fakes[0].decodes;
}

/* JPEGs whose scans a device refuses are soon decoded by the CPU at once. If the device decodes the
 * next, it gets all again. */
TEST(refused_jpegs_are_left_to_the_cpu)
{
    struct gi_backoff backoff = {0};
    for (int refused = 1; refused < 8; refused++) {
        assert_true(gi_backoff_next(&backoff));
        gi_backoff_note(&backoff, true);
        for (int i = 1; i < 1 << (refused < 5 ? refused : 5); i++)
            assert_false(gi_backoff_next(&backoff));
    }
    assert_true(gi_backoff_next(&backoff));
    assert_false(gi_backoff_next(&backoff)); /* another attempt is not answered yet */
    gi_backoff_unused(&backoff);
    assert_true(gi_backoff_next(&backoff)); /* another input was no JPEG */
    gi_backoff_note(&backoff, false);
    assert_true(gi_backoff_next(&backoff) && gi_backoff_next(&backoff));

    assert_int_equal(gpuimg("convert --recursive session-in --out-dir session-jpeg --suffix .jpg"),
                     GI_OK);
    assert_int_equal(
        gpuimg("gaussian --recursive session-jpeg --out-dir session-coded --device cpu"), GI_OK);
    /* 22 threads ask for an image before the first is refused. */
    assert_in_range(decodes_if_refused(FILES), 1, 30);
    assert_in_range(decodes_if_refused(1), FILES - 22, FILES);
    assert_int_equal(decodes_if_refused(0), FILES);
}

/* If a batch has JPEGs and PNGs, refusals of one kind don't stop the other. */
TEST(refused_pngs_are_left_to_the_cpu)
{
    struct gi_backoff backoffs[GI_BACKOFF_KINDS] = {{0}};
    assert_int_equal(gi_backoffs_next(backoffs), GI_CODED_ANY);
    gi_backoff_note(&backoffs[1], true);
    assert_int_equal(gi_backoffs_next(backoffs), GI_CODED_JPEG);
    assert_int_equal(gi_backoffs_next(backoffs), GI_CODED_ANY);
    assert_int_equal(gi_backoffs_next(backoffs), GI_CODED_JPEG);
    gi_backoffs_unused(backoffs, GI_CODED_JPEG);
    assert_int_equal(gi_backoffs_next(backoffs), GI_CODED_ANY);
    gi_backoffs_unused(backoffs, GI_CODED_PNG);
    assert_int_equal(gi_backoffs_next(backoffs), GI_CODED_ANY);

    static const char *const kinds[] = {"jpg", "png"};
    char line[256];
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line,
                 "convert --recursive session-in --out-dir session-both/%s --suffix .%s", kinds[i],
                 kinds[i]);
        assert_int_equal(gpuimg(line), GI_OK);
    }
    assert_int_equal(gpuimg("gaussian --recursive session-both --out-dir session-both-cpu "
                            "--format pgm --device cpu"),
                     GI_OK);
    for (int png = 0; png < 2; png++) {
        fresh(NULL);
        *(png ? &fakes[0].refused_png_decodes : &fakes[0].refused_decodes) = FILES;
        assert_int_equal(system("rm -rf session-both-out"), 0);
        assert_int_equal(gpuimg("gaussian --recursive session-both --out-dir session-both-out "
                                "--format pgm --threads 2 --device cuda"),
                         GI_OK);
        assert_int_equal(system("diff -r session-both-cpu session-both-out"), 0);
        assert_int_equal(png ? fakes[0].decodes : fakes[0].png_decodes, FILES);
        assert_in_range(png ? fakes[0].png_decodes : fakes[0].decodes, 1, 30);
    }
}

/* Runs a single JPEG or PNG of a size on the CPU and on CUDA. Returns how often CUDA was asked to
 * decode. */
static int decodes_alone(const char *suffix, int width, int height)
{
    char path[32], line[128];
    uint64_t seed = 11;
    const struct gi_save_options options = {.quality = 100};
    fresh(NULL);
    struct gi_image image = case_image(width, height, 1, GI_U8, &seed);
    snprintf(path, sizeof path, "session.%s", suffix);
    assert_int_equal(gi_save(&image, NULL, path, &options, NULL, NULL), GI_OK);
    gi_image_free(&image);
    for (int gpu = 0; gpu < 2; gpu++) {
        const char *device = gpu ? "cuda" : "cpu";
        snprintf(line, sizeof line, "invert %s session-%s.pgm --device %s", path, device, device);
        assert_int_equal(gpuimg(line), GI_OK);
    }
    assert_int_equal(system("cmp session-cpu.pgm session-cuda.pgm"), 0);
    return fakes[0].decodes + fakes[0].png_decodes;
}

/* The CPU decodes a single JPEG while CUDA is opened, unless that would take longer, and a single
 * PNG always. */
TEST(a_large_jpeg_alone_is_decoded_on_the_device)
{
    assert_int_equal(decodes_alone("jpg", 400, 300), 0);
    assert_int_equal(decodes_alone("jpg", 4000, 3000), 1);
    assert_int_equal(decodes_alone("png", 4000, 3000), 0);
}

TEST_FRAME(.first = make_files, .last = leave_folder, .before = fresh)
