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

#include "imgio/coded.h"
#include "imgio/small.h"

enum {
    /* smaller files are read by read(), which is as fast and causes no SIGBUS */
    MAP_FROM_NBYTES = 1 << 20,
    READ_NBYTES = 256 << 10, /* of a pipe at a time */
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
    *source = (struct gi_source){
        .bytes = bytes, .nbytes = nbytes, .guard = guard, .fd = own, .changed = st->st_mtim};
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

static void free_buffer(const struct gi_source *source)
{
    void *buffer = (void *)(uintptr_t)source->bytes;
    if (source->allocator)
        source->allocator->free(source->allocator->self, buffer);
    else
        free(buffer);
}

/* Makes a source with a buffer for `nbytes` bytes, in memory of the allocator if there is any left.
 * A list of the chunks of a PNG has room behind the file if they have 2 KiB or more. */
static bool make_buffer(struct gi_source *source, size_t nbytes,
                        const struct gi_allocator *allocator)
{
    size_t room = gi_coded_room(nbytes + nbytes / 256);
    void *buffer = allocator ? allocator->alloc(allocator->self, room) : NULL;
    *source = (struct gi_source){.bytes = buffer, .guard = -1};
    if (buffer) {
        source->allocator = allocator;
        source->room = room;
    } else {
        source->bytes = malloc(nbytes);
    }
    return source->bytes;
}

/* Reads the `nbytes` bytes from position `at` of a file on. Its position stays, so that standard
 * input can be read again. `allocator` may be NULL. */
static enum gi_status read_file(struct gi_source *source, int fd, off_t at, size_t nbytes,
                                const struct gi_allocator *allocator, struct gi_err *err)
{
    /* One byte more than expected shows that the file grows. */
    size_t used = 0, room = nbytes + 1;
    if (!make_buffer(source, room, allocator))
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu bytes of input", room);
    unsigned char *buffer = (unsigned char *)(uintptr_t)source->bytes;
    for (ssize_t n = 1; n && used < room;) {
        n = pread(fd, buffer + used, room - used, at + (off_t)used);
        if (n < 0 && errno != EINTR) {
            int why = errno;
            free_buffer(source);
            return gi_fail(err, gi_status_of_errno(why), "%s", strerror(why));
        }
        used += n > 0 ? (size_t)n : 0;
    }
    source->nbytes = used;
    return GI_OK;
}

/* Makes a source of all bytes of an input, and frees the buffer. */
static enum gi_status own_buffer(struct gi_source *source, struct gi_buffer *all,
                                 struct gi_err *err)
{
    struct stat st;
    int fd = gi_buffer_file(all);
    if (fd >= 0 && !fstat(fd, &st) && map_file(source, fd, &st)) {
        gi_buffer_free(all);
        return GI_OK;
    }
    enum gi_status status = gi_buffer_take_back(all, err);
    *source = (struct gi_source){.bytes = all->at, .nbytes = all->nbytes, .guard = -1};
    return status;
}

/* Reads a pipe to its end. `choose` may end the reading after the first bytes. */
static enum gi_status read_pipe(struct gi_source *source, int fd, const struct gi_limits *limits,
                                gi_source_chooser *choose, struct gi_err *err)
{
    struct gi_buffer all = gi_buffer_spilling(GI_BUFFER_SPILLS_FROM_NBYTES);
    unsigned char *piece = gi_small_alloc(READ_NBYTES);
    enum gi_status status = GI_OK;
    gi_pipe_widen(fd);
    for (ssize_t n = 1; n && !status;) {
        n = gi_input_wait(fd) ? read(fd, piece, READ_NBYTES) : -2;
        if (n == -1 && errno == EINTR)
            continue;
        int why = n == -2 ? EINTR : errno;
        bool start = choose && all.nbytes < GI_SOURCE_HEAD;
        status = n < 0 ? gi_fail(err, gi_status_of_errno(why), "%s", strerror(why))
                       : gi_buffer_append(&all, piece, (size_t)n, err);
        if (!status && start && all.nbytes >= GI_SOURCE_HEAD &&
            choose(all.at, all.nbytes, false) == GI_SOURCE_STOP)
            break;
        if (!status && all.nbytes > limits->max_bytes)
            status = too_long(limits, err);
    }
    free(piece);
    if (!status)
        status = own_buffer(source, &all, err);
    else
        gi_buffer_free(&all);
    return status;
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
    bool keeps = way == GI_SOURCE_KEEP && options->coded && st->st_size <= GI_CODED_FILE_NBYTES;
    enum gi_status status =
        read_file(source, fd, at, (size_t)st->st_size, keeps ? options->allocator : NULL, err);
    if (!status && (status = check_unchanged(fd, (size_t)st->st_size, &st->st_mtim, err)))
        free_buffer(source);
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
                                    : read_pipe(source, fd, &options->limits, choose, err);
    if (status || source->nbytes)
        return status;
    free_buffer(source);
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

struct gi_whole {
    struct gi_source source;
};

void gi_ahead_free(struct gi_ahead **ahead)
{
    if (!*ahead)
        return;
    gi_buffer_free(&(*ahead)->bytes);
    gi_reader_close(&(*ahead)->reader);
    if ((*ahead)->whole)
        gi_source_close(&(*ahead)->whole->source, NULL);
    free((*ahead)->whole);
    free(*ahead);
    *ahead = NULL;
}

/* Reads the rest of an input. Frees the buffer after an error. */
static enum gi_status read_rest(struct gi_source *source, struct gi_ahead *ahead,
                                const struct gi_limits *limits, gi_source_chooser *choose,
                                struct gi_err *err)
{
    struct gi_buffer *all = &ahead->bytes;
    struct gi_err fault;
    size_t got = 1;
    enum gi_status status = GI_OK;
    bool chosen = !choose;
    if (!all->spill && !all->at)
        *all = gi_buffer_spilling(GI_BUFFER_SPILLS_FROM_NBYTES);
    while (!status && got) {
        if (!chosen && all->nbytes >= GI_SOURCE_HEAD) {
            chosen = true;
            if (choose(all->at, all->nbytes, false) == GI_SOURCE_STOP)
                break;
        }
        status = gi_reader_append(ahead->reader, all, all->nbytes / 2 + READ_NBYTES, &got, &fault);
        if (status)
            gi_fail(err, status, "%s", status == GI_E_MEMORY ? fault.text : "read error");
        else if (all->nbytes > limits->max_bytes)
            status = too_long(limits, err);
    }
    if (!status && !all->nbytes)
        status = gi_fail(err, GI_E_FORMAT, "is empty, want an image");
    if (!status)
        return own_buffer(source, all, err);
    gi_buffer_free(all);
    return status;
}

enum gi_status gi_ahead_complete(struct gi_ahead *ahead, const void **bytes, size_t *nbytes,
                                 const struct gi_limits *limits, gi_source_chooser *choose,
                                 struct gi_err *err)
{
    if (!ahead->whole && !ahead->fault.status) {
        ahead->whole = gi_small_calloc(1, sizeof *ahead->whole);
        if (read_rest(&ahead->whole->source, ahead, limits, choose, &ahead->fault)) {
            free(ahead->whole);
            ahead->whole = NULL;
        } else {
            ahead->bytes = (struct gi_buffer){0};
        }
    }
    if (ahead->fault.status && err)
        *err = ahead->fault;
    *bytes = ahead->whole ? ahead->whole->source.bytes : NULL;
    *nbytes = ahead->whole ? ahead->whole->source.nbytes : 0;
    return ahead->fault.status;
}

enum gi_status gi_source_continue(struct gi_source *source, struct gi_ahead *ahead,
                                  const struct gi_load_options *options, gi_source_chooser *choose,
                                  struct gi_err *err)
{
    const void *bytes;
    size_t nbytes;
    enum gi_status status =
        gi_ahead_complete(ahead, &bytes, &nbytes, &options->limits, choose, err);
    gi_reader_close(&ahead->reader);
    if (!status)
        *source = ahead->whole->source;
    free(ahead->whole);
    ahead->whole = NULL;
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
        free_buffer(source);
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
