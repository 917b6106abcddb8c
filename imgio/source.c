/* Opens input files. Large regular files of raw samples are memory-mapped, which avoids a second
 * copy of gigabytes. All other files are read into a buffer, which stays as it is if the file
 * changes. If a mapped file is truncated meanwhile, the system sends SIGBUS. A signal handler then
 * maps zeros. The closing of the source reports that the file was truncated or changed.
 * SPDX-License-Identifier: MIT */
#include "imgio/reader.h"
#include "imgio/source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "imgio/small.h"

enum {
    /* smaller files are read by read(), which is as fast and causes no SIGBUS */
    MAP_FROM_NBYTES = 1 << 20,
    READ_NBYTES = 1 << 16, /* length of the first buffer for a pipe, which is doubled repeatedly */
    /* maximum number of mappings at one time; further files are read by read() */
    GUARDS = 64,
};

/* A guarded mapping. The mappings are global because a signal handler has no argument for them. */
struct guard {
    atomic_uintptr_t base; /* 0 if the guard is free */
    atomic_size_t nbytes;
    atomic_bool faulted;
};
static struct guard guards[GUARDS];
static struct sigaction action_before;
static pthread_once_t guard_once = PTHREAD_ONCE_INIT;

/* Maps zeros from the faulting page to the end of its mapping. After a fault anywhere else,
 * restores the handler that was installed before. The instruction then faults again. */
static void on_sigbus(int signal, siginfo_t *info, void *ucontext)
{
    int saved = errno;
    uintptr_t at = (uintptr_t)info->si_addr;
    for (int i = 0; i < GUARDS; i++) {
        uintptr_t base = atomic_load(&guards[i].base);
        uintptr_t end = base + atomic_load(&guards[i].nbytes);
        if (!base || at < base || at >= end)
            continue;
        uintptr_t page = at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
        atomic_store(&guards[i].faulted, true);
        if (mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0) != MAP_FAILED) {
            errno = saved;
            return;
        }
    }
    sigaction(signal, &action_before, NULL);
    errno = saved;
}

static void install_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &action_before);
}

static int guard_take(void *base, size_t nbytes)
{
    pthread_once(&guard_once, install_handler);
    for (int i = 0; i < GUARDS; i++) {
        uintptr_t unused = 0;
        /* The slot is taken before its length is set. Until then the handler sees an empty
         * range. */
        if (atomic_compare_exchange_strong(&guards[i].base, &unused, (uintptr_t)base)) {
            atomic_store(&guards[i].faulted, false);
            atomic_store(&guards[i].nbytes, nbytes);
            return i;
        }
    }
    return -1;
}

static bool map_file(struct gi_source *source, int fd, const struct stat *st)
{
    size_t nbytes = (size_t)st->st_size;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return false;
    void *bytes = mmap(NULL, nbytes, PROT_READ, MAP_PRIVATE, fd, 0);
    int guard = bytes == MAP_FAILED ? -1 : guard_take(bytes, nbytes);
    if (guard < 0) {
        if (bytes != MAP_FAILED)
            munmap(bytes, nbytes);
        close(own);
        return false;
    }
    madvise(bytes, nbytes, MADV_SEQUENTIAL);
    *source = (struct gi_source){bytes, nbytes, guard, own, st->st_mtim};
    return true;
}

/* Fails if the file has another length or was written to since then. */
static enum gi_status check_unchanged(int fd, size_t nbytes, const struct timespec *since,
                                      struct gi_err *err)
{
    struct stat now;
    if (fstat(fd, &now))
        return gi_fail(err, gi_status_of_errno(errno), "%s", strerror(errno));
    bool same = (size_t)now.st_size == nbytes && now.st_mtim.tv_sec == since->tv_sec &&
                now.st_mtim.tv_nsec == since->tv_nsec;
    return same ? GI_OK : gi_fail(err, GI_E_IO, "the file changed while it was read");
}

