/* Output that is complete or absent. Output is written to an unnamed file (O_TMPFILE) if the system
 * has such files, otherwise to a temporary file in the folder of the target. Finally the file is
 * linked or renamed to its target.
 * SPDX-License-Identifier: MIT */
#include "imgio/reader.h"
#include "imgio/sink.h"
#include "imgio/small.h"
#include "imgio/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static enum gi_status sink_fail(struct gi_sink *sink, int why, struct gi_err *err)
{
    sink->failed = true;
    return gi_fail(err, gi_status_of_errno(why), "%s: %s", sink->name, strerror(why));
}

enum gi_status gi_sink_status_of(int why)
{
    return why == ENOENT ? GI_E_AGAIN : gi_status_of_errno(why);
}

static enum gi_status place_fail(struct gi_sink *sink, int why, struct gi_err *err)
{
    sink->failed = true;
    return gi_fail(err, gi_sink_status_of(why), "%s: %s", sink->name, strerror(why));
}

/* Frees the temporary name and sets it to NULL. With `remove_it`, also removes the file. */
static void forget_temporary(struct gi_sink *sink, bool remove_it)
{
    if (!sink->temporary)
        return;
    if (remove_it)
        unlink(sink->temporary);
    gi_temporary_forget(&sink->temporary);
}

/* Creates and locks the temporary file, so that gi_sink_clear_dead() in other processes does not
 * remove it. If another process removed the file before it was locked, the name counts as taken. */
static int make_open(void *arg, const char *name)
{
    struct gi_sink *sink = arg;
    struct stat st;
    sink->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (sink->fd < 0)
        return -1;
    /* flock() may fail on file systems without locks, where gi_sink_clear_dead() removes nothing */
    flock(sink->fd, LOCK_EX);
    if (fstat(sink->fd, &st) || st.st_nlink > 0)
        return 0;
    close(sink->fd);
    sink->fd = -1;
    errno = EEXIST;
    return -1;
}

/* Links the open file to `name`. */
static int make_link(void *arg, const char *name)
{
    const struct gi_sink *sink = arg;
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", sink->fd);
    flock(sink->fd, LOCK_EX);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int open_unnamed(const char *target)
{
    char *folder = gi_path_folder(target);
    /* Without /proc an unnamed file can't get a name. */
    int fd = access("/proc/self/fd", X_OK) == 0 ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666)
                                                : -1;
    free(folder);
    return fd;
}

/* Gives the file a temporary name in the folder of its target. Returns 0 or errno. */
static int name_temporary(struct gi_sink *sink, gi_make_fn *make)
{
    sink->temporary = gi_temporary_make(sink->target, true, make, sink);
    return sink->temporary ? 0 : errno;
}

/* Opens the file that will appear at `path`. Returns 0 or errno. */
static int open_target(struct gi_sink *sink, const char *path)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return EISDIR;
    if (exists && !S_ISREG(st.st_mode)) {
        sink->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return sink->fd < 0 ? errno : 0;
    }
    if (exists && sink->no_clobber)
        return EEXIST;
    /* The folder's permissions would allow the replacement, but a read-only file is not
     * replaced. */
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
        return errno;
    sink->mode = exists ? (int)(st.st_mode & 07777) : -1;
    if (exists) {
        sink->owner = st.st_uid;
        sink->group = st.st_gid;
        sink->links = st.st_nlink;
    }
    sink->target = gi_path_resolve(path);
    if (!sink->target)
        return errno;
    if (!*sink->target)
        return ENOENT;
    sink->fd = open_unnamed(sink->target);
    return sink->fd >= 0 ? 0 : name_temporary(sink, make_open);
}

/* Makes a sink without an open file. The sink's buffer is not initialised, so that it takes only
 * the memory that is used. */
static struct gi_sink *new_sink(const char *name)
{
    struct gi_sink *sink = gi_small_calloc(1, sizeof *sink);
    sink->buffer = gi_small_alloc(GI_SINK_NBYTES);
    sink->name = gi_small_copy(name);
    sink->fd = sink->lock = sink->mode = -1;
    return sink;
}

enum gi_status gi_sink_open_memory(struct gi_sink **out, const char *name, struct gi_err *err)
{
    *out = new_sink(name);
    (*out)->in_memory = true;
    return GI_OK;
}

void gi_sink_open_fd(struct gi_sink **out, const char *name, int fd)
{
    *out = new_sink(name);
    (*out)->fd = fd;
}

