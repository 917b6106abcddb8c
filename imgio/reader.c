/* Reads an input from beginning to end. Long reads go directly to the caller's memory.
 * SPDX-License-Identifier: MIT */
#include "imgio/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "imgio/small.h"

/* The maximum for unprivileged processes on Linux (/proc/sys/fs/pipe-max-size). With the usual 64
 * KiB, the processes at both ends of a pipe would wake 16 times as often. */
enum { PIPE_NBYTES = 1 << 20 };

enum {
    PASSED_NBYTES = 16 << 10,    /* length of the first read after a pass, doubled repeatedly */
    PREFETCH_NBYTES = 32u << 20, /* maximum that the system is asked to read ahead after passes */
};

struct gi_reader {
    char *name;
    int fd;
    bool ended, is_file;
    const atomic_bool *cancelled;   /* NULL: nothing cancels it */
    uint64_t start;                 /* position in the file at which the reader began */
    uint64_t length;                /* of the file when it was looked up last; 0: never */
    uint64_t advised;               /* end of the part of the file that the system reads ahead */
    size_t step;                    /* maximum length of the next read for a peek */
    struct gi_reader_growth growth; /* {0} unless another process still writes the file */
    size_t from, to;                /* visible range of buffer */
    unsigned long long taken;       /* bytes read from the descriptor */
    unsigned char buffer[GI_READER_AHEAD];
};

static bool (*stops)(void); /* NULL if nothing stops a wait */

int gi_pipe_widen(int fd)
{
    fcntl(fd, F_SETPIPE_SZ, PIPE_NBYTES);
    return fd;
}

static enum gi_status fail(const struct gi_reader *reader, int why, struct gi_err *err)
{
    return gi_fail(err, gi_status_of_errno(why), "%s: %s", reader->name, strerror(why));
}

void gi_input_heed(bool (*asks)(void))
{
    stops = asks;
}

/* Returns whether reading shall end. `cancelled` may be NULL. */
static bool is_over(const atomic_bool *cancelled)
{
    return (stops && stops()) || (cancelled && *cancelled);
}

static bool wait_for(int fd, const atomic_bool *cancelled)
{
    enum { ASK_MS = 200 };
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    while ((stops || cancelled) && poll(&entry, 1, ASK_MS) <= 0)
        if (is_over(cancelled))
            return false;
    return true;
}

bool gi_input_wait(int fd)
{
    return wait_for(fd, NULL);
}

int gi_input_open(const char *path)
{
    struct stat st;
    int fd;
    /* The opening of a pipe would wait for the pipe's other end, and the callback can't be called
     * during that wait. */
    bool pipe = stops && !stat(path, &st) && S_ISFIFO(st.st_mode);
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | (pipe ? O_NONBLOCK : 0));
    while (fd < 0 && errno == EINTR);
    if (fd >= 0 && pipe) {
        if (gi_input_wait(fd) && !fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK))
            return fd;
        close(fd);
        errno = EINTR;
        return -1;
    }
    return fd;
}

/* Makes a reader, whose buffer is not initialised, so that it takes only the memory that is used.
 */
static struct gi_reader *new_reader(const char *name, int fd)
{
    struct gi_reader *reader = gi_small_alloc(sizeof *reader);
    reader->name = gi_small_copy(name);
    reader->fd = fd;
    reader->ended = reader->is_file = false;
    reader->cancelled = NULL;
    reader->start = reader->length = reader->advised = 0;
    reader->step = sizeof reader->buffer;
    reader->growth = (struct gi_reader_growth){0};
    reader->from = reader->to = 0;
    reader->taken = 0;
    return reader;
}

void gi_reader_open_growing(struct gi_reader **out, const char *name, int fd,
                            const struct gi_reader_growth *growth)
{
    *out = new_reader(name, fd);
    (*out)->growth = *growth;
    (*out)->is_file = true;
}

