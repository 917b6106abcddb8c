/* A preloaded library that makes the N-th call of a kind fail and then creates the file that
 * TORTURE_MARK names. The environment variable TORTURE="KIND N" selects the kind and N. The kinds
 * are the elements of `kinds`. The file that TORTURE_COUNTS names, if it is set, gets the number of
 * calls of each kind, as an array of int. The kind "kill" ends the process before the N-th call
 * that creates, opens for writing, links or renames a file. Calls inside the C library are not
 * intercepted, with two exceptions: fopen(), opendir(), scandir() and mkostemp() open a file, and
 * readdir() and scandir() read a folder (getdents). SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind {
    NOTHING,
    MEMORY,
    START,
    READ,
    WRITE,
    MOVE,
    OPEN,
    LIST,
    STAT,
    MAP,
    TRUNCATE,
    SHORT_READ,
    SHORT_WRITE,
    INTERRUPT,
    KILL
};
static const char *const kinds[] = {"nothing",  "memory",     "start",       "read",      "write",
                                    "move",     "open",       "list",        "stat",      "map",
                                    "truncate", "short-read", "short-write", "interrupt", "kill"};

static enum kind wanted = NOTHING;
static int fails_at;
static const char *mark;
static atomic_int calls;
static atomic_int *counts; /* the mapped file, or NULL */
static bool begun;         /* main() has begun */

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("TORTURE"), *blank = text ? strchr(text, ' ') : NULL;
    for (size_t i = 0; blank && i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i]) == (size_t)(blank - text) &&
            strncmp(kinds[i], text, (size_t)(blank - text)) == 0)
            wanted = (enum kind)i;
    fails_at = blank ? atoi(blank + 1) : 0;
    mark = getenv("TORTURE_MARK");
    const char *path = getenv("TORTURE_COUNTS");
    long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    size_t nbytes = sizeof(int) * sizeof kinds / sizeof *kinds;
    if (syscall(SYS_ftruncate, fd, nbytes) == 0) {
        long at = syscall(SYS_mmap, NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
        counts = at == -1 ? NULL : (atomic_int *)at;
    }
    syscall(SYS_close, fd);
}

/* Counts a call of this kind. Returns whether the call must fail. */
static bool now(enum kind kind)
{
    if (begun && counts)
        atomic_fetch_add(&counts[kind], 1);
    if (!begun || kind != wanted || atomic_fetch_add(&calls, 1) + 1 != fails_at)
        return false;
    long fd = mark ? syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
    return true;
}

/* Ends the process where that is wanted. */
static void live_on(void)
{
    if (now(KILL))
        raise(SIGKILL);
}

