/* Small allocations: names, lines of text, parameters and tables of a few kilobytes, whose size
 * does not grow with an image, a file or the number of inputs. They never fail: if memory runs out,
 * the process ends in one place, so that their callers need no way out.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* Sets the function that ends the process if memory runs out. It must not return, and may be called
 * in any thread. Without it, the process aborts. */
void gi_small_ends_by(void (*end)(void));

/* As malloc(), calloc(), reallocarray(), strdup() and strndup(). The result, which the caller
 * frees, is not NULL. */
void *gi_small_alloc(size_t nbytes);
void *gi_small_calloc(size_t n, size_t nbytes);
void *gi_small_realloc(void *at, size_t n, size_t nbytes);
char *gi_small_copy(const char *text);
char *gi_small_copy_n(const char *text, size_t n);

/* Returns `at`, which a library allocated, unless it is NULL because memory ran out. */
void *gi_small_check(void *at);

/* Returns the printf text, which the caller frees. */
char *gi_small_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *gi_small_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
