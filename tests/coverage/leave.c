/* Programs built for coverage write their counts also where they leave at once (linked by --wrap),
 * and none under a limit on the length of files, which would cut short those of all programs.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/resource.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
int __real_raise(int signal_number);
_Noreturn void __wrap__exit(int status);
int __wrap_raise(int signal_number);

/* Before gcov's own end, which is another destructor. */
__attribute__((destructor)) static void spare_counts(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return;
    setenv("GCOV_PREFIX", "/dev/null", 1); /* a folder that can't be */
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
