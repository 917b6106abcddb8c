/* In a batch on several GPUs the first that is open works while the others are opened, which get
 * images from then on. One that can't be opened fails the command, or, if images have begun, is
 * named in a warning. The devices are fakes.
 * Sources: cli/run/session* cli/run/session_device*
 * SPDX-License-Identifier: MIT */
#include <sys/stat.h>
#include <unistd.h>

#include "command_line.h"
#include "imgio_folder.h"
#include "fake_cuda.h"
#include "session_work.h"

#include "cli/log.h"
#include "imgio/imgio.h"

enum { FILES = 150 };

static enum gi_status open_session(struct gi_session **session, const char *devices,
                                   struct gi_err *err)
{
    static struct gi_device_params device;
    device = (struct gi_device_params){.device = devices, .threads = 2};
    return gi_session_new(session, &device, IMAGES, err);
}

static void run_work_on(struct work *work, const char *devices)
{
    struct gi_err err = {0};
    make_work(work);
    if (open_session(&work->session, devices, &err))
        fail_msg("%s", err.text);
    run_threads(work);
    check_work(work);
    free_work(work);
}

/* Redirects standard error to the file `name`, or back if it is NULL. */
static void log_to(const char *name)
{
    static int kept = -1;
    fflush(gi_cli_stream());
    if (name) {
        kept = dup(STDERR_FILENO);
        int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0666);
        dup2(fd, STDERR_FILENO);
        close(fd);
    } else {
        dup2(kept, STDERR_FILENO);
        close(kept);
    }
}

static void assert_logged(const char *name, const char *want)
{
    char text[1000];
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, want);
}

TEST(the_first_works_while_others_open)
{
    struct work work;
    fakes[1].opens_after = 10;
    fakes[2].opens_after = 20;
    run_work_on(&work, "cuda:all");
    assert_int_equal(work.failed, 0);
    assert_true(fakes[1].images_before >= 10 && fakes[2].images_before >= 20);
    for (int i = 0; i < DEVICES; i++)
        assert_true(fakes[i].calls[UPLOAD] > 0);
}

/* The first that is open need not be the first of the list. */
TEST(the_last_of_the_list_is_open_first)
{
    struct work work;
    fakes[0].opens_after = 20;
    run_work_on(&work, "cuda:0,2");
    assert_int_equal(work.failed, 0);
    assert_true(fakes[0].images_before >= 20);
    assert_true(fakes[0].calls[UPLOAD] > 0);
}

/* If the open GPUs are lost, images wait for one that is still being opened. Nothing but the end of
 * opening wakes their threads. */
TEST(images_wait_for_the_second_if_the_first_is_lost)
{
    struct work work;
    fakes[0].stage = DOWNLOAD;
    fakes[0].fails_at = 6;
    fakes[1].opens_after = 6;
    fakes[1].opening_us = 50 * 1000;
    log_to("opening.log");
    run_work_on(&work, "cuda:0,1");
    log_to(NULL);
    assert_int_equal(work.failed, 0);
    assert_true(fakes[1].calls[UPLOAD] >= RUNS - 5);
    assert_logged("opening.log", "gpuimg: cuda:0: fell off the bus; it gets no more images\n");
}

/* A device that is open late counts its own images for GPUIMG_FAULT. */
TEST(the_second_opens_late_and_is_lost)
{
    struct work work;
    fakes[1].opens_after = 20;
    setenv("GPUIMG_FAULT", "cuda:1@4", 1);
    log_to("opening.log");
    run_work_on(&work, "cuda:0,1");
    log_to(NULL);
    unsetenv("GPUIMG_FAULT");
    assert_int_equal(work.failed, 0);
    assert_true(fakes[1].images_before >= 20);
    assert_int_equal(fakes[1].calls[UPLOAD], 3);
    assert_logged("opening.log",
                  "gpuimg: cuda:1: lost, as GPUIMG_FAULT asks; it gets no more images\n");
}

TEST(the_second_fails_after_images_have_begun)
{
    struct work work;
    fakes[1].opens_after = 20;
    fakes[1].opens = false;
    log_to("opening.log");
    run_work_on(&work, "cuda:0,1");
    log_to(NULL);
    assert_int_equal(work.failed, 0);
    assert_true(fakes[1].images_before >= 20);
    assert_int_equal(fakes[0].calls[UPLOAD], RUNS);
    assert_logged("opening.log", "gpuimg: warning: --device cuda:1: is in use by another process; "
                                 "it gets no images\n");
}

