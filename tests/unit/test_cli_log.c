/* What libraries print on standard error: dropped, unless the log is verbose or the process ends.
 * Sources: cli/log.c
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "cli/log.h"

static int ends[2];

/* Checks what was written to standard error since the last call. */
static void assert_written(const char *want)
{
    char text[1000];
    fflush(stderr);
    fflush(gi_cli_stream());
    ssize_t n = read(ends[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    assert_string_equal(text, want);
}

TEST(lines_of_libraries)
{
    FILE *own = stderr;
    int kept = dup(STDERR_FILENO);
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    dup2(ends[1], STDERR_FILENO);
    gi_cli_quiet_libraries();
    fprintf(stderr, "noise %d\nin two ", 1);
    gi_cli_log("ours %d", 2);
    fprintf(stderr, "parts\n");
    assert_written("gpuimg: ours 2\n");
    gi_cli_verbose(true);
    fprintf(stderr, "noise %d\n", 3);
    assert_written("noise 3\n");
    gi_cli_verbose(false);
    fprintf(stderr, "noise %d\n", 4);
    assert_written("");
    fprintf(stderr, "f: Assertion `x' failed.\n");
    fprintf(stderr, "more\n");
    assert_written("f: Assertion `x' failed.\nmore\n");
    dup2(kept, STDERR_FILENO);
    stderr = own;
}
