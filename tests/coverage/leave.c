/* Linked into programs that are built for coverage, so that they write their counts of executed
 * lines also if they end by _exit() or raise(). The linker's option --wrap replaces these two
 * functions. If the size of files is limited, the counts are not written, because that would
 * truncate the files with the counts of all programs.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/resource.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
int __real_raise(int signal_number);
_Noreturn void __wrap__exit(int status);
int __wrap_raise(int signal_number);

/* Runs before gcov's own destructor. */
__attribute__((destructor)) static void spare_counts(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return;
    setenv("GCOV_PREFIX", "/dev/null", 1); /* a folder that can't exist */
    setenv("GCOV_ERROR_FILE", "/dev/null", 1);
}

void __wrap__exit(int status)
{
    spare_counts();
    __gcov_dump();
    __real__exit(status);
}

int __wrap_raise(int signal_number)
{
    spare_counts();
    __gcov_dump();
    return __real_raise(signal_number);
}