enum gi_status gi_sink_open_as(struct gi_sink **out, const char *name_words, const char *path,
                               bool no_clobber, struct gi_err *err)
{
    struct gi_sink *sink = new_sink(name_words);
    *out = NULL;
    sink->standard = strcmp(path, "-") == 0;
    sink->no_clobber = no_clobber;
    if (sink->standard)
        sink->fd = gi_pipe_widen(STDOUT_FILENO);
    int why = sink->standard ? 0 : open_target(sink, path);
    if (why) {
        gi_sink_abandon(&sink);
        return gi_path_fail(name_words, path, why, err);
    }
    *out = sink;
    return GI_OK;
}

enum gi_status gi_sink_open(struct gi_sink **sink, const char *path, bool no_clobber,
                            struct gi_err *err)
{
    const char *name = strcmp(path, "-") == 0 ? "standard output" : path;
    return gi_sink_open_as(sink, name, path, no_clobber, err);
}

unsigned long gi_sink_other_links(const struct gi_sink *sink)
{
    return sink->links > 1 ? sink->links - 1 : 0;
}

bool gi_sink_is_file(const struct gi_sink *sink)
{
    return sink->target != NULL;
}

static enum gi_status gather(struct gi_sink *sink, const unsigned char *bytes, size_t nbytes,
                             struct gi_err *err)
{
    if (nbytes > sink->room - sink->nbytes) {
        size_t room = sink->nbytes + nbytes;
        room += sink->nbytes ? room / 2 : 0; /* the first piece may be the only piece */
        unsigned char *grown = realloc(sink->bytes, room);
        if (!grown)
            return sink_fail(sink, ENOMEM, err);
        sink->bytes = grown;
        sink->room = room;
    }
    memcpy(sink->bytes + sink->nbytes, bytes, nbytes);
    sink->nbytes += nbytes;
    return GI_OK;
}

