/* Programs built for coverage write their counts also where they leave at once (linked by --wrap),
 * and under a limit on the length of files, which would cut the counts of all programs after them.
 * SPDX-License-Identifier: MIT */
#include <sys/resource.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
int __real_raise(int signal_number);
_Noreturn void __wrap__exit(int status);
int __wrap_raise(int signal_number);

/* Before gcov's own end, which is another destructor. Only root may raise a hard limit. */
__attribute__((destructor)) static void take_off_limit(void)
{
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &none);
}

void __wrap__exit(int status)
{
    take_off_limit();
    __gcov_dump();
    __real__exit(status);
}

int __wrap_raise(int signal_number)
{
    take_off_limit();
    __gcov_dump();
    return __real_raise(signal_number);
}