static enum gi_status too_long(const struct gi_limits *limits, struct gi_err *err)
{
    return gi_fail(err, GI_E_LIMIT, "more than %llu bytes of input; --max-bytes raises the limit",
                   (unsigned long long)limits->max_bytes);
}

/* Reads to the end of `fd`. `expected` is the size that the system reports, or 0 if it is unknown.
 * In that case `choose` may end the reading after the first bytes. */
static enum gi_status read_all(struct gi_source *source, int fd, size_t expected,
                               const struct gi_limits *limits, gi_source_chooser *choose,
                               struct gi_err *err)
{
    /* A buffer of one byte more than expected shows the end without another allocation. */
    size_t capacity = expected ? expected + 1 : READ_NBYTES, used = 0;
    unsigned char *buffer = malloc(capacity);
    while (buffer) {
        bool stopped = !expected && !gi_input_wait(fd);
        ssize_t n = stopped ? -1 : read(fd, buffer + used, capacity - used);
        if (n < 0 && errno == EINTR && !stopped)
            continue;
        if (stopped)
            errno = EINTR;
        if (n < 0) {
            int why = errno;
            free(buffer);
            return gi_fail(err, gi_status_of_errno(why), "%s", strerror(why));
        }
        bool start = !expected && choose && used < GI_SOURCE_HEAD;
        used += n > 0 ? (size_t)n : 0;
        if (n == 0 ||
            (start && used >= GI_SOURCE_HEAD && choose(buffer, used, false) == GI_SOURCE_STOP)) {
            *source = (struct gi_source){.bytes = buffer, .nbytes = used, .guard = -1};
            return GI_OK;
        }
        if (used > limits->max_bytes) {
            free(buffer);
            return too_long(limits, err);
        }
        if (used == capacity) {
            unsigned char *grown = realloc(buffer, capacity * 2);
            if (!grown)
                free(buffer);
            buffer = grown;
            capacity *= 2;
        }
    }
    return gi_fail(err, GI_E_MEMORY, "out of memory: %zu bytes of input", capacity);
}

/* Keeps the first bytes of a file that no decoder accepts. */
static void keep_head(struct gi_source *source, const unsigned char *head, size_t nbytes)
{
    unsigned char *bytes = gi_small_alloc(nbytes + 1);
    memcpy(bytes, head, nbytes);
    *source = (struct gi_source){.bytes = bytes, .nbytes = nbytes, .guard = -1};
}