static enum gi_status write_through(struct gi_sink *sink, const unsigned char *bytes, size_t nbytes,
                                    struct gi_err *err)
{
    if (sink->in_memory && nbytes)
        return gather(sink, bytes, nbytes, err);
    while (nbytes) {
        ssize_t n = write(sink->fd, bytes, nbytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return sink_fail(sink, errno, err);
        bytes += n;
        nbytes -= (size_t)n;
    }
    return GI_OK;
}

static enum gi_status flush(struct gi_sink *sink, struct gi_err *err)
{
    size_t used = sink->used;
    sink->used = 0;
    return write_through(sink, sink->buffer, used, err);
}

enum gi_status gi_sink_write(struct gi_sink *sink, const void *bytes, size_t nbytes,
                             struct gi_err *err)
{
    if (sink->failed)
        return GI_E_IO;
    if (nbytes > GI_SINK_NBYTES - sink->used) {
        enum gi_status status = flush(sink, err);
        if (status)
            return status;
        if (nbytes >= GI_SINK_NBYTES)
            return write_through(sink, bytes, nbytes, err);
    }
    memcpy(sink->buffer + sink->used, bytes, nbytes);
    sink->used += nbytes;
    return GI_OK;
}

enum gi_status gi_sink_write_buffer(struct gi_sink *sink, const struct gi_buffer *buffer,
                                    struct gi_err *err)
{
    enum { PIECE_NBYTES = 4 << 20 };
    enum gi_status status = GI_OK;
    for (size_t at = 0, n; at < buffer->nbytes && !status; at += n) {
        n = buffer->nbytes - at < PIECE_NBYTES ? buffer->nbytes - at : PIECE_NBYTES;
        status = gi_sink_write(sink, buffer->at + at, n, err);
        gi_buffer_forget(buffer);
    }
    return status;
}

enum gi_status gi_sink_flush(struct gi_sink *sink, struct gi_err *err)
{
    return sink->failed ? GI_E_IO : flush(sink, err);
}

enum gi_status gi_sink_printf(struct gi_sink *sink, struct gi_err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = gi_small_vformat(format, args);
    va_end(args);
    enum gi_status status = gi_sink_write(sink, text, strlen(text), err);
    free(text);
    return status;
}

bool gi_sink_can_patch(const struct gi_sink *sink)
{
    return sink->in_memory || sink->target;
}

enum gi_status gi_sink_read_at(struct gi_sink *sink, void *to, size_t nbytes, uint64_t at,
                               struct gi_err *err)
{
    enum gi_status status = gi_sink_flush(sink, err);
    if (!status && sink->in_memory)
        memcpy(to, sink->bytes + at, nbytes);
    for (char *next = to; nbytes && !status && !sink->in_memory;) {
        ssize_t n = pread(sink->fd, next, nbytes, (off_t)at);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return sink_fail(sink, n ? errno : EIO, err);
        next += n > 0 ? n : 0;
        at += n > 0 ? (uint64_t)n : 0;
        nbytes -= n > 0 ? (size_t)n : 0;
    }
    return status;
}

enum gi_status gi_sink_patch(struct gi_sink *sink, const void *bytes, size_t nbytes, uint64_t at,
                             struct gi_err *err)
{
    enum gi_status status = gi_sink_flush(sink, err);
    if (!status && sink->in_memory)
        memcpy(sink->bytes + at, bytes, nbytes);
    for (const char *next = bytes; nbytes && !status && !sink->in_memory;) {
        ssize_t n = pwrite(sink->fd, next, nbytes, (off_t)at);
        if (n < 0 && errno != EINTR)
            return sink_fail(sink, errno, err);
        next += n > 0 ? n : 0;
        at += n > 0 ? (uint64_t)n : 0;
        nbytes -= n > 0 ? (size_t)n : 0;
    }
    return status;
}

static int close_fd(struct gi_sink *sink)
{
    int fd = sink->standard ? -1 : sink->fd;
    sink->fd = -1;
    return fd >= 0 && close(fd) && errno != EINTR ? errno : 0;
}

/* Copies the owner and permissions of the older file. If the process may not change the owner, the
 * new file keeps the process's user as its owner. Returns 0 or errno. */
static int keep_rights(struct gi_sink *sink)
{
    struct stat st;
    if (sink->mode < 0)
        return 0;
    if (fstat(sink->fd, &st))
        return errno;
    if ((st.st_uid != sink->owner || st.st_gid != sink->group) &&
        fchown(sink->fd, sink->owner, sink->group) && errno != EPERM && errno != EINVAL)
        return errno;
    return fchmod(sink->fd, (mode_t)sink->mode) ? errno : 0;
}

/* Finishes the file, except for the move to its target. A file that is committed without others
 * (`alone`) and replaces nothing is linked to its target here. Returns 0 or errno. */
static int prepare(struct gi_sink *sink, bool durable, bool alone)
{
    int why = sink->target ? keep_rights(sink) : 0;
    if (why)
        return why;
    /* Pipes and terminals can't be synced: EINVAL. */
    if (durable && fsync(sink->fd) && errno != EINVAL && errno != EROFS)
        return errno;
    if (sink->target && !sink->temporary) {
        /* A link can't replace an older file. */
        if (alone && (sink->mode < 0 || sink->no_clobber)) {
            sink->in_place = make_link(sink, sink->target) == 0;
            if (!sink->in_place && (errno != EEXIST || sink->no_clobber))
                return errno;
        }
        why = sink->in_place ? 0 : name_temporary(sink, make_link);
    }
    if (sink->temporary) /* close() may fail; the lock remains until the file has its name */
        sink->lock = fcntl(sink->fd, F_DUPFD_CLOEXEC, 0);
    why = why ? why : close_fd(sink);
    if (why && sink->in_place)
        unlink(sink->target);
    return why;
}

enum gi_status gi_sink_prepare(struct gi_sink *sink, bool durable, bool alone, struct gi_err *err)
{
    enum gi_status status =
        sink->failed ? gi_fail(err, GI_E_IO, "%s: was not written", sink->name) : flush(sink, err);
    int why = status ? 0 : prepare(sink, durable, alone);
    free(sink->buffer);
    sink->buffer = NULL;
    return why ? place_fail(sink, why, err) : status;
}

void gi_sink_unlock(struct gi_sink *sink)
{
    if (sink->lock >= 0)
        close(sink->lock);
    sink->lock = -1;
}

enum gi_status gi_sink_commit(struct gi_sink **sink, bool durable, struct gi_err *err)
{
    struct gi_sink *s = *sink;
    enum gi_status status = gi_sink_prepare(s, durable, true, err);
    if (!status && s->temporary) {
        int why = gi_temporary_move(s->temporary, s->target, s->no_clobber);
        if (why)
            status = place_fail(s, why, err);
        else
            forget_temporary(s, false);
    }
    if (!status && s->target && durable)
        gi_path_sync(s->target);
    gi_sink_abandon(sink);
    return status;
}

enum gi_status gi_sink_take(struct gi_sink **sink, void **bytes, size_t *nbytes, struct gi_err *err)
{
    struct gi_sink *s = *sink;
    enum gi_status status =
        s->failed ? gi_fail(err, GI_E_IO, "%s: was not written", s->name) : flush(s, err);
    if (!status) {
        *bytes = s->bytes;
        *nbytes = s->nbytes;
        s->bytes = NULL;
    }
    gi_sink_abandon(sink);
    return status;
}

void gi_sink_abandon(struct gi_sink **sink)
{
    struct gi_sink *s = *sink;
    if (!s)
        return;
    close_fd(s);
    forget_temporary(s, true);
    gi_sink_unlock(s);
    free(s->target);
    free(s->buffer);
    free(s->bytes);
    free(s->name);
    free(s);
    *sink = NULL;
}
