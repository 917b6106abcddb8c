/* Commands of the shell get and make whole files, and each end of a command has its status and
 * message.
 * Sources: cli/shell*
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "imgio_folder.h"
#include "cli/shell.h"

static char path[128];

static void *start(void *arg)
{
    struct gi_shell *shell;
    struct gi_err err;
    const int *to = arg;
    if (gi_shell_start(&shell, "pipe:echo; (trap '' TERM; sleep 100) | sleep 100", -1, *to, &err))
        _exit(1);
    return NULL;
}

/* Starts a command in a thread, which ends, and waits. */
static _Noreturn void start_and_wait(int to)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, start, &to) || pthread_join(thread, NULL))
        _exit(1);
    for (;;)
        pause();
}

/* All processes of a command end after the process that started the command was killed, but not
 * after its thread has ended. This is the first test, because the process that is killed must not
 * have the watchdog of this one. */
TEST(orphans)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0)
        start_and_wait(ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    struct pollfd end = {.fd = ends[0]};
    assert_int_equal(poll(&end, 1, 300), 0);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(poll(&end, 1, 30000), 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

TEST(names)
{
    assert_string_equal(gi_shell_command("pipe:cat x"), "cat x");
    assert_string_equal(gi_shell_command("pipe:"), "");
    assert_null(gi_shell_command("pipe"));
    assert_null(gi_shell_command("./pipe:cat x"));
    assert_null(gi_shell_command("-"));
}

static enum gi_status run(const char *name, int from, int to, struct gi_err *err)
{
    struct gi_shell *shell;
    *err = (struct gi_err){0};
    assert_int_equal(gi_shell_start(&shell, name, from, to, err), GI_OK);
    enum gi_status status = gi_shell_wait(shell, NULL, err);
    assert_true(gi_shell_has_ended(shell));
    gi_shell_close(&shell);
    assert_null(shell);
    return status;
}

/* Variables that the process sets for itself, as CUDA_VISIBLE_DEVICES, do not reach commands. */
TEST(environments)
{
    struct gi_err err;
    assert_int_equal(setenv("GPUIMG_TEST_KEPT", "before", 1), 0);
    gi_shell_keep_environment();
    assert_int_equal(setenv("GPUIMG_TEST_KEPT", "a longer value that is set afterwards", 1), 0);
    assert_int_equal(setenv("GPUIMG_TEST_NEW", "new", 1), 0);
    gi_shell_keep_environment();
    assert_int_equal(run("pipe:test \"$GPUIMG_TEST_KEPT$GPUIMG_TEST_NEW\" = before", -1, -1, &err),
                     GI_OK);
}

/* The program ignores SIGPIPE, its commands do not. */
TEST(endings)
{
    static const struct {
        const char *name;
        enum gi_status status;
        const char *text;
    } cases[] = {
        {"pipe:true", GI_OK, ""},
        {"pipe:exit 3", GI_E_IO, "pipe:exit 3: has the exit status 3, want 0"},
        {"pipe:exit 75", GI_E_AGAIN, "pipe:exit 75: has the exit status 75, want 0"},
        {"pipe:exit 127", GI_E_IO,
         "pipe:exit 127: has the exit status 127 (no such command), want 0"},
        {"pipe:kill -9 $$", GI_E_AGAIN, "pipe:kill -9 $$: was ended by signal 9 (Killed)"},
        {"pipe:kill -PIPE $$", GI_E_AGAIN,
         "pipe:kill -PIPE $$: was ended by signal 13 (Broken pipe)"},
        {"pipe:false | true", GI_OK, ""},
        {"pipe:read line", GI_E_IO, "pipe:read line: has the exit status 1, want 0"},
    };
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_err err;
        assert_int_equal(run(cases[i].name, -1, -1, &err), cases[i].status);
        assert_string_equal(err.text, cases[i].text);
    }
}

TEST(files)
{
    struct gi_err err;
    char bytes[8] = "";
    int from = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int to = open(in_folder("to"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(from, "abcdef", 6), 6);
    assert_int_equal(lseek(from, 2, SEEK_SET), 2);
    assert_int_equal(run("pipe:cat; echo !", from, to, &err), GI_OK);
    assert_int_equal(pread(to, bytes, sizeof bytes, 0), 6);
    assert_memory_equal(bytes, "cdef!\n", 6);
    close(from);
    close(to);
}

/* Also the commands that a command has started end, and those that ignore SIGTERM. */
TEST(killed)
{
    static const char *const names[] = {"pipe:echo; exec sleep 100", "pipe:echo; sleep 100 | cat",
                                        "pipe:trap '' TERM; echo; sleep 100",
                                        "pipe:(trap '' TERM; echo; exec sleep 100); true"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct gi_err err = {0};
        struct gi_shell *shell;
        int ends[2];
        char byte;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        assert_int_equal(gi_shell_start(&shell, names[i], -1, ends[1], &err), GI_OK);
        close(ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 1);
        assert_false(gi_shell_has_ended(shell));
        atomic_bool cancelled = true;
        assert_int_equal(gi_shell_wait(shell, &cancelled, &err), GI_E_IO);
        assert_string_equal(err.text, "");
        gi_shell_close(&shell);
        /* The pipe is at its end only if no process has it open. */
        assert_int_equal(read(ends[0], &byte, 1), 0);
        close(ends[0]);
    }
}

/* Ends the watchdog, which is a child of this process. */
static void kill_watchdog(void)
{
    static const char title[] = "gpuimg watchdog"; /* its last argument */
    char name[64], text[64];
    snprintf(name, sizeof name, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(name, "r");
    int pid, killed = 0;
    assert_non_null(file);
    while (fscanf(file, "%d", &pid) == 1) {
        snprintf(text, sizeof text, "/proc/%d/cmdline", pid);
        FILE *words = fopen(text, "r");
        char last[8192] = "";
        size_t n = words ? fread(last, 1, sizeof last - 1, words) : 0;
        if (words)
            fclose(words);
        if (n >= sizeof title && memcmp(last + n - sizeof title, title, sizeof title) == 0) {
            kill(pid, SIGKILL);
            assert_int_equal(waitpid(pid, NULL, 0), pid);
            killed++;
        }
    }
    fclose(file);
    assert_int_equal(killed, 1);
}

/* A watchdog that was killed is replaced. */
TEST(watchdog)
{
    struct gi_err err;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(run("pipe:true", -1, -1, &err), GI_OK);
    kill_watchdog();
    assert_int_equal(run("pipe:true", -1, -1, &err), GI_OK);
    kill_watchdog();
}

TEST_PATH(path, "from")