TEST(the_second_fails_after_the_first_is_lost)
{
    struct work work;
    fakes[0].stage = DOWNLOAD;
    fakes[0].fails_at = 6;
    fakes[1].opens_after = 6;
    fakes[1].opening_us = 50 * 1000;
    fakes[1].opens = false;
    log_to("opening.log");
    run_work_on(&work, "cuda:0,1");
    log_to(NULL);
    assert_in_range(work.failed, RUNS - 5, RUNS);
    assert_logged("opening.log", "gpuimg: cuda:0: fell off the bus; it gets no more images\n"
                                 "gpuimg: warning: --device cuda:1: is in use by another process; "
                                 "it gets no images\n");
}

/* Before one is open, the command fails with the reason of the first in the list that fails. */
TEST(some_fail_before_one_is_open)
{
    static const unsigned opening_ms[][DEVICES] = {
        {60, 0, 120}, {60, 20, 0}, {0, 60, 30}, {120, 60, 0}};
    static const bool opens[][DEVICES] = {
        {true, false, true}, {true, false, false}, {0}, {false, true, false}};
    static const char *const names[] = {"cuda:1", "cuda:1", "cuda:0", "cuda:0"};
    for (int i = 0; i < 4; i++) {
        struct gi_session *session;
        struct gi_err err = {0};
        char want[64];
        fresh(NULL);
        for (int k = 0; k < DEVICES; k++) {
            fakes[k].opening_us = opening_ms[i][k] * 1000;
            fakes[k].opens = opens[i][k];
        }
        log_to("opening.log");
        assert_int_equal(open_session(&session, "cuda:all", &err), GI_E_DEVICE);
        log_to(NULL);
        snprintf(want, sizeof want, "--device %s: is in use by another process", names[i]);
        assert_string_equal(err.text, want);
        assert_null(session);
        assert_logged("opening.log", "");
        for (int k = 0; k < DEVICES; k++)
            assert_int_equal(fakes[k].images_before, 0); /* none is still being opened */
    }
}

/* A GPU that does not exist fails the command, although another one is open sooner. */
TEST(one_does_not_exist)
{
    struct gi_session *session;
    struct gi_err err = {0};
    assert_int_equal(open_session(&session, "cuda:0,7", &err), GI_E_DEVICE);
    assert_string_equal(err.text, "--device cuda:7: invalid device ordinal");
}

/* Freeing the session waits for the thread that opens a GPU, whether that opens or fails. */
TEST(the_session_ends_while_one_opens)
{
    for (int opens = 0; opens < 2; opens++) {
        struct work work;
        fresh(NULL);
        fakes[1].opening_us = 200 * 1000;
        fakes[1].opens = opens;
        make_work(&work);
        assert_int_equal(open_session(&work.session, "cuda:0,1", NULL), GI_OK);
        assert_int_equal(gi_session_run(work.session, work.pipeline, &work.made[0], &work.srcs[0],
                                        NULL, NULL, NULL),
                         GI_OK);
        case_equal(&work.made[0], &work.want[0], "of the session");
        gi_image_free(&work.made[0]);
        gi_session_free(&work.session);
        assert_int_equal(fakes[1].images_before, 1);
        free_work(&work);
    }
}

/* The whole command is done if a GPU can't be opened while it works. */
TEST(a_batch_is_complete_without_the_second)
{
    struct gi_err err = {0};
    uint64_t seed = 20261201;
    char name[32];
    const struct gi_save_options options = {0};
    setenv("GPUIMG_TEAR_DOWN", "1", 1);
    assert_int_equal(mkdir("in", 0777), 0);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "in/%03d.pgm", i);
        struct gi_image image = case_image(60 + i % 9, 40, 1, GI_U8, &seed);
        assert_int_equal(gi_save(&image, NULL, name, &options, NULL, NULL), GI_OK);
        gi_image_free(&image);
    }
    assert_int_equal(
        run_command_line("gaussian --recursive in --out-dir cpu --device cpu", true, &err), GI_OK);
    fakes[1].opens_after = 10;
    fakes[1].opens = false;
    log_to("opening.log");
    enum gi_status status = run_command_line(
        "gaussian --recursive in --out-dir out --threads 2 --device cuda:0,1", false, &err);
    log_to(NULL);
    assert_int_equal(status, GI_OK);
    assert_true(fakes[1].images_before >= 10);
    assert_int_equal(system("diff -r cpu out"), 0);
    assert_logged("opening.log", "gpuimg: warning: --device cuda:1: is in use by another process; "
                                 "it gets no images\n");
}

TEST_FRAME(.first = enter_folder, .last = leave_folder, .before = fresh)