enum gi_status gi_reader_open(struct gi_reader **out, const char *path, struct gi_err *err)
{
    *out = NULL;
    struct gi_reader *reader = new_reader(strcmp(path, "-") == 0 ? "standard input" : path, -1);
    const char *name = reader->name;
    reader->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : gi_input_open(path);
    struct stat st;
    enum gi_status status = GI_OK;
    if (reader->fd < 0 || fstat(reader->fd, &st))
        status = fail(reader, errno, err);
    else if (S_ISDIR(st.st_mode))
        status = gi_fail(err, GI_E_IO, "%s: is a directory, want a file", name);
    else if (S_ISFIFO(st.st_mode))
        gi_pipe_widen(reader->fd);
    else if (S_ISREG(st.st_mode)) {
        off_t at = lseek(reader->fd, 0, SEEK_CUR);
        reader->is_file = at >= 0;
        reader->start = at >= 0 ? (uint64_t)at : 0;
        posix_fadvise(reader->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    *out = reader;
    if (status)
        gi_reader_close(out);
    return status;
}

void gi_reader_cancel_by(struct gi_reader *reader, const atomic_bool *cancelled)
{
    reader->cancelled = cancelled;
}

void gi_reader_close(struct gi_reader **out)
{
    struct gi_reader *reader = *out;
    *out = NULL;
    if (!reader)
        return;
    if (reader->fd > STDIN_FILENO)
        close(reader->fd);
    free(reader->name);
    free(reader);
}

const char *gi_reader_name(const struct gi_reader *reader)
{
    return reader->name;
}

unsigned long long gi_reader_at(const struct gi_reader *reader)
{
    return reader->taken - (reader->to - reader->from);
}

/* Reads up to `nbytes` bytes of a file that another process writes. Waits for them until the file
 * is complete. *got is 0 only at its end. */
static enum gi_status take_growing(struct gi_reader *reader, void *to, size_t nbytes, size_t *got,
                                   struct gi_err *err)
{
    enum { ASK_MS = 5 };
    const struct gi_reader_growth *growth = &reader->growth;
    for (*got = 0; !reader->ended && !*got;) {
        bool ended = false; /* asked first: bytes may come between the two calls */
        enum gi_status status = growth->has_ended(growth->arg, &ended, err);
        if (status)
            return status;
        ssize_t n = pread(reader->fd, to, nbytes, (off_t)reader->taken);
        if (n < 0 && errno != EINTR)
            return fail(reader, errno, err);
        if (n == 0 && is_over(reader->cancelled))
            return gi_fail(err, GI_E_IO, "%s", "");
        if (n == 0 && !ended)
            nanosleep(&(struct timespec){.tv_nsec = ASK_MS * 1000000L}, NULL);
        reader->ended = n == 0 && ended;
        *got = n > 0 ? (size_t)n : 0;
    }
    reader->taken += *got;
    return GI_OK;
}

/* Calls read() once, for up to `nbytes` bytes. *got is 0 only at the end of the input. */
static enum gi_status take(struct gi_reader *reader, void *to, size_t nbytes, size_t *got,
                           struct gi_err *err)
{
    ssize_t n = 0;
    *got = 0;
    if (reader->growth.has_ended)
        return take_growing(reader, to, nbytes, got, err);
    if (!reader->ended && !reader->is_file && !wait_for(reader->fd, reader->cancelled))
        return gi_fail(err, GI_E_IO, "%s", "");
    if (!reader->ended)
        do
            n = read(reader->fd, to, nbytes);
        while (n < 0 && errno == EINTR);
    *got = n > 0 ? (size_t)n : 0;
    /* the end is final, although a terminal could have more bytes after its end */
    reader->ended = n == 0;
    reader->taken += *got;
    return n < 0 ? fail(reader, errno, err) : GI_OK;
}

enum gi_status gi_reader_peek(struct gi_reader *reader, const unsigned char **bytes, size_t *nbytes,
                              size_t least, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (reader->to - reader->from < least && reader->from) {
        memmove(reader->buffer, reader->buffer + reader->from, reader->to - reader->from);
        reader->to -= reader->from;
        reader->from = 0;
    }
    while (!status && !reader->ended && reader->to - reader->from < least) {
        size_t got, room = sizeof reader->buffer - reader->to;
        size_t want = least > reader->step ? least : reader->step;
        status = take(reader, reader->buffer + reader->to, want < room ? want : room, &got, err);
        reader->to += got;
        if (reader->step < sizeof reader->buffer)
            reader->step *= 2;
    }
    *bytes = reader->buffer + reader->from;
    *nbytes = reader->to - reader->from;
    return status;
}

void gi_reader_skip(struct gi_reader *reader, size_t nbytes)
{
    reader->from += nbytes;
}

bool gi_reader_file(const struct gi_reader *reader, int *fd, uint64_t *at)
{
    *fd = reader->fd;
    *at = reader->start + gi_reader_at(reader);
    return reader->is_file;
}

/* Asks the system to read the file ahead of the position `at`, farther than it does itself. (Passes
 * look to it like random reads, for which it does not read ahead.) */
static void prefetch(struct gi_reader *reader, uint64_t at)
{
    if (reader->advised >= at + PREFETCH_NBYTES / 2)
        return;
    uint64_t from = reader->advised > at ? reader->advised : at;
    reader->advised = at + PREFETCH_NBYTES;
    posix_fadvise(reader->fd, (off_t)from, (off_t)(reader->advised - from), POSIX_FADV_WILLNEED);
}

uint64_t gi_reader_pass(struct gi_reader *reader, uint64_t nbytes)
{
    struct stat st;
    uint64_t at = reader->start + reader->taken, end;
    if (!reader->is_file || nbytes < PASSED_NBYTES || __builtin_add_overflow(at, nbytes, &end))
        return 0;
    if (end > reader->length && !fstat(reader->fd, &st)) /* it may have grown */
        reader->length = (uint64_t)st.st_size;
    if (at >= reader->length)
        return 0;
    if (end > reader->length)
        nbytes = reader->length - at;
    if (!reader->growth.has_ended && lseek(reader->fd, (off_t)nbytes, SEEK_CUR) < 0)
        return 0;
    reader->taken += nbytes;
    reader->step = PASSED_NBYTES;
    prefetch(reader, at + nbytes);
    return nbytes;
}

enum gi_status gi_reader_glance(const struct gi_reader *reader, void *to, size_t nbytes,
                                uint64_t ahead, size_t *got, struct gi_err *err)
{
    off_t at = lseek(reader->fd, 0, SEEK_CUR);
    uint64_t before = reader->to - reader->from; /* bytes taken from the descriptor alone */
    ssize_t n = -1;
    *got = 0;
    if (at >= 0 && ahead > INT64_MAX / 2) /* beyond the length of any file */
        return GI_OK;
    if (at >= 0)
        do
            n = pread(reader->fd, to, nbytes, at + (off_t)ahead - (off_t)before);
        while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail(reader, errno, err);
    *got = (size_t)n;
    return GI_OK;
}

enum gi_status gi_reader_read(struct gi_reader *reader, void *to, size_t nbytes, size_t *got,
                              struct gi_err *err)
{
    enum gi_status status = GI_OK;
    unsigned char *at = to;
    size_t left = nbytes;
    while (left && !status) {
        size_t n = reader->to - reader->from;
        const unsigned char *ahead;
        if (!n && left >= sizeof reader->buffer) {
            status = take(reader, at, left, &n, err);
        } else {
            status = gi_reader_peek(reader, &ahead, &n, 1, err);
            n = n < left ? n : left;
            memcpy(at, ahead, n);
            gi_reader_skip(reader, n);
        }
        if (!n)
            break;
        at += n;
        left -= n;
    }
    *got = nbytes - left;
    return status;
}

enum gi_status gi_reader_read_some(struct gi_reader *reader, void *to, size_t nbytes, size_t *got,
                                   struct gi_err *err)
{
    size_t n = reader->to - reader->from;
    if (!n && reader->is_file)
        prefetch(reader, reader->start + reader->taken);
    if (!n)
        return take(reader, to, nbytes, got, err);
    *got = n < nbytes ? n : nbytes;
    memcpy(to, reader->buffer + reader->from, *got);
    gi_reader_skip(reader, *got);
    return GI_OK;
}

enum gi_status gi_reader_append(struct gi_reader *reader, struct gi_buffer *buffer, size_t nbytes,
                                size_t *got, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    *got = 0;
    if (!buffer->spill) {
        status = gi_buffer_reserve(buffer, nbytes, err);
        if (!status)
            status = gi_reader_read(reader, buffer->at + buffer->nbytes, nbytes, got, err);
        buffer->nbytes += status ? 0 : *got;
        return status;
    }
    for (size_t n = 1; *got < nbytes && n && !status; *got += n) {
        const unsigned char *bytes;
        status = gi_reader_peek(reader, &bytes, &n, 1, err);
        n = n < nbytes - *got ? n : nbytes - *got;
        if (!status)
            status = gi_buffer_append(buffer, bytes, n, err);
        gi_reader_skip(reader, n);
    }
    return status;
}
