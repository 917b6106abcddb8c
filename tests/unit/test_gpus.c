/* CUDA sees only the GPUs that a command uses, if it is known which ones --device means; messages
 * keep the numbers of --device. Device files are those of a folder, or fakes open the devices. The
 * rules of CUDA_VISIBLE_DEVICES are those of the CUDA C++ Programming Guide, "CUDA Environment
 * Variables": a list of indices, or of UUIDs that begin with GPU- or MIG-.
 * Sources: cli/run/gpus* cli/run/session_device*
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fake_cuda.h"
#include "imgio_folder.h"

#include "cli/process.h"
#include "cli/run/gpus.h"

static void make_file(const char *name)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fclose(file);
}

/* Makes the device files of a machine with n GPUs. */
static void make_gpus(int n)
{
    char name[32];
    mkdir(in_folder("dev"), 0700);
    make_file("dev/nvidiactl");
    make_file("dev/nvidia-uvm");
    make_file("dev/nvidia-modeset");
    mkdir(in_folder("dev/nvidia-caps"), 0700);
    make_file("dev/nvidia-caps/nvidia-cap1");
    make_file("dev/nvidia-caps/nvidia-cap2");
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "dev/nvidia%d", i);
        make_file(name);
    }
}

/* `want` NULL: the variable stays as it is. */
static void expect_visible(const char *want, const char *before, int n, const int *numbers)
{
    char *got = gi_gpus_visible(folder, before, numbers, n);
    if (want && !got)
        fail_msg("%s: unchanged, want %s", before ? before : "unset", want);
    if (want)
        assert_string_equal(got, want);
    else
        assert_null(got);
    free(got);
}

#define NUMBERS(...)                                                                               \
    sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[])                                            \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

TEST(without_a_list)
{
    setup(NULL);
    expect_visible(NULL, NULL, NUMBERS(0)); /* no device files: the number is unknown */
    make_gpus(1);
    expect_visible(NULL, NULL, NUMBERS(0));
    make_gpus(12);
    expect_visible("0", NULL, NUMBERS(0));
    expect_visible("11", NULL, NUMBERS(11));
    expect_visible("11,0,3", NULL, NUMBERS(11, 0, 3));
    expect_visible(NULL, NULL, NUMBERS(12)); /* CUDA's message tells that there is none */
    expect_visible(NULL, NULL, NUMBERS(0, 12));
    expect_visible(NULL, NULL, 0, NULL);
    expect_visible(NULL, NULL, NUMBERS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    make_file("dev/nvidia-caps/nvidia-cap12"); /* a part of a GPU */
    expect_visible(NULL, NULL, NUMBERS(0));
    teardown(NULL);
}

TEST(within_a_list)
{
    setup(NULL);
    make_gpus(4);
    expect_visible("2", "2,3", NUMBERS(0));
    expect_visible("3", "2,3", NUMBERS(1));
    expect_visible(NULL, "2,3", NUMBERS(2));
    expect_visible(NULL, "2,3", NUMBERS(1, 0));
    expect_visible("1,3", "3,0,1", NUMBERS(2, 0));
    expect_visible("GPU-ab12", "GPU-17,GPU-ab12", NUMBERS(1));
    expect_visible("MIG-GPU-17/1/0", "MIG-GPU-17/1/0,MIG-GPU-17/2/0", NUMBERS(0));
    expect_visible(NULL, "3", NUMBERS(0));
    /* CUDA sees only the GPUs before an index that does not exist */
    static const char *const odd[] = {"",    "-1",        "0,-1", "0,4",       "4,0",
                                      "0,0", "0,,1",      "0,1,", "0, 1",      "x,1",
                                      "1.0", "GPU-,GPU-", "none", "NoDevFiles"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        expect_visible(NULL, odd[i], NUMBERS(0));
    teardown(NULL);
}

/* Runs a test in a child, because a process decides once. */
static void in_child(void (*test)(void))
{
    int ending = 0;
    pid_t child = fork();
    if (child == 0) {
        setenv("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b,GPU-c", 1);
        test();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &ending, 0), child);
    assert_int_equal(ending, 0);
}

/* cmocka's checks jump, which a child must not do. */
static void need(bool holds, int code)
{
    if (!holds)
        _exit(code);
}

static void decide_once(void)
{
    int ordinals[2] = {-1, -1};
    gi_gpus_see_only(ordinals, (int[]){2, 0}, 2);
    need(strcmp(getenv("CUDA_VISIBLE_DEVICES"), "GPU-c,GPU-a") == 0, 1);
    need(ordinals[0] == 0 && ordinals[1] == 1, 2);
    gi_gpus_see_only(ordinals, (int[]){0}, 1);
    need(ordinals[0] == 1, 3);
    gi_gpus_see_only(ordinals, (int[]){1}, 1); /* is hidden */
    need(ordinals[0] > 1, 4);
    need(strcmp(getenv("CUDA_VISIBLE_DEVICES"), "GPU-c,GPU-a") == 0, 5);
}

static void see_all_first(void)
{
    int ordinal = -1;
    gi_gpus_see_only(NULL, NULL, 0);
    gi_gpus_see_only(&ordinal, (int[]){2}, 1);
    need(ordinal == 2 && strcmp(getenv("CUDA_VISIBLE_DEVICES"), "GPU-a,GPU-b,GPU-c") == 0, 6);
}

static void go_on(void)
{
    int ordinal = -1;
    gi_cli_go_on(true);
    gi_gpus_see_only(&ordinal, (int[]){2}, 1);
    need(ordinal == 2 && strcmp(getenv("CUDA_VISIBLE_DEVICES"), "GPU-a,GPU-b,GPU-c") == 0, 7);
}

/* The device is the first that CUDA sees; its name is the one of --device. */
static void open_one(void)
{
    const struct gi_device_params device = {.device = "cuda:2", .threads = 1};
    struct gi_session *session;
    struct gi_err err = {0};
    fakes[0].opens = false;
    need(gi_session_new(&session, &device, 10, &err) == GI_E_DEVICE, 8);
    need(strcmp(err.text, "--device cuda:2: is in use by another process") == 0, 9);
}

TEST(a_process_decides_once)
{
    in_child(decide_once);
    in_child(see_all_first);
    in_child(go_on);
}

TEST(names_are_those_of_the_option)
{
    fresh(NULL);
    in_child(open_one);
}
