/* Functions of the whole process, for its end, its standard output and its clock.
 * SPDX-License-Identifier: MIT */
#include "cli/process.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define LEAKS_ARE_SOUGHT 1
#else
#define LEAKS_ARE_SOUGHT 0
#endif

static bool goes_on_after;

void gi_cli_go_on(bool goes_on)
{
    goes_on_after = goes_on;
}

bool gi_cli_goes_on(void)
{
    return goes_on_after;
}

bool gi_cli_tears_down(void)
{
    return goes_on_after || LEAKS_ARE_SOUGHT || getenv("GPUIMG_TEAR_DOWN");
}

/* Returns whether standard output is a pipe or socket whose reader has gone. */
static bool has_no_reader(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

enum gi_status gi_cli_flush(struct gi_err *err)
{
    bool bad = ferror(stdout) != 0; /* an earlier write failed, whose errno is not known */
    errno = 0;
    if (fflush(stdout) == 0 && !bad)
        return GI_OK;
    if (errno == EPIPE || (!errno && has_no_reader()))
        return GI_E_PIPE;
    return gi_fail(err, gi_status_of_errno(errno), "standard output: %s",
                   errno ? strerror(errno) : "write error");
}

double gi_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}
