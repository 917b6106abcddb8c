/* Work in a subprocess that succeeds, fails, crashes, hangs or can't return its result ends with
 * the right status and message.
 * Sources: cli/subprocess*
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "imgio_folder.h"
#include "cli/subprocess.h"

enum { LONG = 200000 }; /* more than a pipe holds */

static char path[128];

static enum gi_status write_much(struct gi_sink *sink, const void *arg, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < LONG && !status; i++)
        status = gi_sink_write(sink, arg, 1, err);
    return status;
}

static enum gi_status refuse(struct gi_sink *sink, const void *arg, struct gi_err *err)
{
    gi_sink_write(sink, arg, 1, NULL);
    return gi_fail(err, GI_E_FORMAT, "no %s", (const char *)arg);
}

static enum gi_status crash(struct gi_sink *sink, const void *arg, struct gi_err *err)
{
    raise(SIGKILL); /* no sanitizer intercepts this signal */
    return GI_OK;
}

static enum gi_status hang(struct gi_sink *sink, const void *arg, struct gi_err *err)
{
    while (pause() < 0)
        ;
    return GI_OK;
}

static enum gi_status run_child(gi_subprocess_fn *work, struct gi_err *err)
{
    struct gi_sink *sink;
    *err = (struct gi_err){0};
    assert_int_equal(gi_sink_open(&sink, path, false, NULL), GI_OK);
    enum gi_status status = gi_subprocess_run(sink, "a drawing", 1, work, "x", err);
    if (!status)
        status = gi_sink_commit(&sink, false, err);
    gi_sink_abandon(&sink);
    assert_int_equal(status, err->status);
    return status;
}

TEST(all_bytes)
{
    struct gi_err err;
    static char bytes[LONG + 1];
    assert_int_equal(run_child(write_much, &err), GI_OK);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), LONG);
    fclose(file);
    for (int i = 0; i < LONG; i++)
        assert_int_equal(bytes[i], 'x');
    unlink(path);
}

TEST(endings)
{
    static const struct {
        gi_subprocess_fn *work;
        enum gi_status status;
        const char *text;
    } cases[] = {
        {refuse, GI_E_FORMAT, "a drawing: no x"},
        {crash, GI_E_UNSUPPORTED, "a drawing: the library that does it crashed"},
        {hang, GI_E_UNSUPPORTED, "a drawing: took more than 1 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_err err;
        assert_int_equal(run_child(cases[i].work, &err), cases[i].status);
        assert_string_equal(err.text, cases[i].text);
        assert_int_not_equal(access(path, F_OK), 0);
    }
}

/* The sink fails while the child process continues. */
TEST(full)
{
    struct gi_err err = {0};
    struct gi_sink *sink;
    struct rlimit before, small = {1000, 1000};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(gi_sink_open(&sink, path, false, NULL), GI_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    static char block[1 << 20]; /* what the sink's buffer holds */
    enum gi_status filled = gi_sink_write(sink, block, sizeof block, NULL);
    enum gi_status status = gi_subprocess_run(sink, "a drawing", 5, write_much, "x", &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    gi_sink_abandon(&sink);
    assert_true(filled || status == GI_E_IO);
    assert_int_equal(status, GI_E_IO);
}

TEST_PATH(path, "file")
