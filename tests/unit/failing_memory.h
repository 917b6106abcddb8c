/* malloc(), calloc() and realloc() that replace the C library's and fail when a test asks for it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

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
