/* Small allocations, which end the process if memory runs out.
 * SPDX-License-Identifier: MIT */
#include "imgio/small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*end_process)(void) = abort;

void gi_small_ends_by(void (*end)(void))
{
    end_process = end;
}

void *gi_small_check(void *at)
{
    if (!at)
        end_process();
    return at;
}

void *gi_small_alloc(size_t nbytes)
{
    return gi_small_check(malloc(nbytes ? nbytes : 1));
}

void *gi_small_calloc(size_t n, size_t nbytes)
{
    return gi_small_check(calloc(n ? n : 1, nbytes ? nbytes : 1));
}

void *gi_small_realloc(void *at, size_t n, size_t nbytes)
{
    return gi_small_check(reallocarray(at, n ? n : 1, nbytes));
}

char *gi_small_copy(const char *text)
{
    return gi_small_check(strdup(text));
}

char *gi_small_copy_n(const char *text, size_t n)
{
    return gi_small_check(strndup(text, n));
}

char *gi_small_vformat(const char *format, va_list args)
{
    char *text;
    return gi_small_check(vasprintf(&text, format, args) < 0 ? NULL : text);
}

char *gi_small_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = gi_small_vformat(format, args);
    va_end(args);
    return text;
}