/* Declares name##_next, a pointer to the C library's function of that name. */
#define NEXT(name)                                                                                 \
    static __typeof__(&name) name##_next;                                                          \
    if (!name##_next) {                                                                            \
        void *found = dlsym(RTLD_NEXT, #name);                                                     \
        memcpy(&name##_next, &found, sizeof found);                                                \
    }

/* ---- the start ---- */

/* Counting begins at main(). Before main() the CUDA runtime registers its kernels, and would crash
 * if it got no memory. */
typedef int main_fn(int, char **, char **);
static main_fn *program;

static int count_from_here(int argc, char **argv, char **envp)
{
    begun = true;
    return program(argc, argv, envp);
}

int __libc_start_main(main_fn *start, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(main_fn *start, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    NEXT(__libc_start_main)
    program = start;
    return __libc_start_main_next(count_from_here, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---- memory ---- */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *at, size_t n);
void *__libc_memalign(size_t align, size_t n);

static void *none(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t n)
{
    return now(MEMORY) ? none() : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return now(MEMORY) ? none() : __libc_calloc(n, size);
}

void *realloc(void *at, size_t n)
{
    return now(MEMORY) ? none() : __libc_realloc(at, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return now(MEMORY) ? none() : __libc_memalign(align, n);
}

void *memalign(size_t align, size_t n)
{
    return now(MEMORY) ? none() : __libc_memalign(align, n);
}

int posix_memalign(void **at, size_t align, size_t n)
{
    void *found = now(MEMORY) ? NULL : __libc_memalign(align, n);
    if (!found)
        return ENOMEM;
    *at = found;
    return 0;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    if (now(MEMORY) || now(MAP)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

/* ---- threads and processes ---- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    NEXT(pthread_create)
    return now(START) ? EAGAIN : pthread_create_next(thread, attributes, run, arg);
}

pid_t fork(void)
{
    NEXT(fork)
    if (now(START)) {
        errno = EAGAIN;
        return -1;
    }
    return fork_next();
}

/* ---- files ---- */

static int fail(int why)
{
    errno = why;
    return -1;
}

ssize_t read(int fd, void *to, size_t n)
{
    if (now(READ))
        return fail(EIO);
    if (now(INTERRUPT))
        return fail(EINTR);
    if (n > 1 && now(SHORT_READ))
        n = n / 2;
    return syscall(SYS_read, fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    return now(READ) ? fail(EIO) : syscall(SYS_pread64, fd, to, n, at);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    return now(WRITE) ? fail(ENOSPC) : syscall(SYS_pwrite64, fd, from, n, at);
}

int ftruncate(int fd, off_t n)
{
    return now(TRUNCATE) ? fail(EIO) : (int)syscall(SYS_ftruncate, fd, n);
}

int fallocate(int fd, int mode, off_t at, off_t n)
{
    return now(TRUNCATE) ? fail(ENOSPC) : (int)syscall(SYS_fallocate, fd, mode, at, n);
}

int stat(const char *path, struct stat *st)
{
    NEXT(stat)
    return now(STAT) ? fail(EIO) : stat_next(path, st);
}

int fstat(int fd, struct stat *st)
{
    NEXT(fstat)
    return now(STAT) ? fail(EIO) : fstat_next(fd, st);
}

ssize_t write(int fd, const void *from, size_t n)
{
    if (fd == STDERR_FILENO)
        return syscall(SYS_write, fd, from, n);
    if (now(WRITE))
        return fail(ENOSPC);
    if (now(INTERRUPT))
        return fail(EINTR);
    if (n > 1 && now(SHORT_WRITE))
        n = n / 2;
    return syscall(SYS_write, fd, from, n);
}

int fsync(int fd)
{
    return now(WRITE) ? fail(EIO) : (int)syscall(SYS_fsync, fd);
}

int close(int fd)
{
    int failed = (int)syscall(SYS_close, fd); /* the call fails although the file is closed */
    return now(WRITE) ? fail(EIO) : failed;
}

int fchmod(int fd, mode_t mode)
{
    return now(WRITE) ? fail(EIO) : (int)syscall(SYS_fchmod, fd, mode);
}

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    if (flags & (O_WRONLY | O_RDWR))
        live_on();
    if (now(INTERRUPT))
        return fail(EINTR);
    return now(OPEN) ? fail(EMFILE) : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_at(folder, path, flags, mode);
}

/* Aliases for programs with large files. */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

/* The variants of open() that the macro _FORTIFY_SOURCE selects. They check the arguments. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

int __openat_2(int folder, const char *path, int flags);
int __openat_2(int folder, const char *path, int flags)
{
    return open_at(folder, path, flags, 0);
}

ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
ssize_t __read_chk(int fd, void *to, size_t n, size_t room)
{
    if (n > room)
        abort();
    return read(fd, to, n);
}

int mkostemp(char *name, int flags)
{
    NEXT(mkostemp)
    return now(OPEN) ? fail(EMFILE) : mkostemp_next(name, flags);
}

FILE *fopen(const char *path, const char *mode)
{
    NEXT(fopen)
    if (!now(OPEN))
        return fopen_next(path, mode);
    errno = EMFILE;
    return NULL;
}

DIR *opendir(const char *path)
{
    NEXT(opendir)
    if (!now(OPEN))
        return opendir_next(path);
    errno = EMFILE;
    return NULL;
}

struct dirent *readdir(DIR *folder)
{
    NEXT(readdir)
    if (!now(LIST))
        return readdir_next(folder);
    errno = EIO;
    return NULL;
}

int scandir(const char *path, struct dirent ***entries, int (*select)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    NEXT(scandir)
    if (now(OPEN))
        return fail(EMFILE);
    return now(LIST) ? fail(EIO) : scandir_next(path, entries, select, compare);
}

int mkdir(const char *path, mode_t mode)
{
    live_on();
    return now(OPEN) ? fail(ENOSPC) : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int rename(const char *from, const char *to)
{
    live_on();
    return now(MOVE) ? fail(EIO) : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    live_on();
    return now(MOVE) ? fail(EIO)
                     : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    live_on();
    return now(MOVE) ? fail(EIO)
                     : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int unlink(const char *path)
{
    live_on();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
