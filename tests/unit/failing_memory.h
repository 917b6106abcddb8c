/* malloc(), calloc() and realloc() that replace the C library's and fail when a test asks for it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "imgio/small.h"
#include "imgio/temporary.h"

/* The number of the allocation that fails (0 if none does), and the number of allocations so
 * far. */
static int fails_at, calls;

#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__
static const bool can_fail = true;
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *at, size_t n);
void *__libc_memalign(size_t align, size_t n);

/* Sets errno as the C library's functions do. */
static bool failing(void)
{
    bool fails = ++calls == fails_at;
    if (fails)
        errno = ENOMEM;
    return fails;
}

void *malloc(size_t n)
{
    return failing() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return failing() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *at, size_t n)
{
    return failing() ? NULL : __libc_realloc(at, n);
}

int posix_memalign(void **at, size_t align, size_t n)
{
    *at = failing() ? NULL : __libc_memalign(align, n);
    return *at ? 0 : ENOMEM;
}
#else
static const bool can_fail = false;
#endif

/* Exit statuses of a child process: that of one whose small allocation (imgio/small.h) failed, and
 * otherwise the result of its work with two bits. */
enum { RETURNED = 32, CAME = 64, ENDED = 127 };

/* What run_without_memory() returns if a small allocation failed. */
enum { SMALL_FAILED = -1 };

/* The number of allocations of the work alone; -1: as many as `calls`. */
static int counted = -1;

/* Ends the failing and counting, before the work checks its results. */
__attribute__((unused)) static void stop_failing(void)
{
    counted = calls;
    fails_at = 0;
}

/* Ends the process as cli/main.c does. */
static void end_child(void)
{
    gi_temporary_end();
    _exit(ENDED);
}

/* Calls run(arg) in a child process in which allocation n fails. Returns its result, from 0 to 31,
 * or SMALL_FAILED. Sets *came to whether there were so many allocations. */
__attribute__((unused)) static int run_without_memory(int n, int (*run)(void *arg), void *arg,
                                                      bool *came)
{
    int ending = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        gi_small_ends_by(end_child);
        calls = 0;
        fails_at = n;
        int result = run(arg);
        bool so_many = (counted < 0 ? calls : counted) >= n;
        _exit(result | RETURNED | (so_many ? CAME : 0));
    }
    assert_int_equal(waitpid(child, &ending, 0), child);
    assert_true(WIFEXITED(ending));
    int code = WEXITSTATUS(ending);
    assert_true(code & RETURNED); /* otherwise a test has failed in the child */
    *came = code & CAME;
    return code == ENDED ? SMALL_FAILED : code & (RETURNED - 1);
}
