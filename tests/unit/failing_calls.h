/* System calls and allocations that replace the C library's and fail when a test asks for it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "failing_memory.h"
#include "test.h"
#include "imgio/status.h"

/* A fault: a call of the function `name` fails with errno `why`, or transfers a single byte if
 * `why` is 0. If `on`, all later calls do the same. `works` tells whether the work must succeed
 * nevertheless. The name "malloc" means every function that allocates (run_fault()). */
struct fault {
    const char *name;
    int why;
    bool on, works;
};

/* The fault that is armed, or one without a name; the number of the call that fails, and the
 * number of calls so far. */
static struct fault fault;
static int fault_at, fault_calls;

/* If not NULL, runs after each renameat2() that succeeds. */
static void (*after_rename)(void);

static bool fails(const char *name)
{
    if (!fault.name || strcmp(fault.name, name) != 0)
        return false;
    fault_calls++;
    if (fault_calls != fault_at && !(fault.on && fault_calls > fault_at))
        return false;
    errno = fault.why;
    return true;
}

/* Makes the n-th call from now on fail. */
static void arm(struct fault with, int n)
{
    fault = with;
    fault_at = n;
    fault_calls = 0;
}

/* Ends the fault, and tests that the work's status fits the fault and the error. Returns whether no
 * call has failed. */
static bool disarm(const char *work, enum gi_status status, const struct gi_err *err)
{
    bool done = fault_calls < fault_at;
    struct fault had = fault;
    fault.name = NULL;
    if (status != err->status || (status && (had.works || !*err->text)))
        fail_msg("%s: call %d of %s() fails (%s): status %d, %s", work, fault_at, had.name,
                 strerror(had.why), status, err->text);
    return done;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
    va_end(args);
    return fails("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

struct dirent *readdir(DIR *dir)
{
    return fails("readdir") ? NULL : (struct dirent *)(void *)readdir64(dir);
}

/* A close() that fails still closes the descriptor. */
int close(int fd)
{
    int got = (int)syscall(SYS_close, fd);
    return fails("close") ? -1 : got;
}

int fstat(int fd, struct stat *st)
{
    return fails("fstat") ? -1 : (int)syscall(SYS_fstat, fd, st);
}

int lstat(const char *path, struct stat *st)
{
    return fails("lstat") ? -1
                          : (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

ssize_t read(int fd, void *bytes, size_t n)
{
    bool fault_now = fails("read");
    return fault_now && fault.why ? -1 : syscall(SYS_read, fd, bytes, fault_now && n ? 1 : n);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    bool fault_now = fails("pread");
    return fault_now && fault.why ? -1
                                  : syscall(SYS_pread64, fd, bytes, fault_now && n ? 1 : n, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    bool fault_now = fails("pwrite");
    return fault_now && fault.why ? -1
                                  : syscall(SYS_pwrite64, fd, bytes, fault_now && n ? 1 : n, at);
}

/* _FORTIFY_SOURCE replaces read() by this function. */
ssize_t __read_chk(int fd, void *bytes, size_t n, size_t room);
ssize_t __read_chk(int fd, void *bytes, size_t n, size_t room)
{
    return read(fd, bytes, n < room ? n : room);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    bool fault_now = fails("write");
    return fault_now && fault.why ? -1 : syscall(SYS_write, fd, bytes, fault_now && n ? 1 : n);
}

int fsync(int fd)
{
    return fails("fsync") ? -1 : (int)syscall(SYS_fsync, fd);
}

int fchmod(int fd, mode_t mode)
{
    return fails("fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int fchown(int fd, uid_t owner, gid_t group)
{
    return fails("fchown") ? -1 : (int)syscall(SYS_fchown, fd, owner, group);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
    return fails("linkat") ? -1 : (int)syscall(SYS_linkat, from_at, from, to_at, to, flags);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    if (fails("renameat2") || syscall(SYS_renameat2, from_at, from, to_at, to, flags))
        return -1;
    if (after_rename)
        after_rename();
    return 0;
}

int rename(const char *from, const char *to)
{
    return fails("rename") ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int mkdir(const char *path, mode_t mode)
{
    return fails("mkdir") ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

ssize_t getrandom(void *bytes, size_t n, unsigned flags)
{
    return fails("getrandom") ? -1 : syscall(SYS_getrandom, bytes, n, flags);
}

off_t lseek(int fd, off_t by, int from)
{
    return fails("lseek") ? -1 : syscall(SYS_lseek, fd, by, from);
}

#ifndef __SANITIZE_ADDRESS__
void *mmap(void *at, size_t n, int rights, int flags, int fd, off_t from)
{
    return fails("mmap") ? MAP_FAILED : (void *)syscall(SYS_mmap, at, n, rights, flags, fd, from);
}
#endif

/* A work, which checks its results itself. */
struct faulted {
    const char *name;
    enum gi_status (*run)(struct gi_err *err);
};

static int count_own_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Runs the work in a child process. */
static int run_in_child(void *arg)
{
    const struct faulted *work = arg;
    struct gi_err err = {0};
    int files = count_own_files();
    enum gi_status status = work->run(&err);
    if (counted < 0)
        stop_failing();
    if (status != err.status || (status && !*err.text))
        fail_msg("%s: without memory: status %d, %s", work->name, status, err.text);
    assert_int_equal(count_own_files(), files);
    return (int)status;
}

/* Runs the work while the n-th call of the fault fails. Returns its status, which is GI_E_MEMORY if
 * a small allocation failed. Sets *done to whether there were fewer calls. */
__attribute__((unused)) static enum gi_status run_fault(const char *name, struct fault with, int n,
                                                        enum gi_status (*run)(struct gi_err *err),
                                                        bool *done)
{
    struct faulted work = {name, run};
    struct gi_err err = {0};
    bool came;
    if (strcmp(with.name, "malloc") == 0) {
        int result = run_without_memory(n, run_in_child, &work, &came);
        *done = !came;
        return result == SMALL_FAILED ? GI_E_MEMORY : (enum gi_status)result;
    }
    arm(with, n);
    enum gi_status status = run(&err);
    *done = disarm(name, status, &err);
    return status;
}
