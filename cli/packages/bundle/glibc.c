/* Functions and variables of the C library for programs and libraries that must run with glibc 2.34
 * and are linked with a later one. The linker replaces NAME by __wrap_NAME (--wrap=NAME,
 * cli/packages/libraries.py). SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* glibc 2.35 has another hypot(), with the same results, that does not call matherr(). */
#ifdef __x86_64__
__asm__(".symver old_hypot, hypot@GLIBC_2.2.5");
#else
__asm__(".symver old_hypot, hypot@GLIBC_2.17");
#endif
double old_hypot(double x, double y);
double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y)
{
    return old_hypot(x, y);
}

/* glibc has this function since 2.36. Expat seeds a hash with it. */
void __wrap_arc4random_buf(void *buffer, size_t nbytes);
void __wrap_arc4random_buf(void *buffer, size_t nbytes)
{
    char *bytes = buffer;
    while (nbytes > 0) {
        ssize_t n = getrandom(bytes, nbytes, 0);
        if (n < 0)
            abort();
        bytes += n;
        nbytes -= (size_t)n;
    }
}

/* Debian's static libraries are compiled for programs, which have copies of these variables. A
 * shared library has none, and gets copies of its own. */
#ifdef GI_SHARED
extern FILE *__real_stdin, *__real_stdout, *__real_stderr;
FILE *__wrap_stdin, *__wrap_stdout, *__wrap_stderr;
__attribute__((constructor)) static void fill(void)
{
    __wrap_stdin = __real_stdin;
    __wrap_stdout = __real_stdout;
    __wrap_stderr = __real_stderr;
}
#endif