/* Opens a regular file with `at` as its current position, which it is read from. */
static enum gi_status open_sized(struct gi_source *source, int fd, off_t at, const struct stat *st,
                                 const struct gi_load_options *options, gi_source_chooser *choose,
                                 struct gi_err *err)
{
    unsigned char head[GI_SOURCE_HEAD];
    ssize_t n;
    do
        n = pread(fd, head, sizeof head, at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return gi_fail(err, gi_status_of_errno(errno), "%s", strerror(errno));
    bool maps = options->header_only || options->taker;
    enum gi_source_way way = choose ? choose(head, (size_t)n, maps) : GI_SOURCE_MAP;
    if (way == GI_SOURCE_STOP && n) {
        keep_head(source, head, (size_t)n);
        return GI_OK;
    }
    if (way == GI_SOURCE_MAP && st->st_size >= MAP_FROM_NBYTES && at == 0 &&
        map_file(source, fd, st))
        return GI_OK;
    if ((uint64_t)st->st_size > options->limits.max_bytes)
        return too_long(&options->limits, err);
    enum gi_status status = read_all(source, fd, (size_t)st->st_size, &options->limits, NULL, err);
    if (!status && (status = check_unchanged(fd, (size_t)st->st_size, &st->st_mtim, err)))
        free((void *)source->bytes);
    return status;
}

static enum gi_status open_fd(struct gi_source *source, int fd,
                              const struct gi_load_options *options, gi_source_chooser *choose,
                              struct gi_err *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return gi_fail(err, gi_status_of_errno(errno), "%s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return gi_fail(err, GI_E_IO, "is a directory, want an image file");
    /* Standard input may be a file whose position is not its start. */
    off_t at = S_ISREG(st.st_mode) && st.st_size > 0 ? lseek(fd, 0, SEEK_CUR) : -1;
    enum gi_status status = at >= 0 ? open_sized(source, fd, at, &st, options, choose, err)
                                    : read_all(source, fd, 0, &options->limits, choose, err);
    if (status || source->nbytes)
        return status;
    free((void *)source->bytes);
    return gi_fail(err, GI_E_FORMAT, "is empty, want an image");
}

enum gi_status gi_source_open(struct gi_source *source, const char *path,
                              const struct gi_load_options *options, gi_source_chooser *choose,
                              struct gi_err *err)
{
    if (strcmp(path, "-") == 0)
        return open_fd(source, STDIN_FILENO, options, choose, err);
    int fd = gi_input_open(path);
    if (fd < 0) {
        int why = errno;
        return gi_fail(err, gi_status_of_errno(why), "%s%s", strerror(why),
                       why == ENOENT ? gi_path_hint(path) : "");
    }
    enum gi_status status = open_fd(source, fd, options, choose, err);
    close(fd);
    return status;
}

void gi_ahead_free(struct gi_ahead **ahead)
{
    if (!*ahead)
        return;
    free((*ahead)->bytes.at);
    gi_reader_close(&(*ahead)->reader);
    free(*ahead);
    *ahead = NULL;
}

enum gi_status gi_source_continue(struct gi_source *source, struct gi_ahead *ahead,
                                  const struct gi_load_options *options, gi_source_chooser *choose,
                                  struct gi_err *err)
{
    struct gi_buffer all = ahead->bytes;
    struct gi_err fault;
    size_t got = 1;
    enum gi_status status = GI_OK;
    ahead->bytes = (struct gi_buffer){0};
    bool chosen = !choose;
    while (!status && got) {
        if (!chosen && all.nbytes >= GI_SOURCE_HEAD) {
            chosen = true;
            if (choose(all.at, all.nbytes, false) == GI_SOURCE_STOP)
                break;
        }
        status = gi_buffer_reserve(&all, all.nbytes / 2 + READ_NBYTES, err);
        if (!status && gi_reader_read(ahead->reader, all.at + all.nbytes, all.capacity - all.nbytes,
                                      &got, &fault))
            status = gi_fail(err, fault.status, "read error");
        if (!status)
            all.nbytes += got;
        if (!status && all.nbytes > options->limits.max_bytes)
            status = too_long(&options->limits, err);
    }
    gi_reader_close(&ahead->reader);
    if (!status && !all.nbytes)
        status = gi_fail(err, GI_E_FORMAT, "is empty, want an image");
    if (status)
        free(all.at);
    else
        *source = (struct gi_source){.bytes = all.at, .nbytes = all.nbytes, .guard = -1};
    return status;
}

void gi_source_forget(const unsigned char *bytes, size_t nbytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)bytes;
    for (int i = 0; i < GUARDS; i++) {
        uintptr_t base = atomic_load(&guards[i].base);
        if (!base || from < base || from + nbytes > base + atomic_load(&guards[i].nbytes))
            continue;
        size_t skip = (size_t)((page - from % page) % page);
        size_t whole = nbytes > skip ? (nbytes - skip) / page * page : 0;
        if (whole)
            madvise((void *)(bytes + skip), whole, MADV_DONTNEED);
        return;
    }
}

enum gi_status gi_source_close(struct gi_source *source, struct gi_err *err)
{
    if (source->guard < 0) {
        free((void *)source->bytes);
        return GI_OK;
    }
    struct guard *guard = &guards[source->guard];
    bool faulted = atomic_load(&guard->faulted);
    enum gi_status status = check_unchanged(source->fd, source->nbytes, &source->changed, err);
    close(source->fd);
    atomic_store(&guard->nbytes, 0);
    atomic_store(&guard->base, 0);
    munmap((void *)source->bytes, source->nbytes);
    return faulted ? gi_fail(err, GI_E_IO, "the file shrank while it was read") : status;
}
