/* Output that is whole or not there: an unnamed file (O_TMPFILE) where the system has them, else a
 * temporary beside the target, linked or renamed into place at the end.
 * SPDX-License-Identifier: MIT */
#include "imgio/imgio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_NBYTES = 1 << 20,
    NAME_TRIES = 100,
    TEMPORARIES =
        64, /* names that a signal handler knows of; more sinks than that are not cleaned */
};

struct gi_sink {
    char *name;   /* as the caller gave it, for messages */
    char *target; /* what comes to stand there, symbolic links resolved; NULL: written directly */
    char *temporary; /* NULL while the file has no name */
    int fd;
    int mode;    /* permissions of the older file, kept; -1: there is none */
    uid_t owner; /* of the older file, kept where the system allows it */
    gid_t group;
    nlink_t links;                     /* names of the older file */
    bool standard, no_clobber, failed; /* standard: `fd` is standard output, and stays open */
    size_t used;
    unsigned char buffer[BUFFER_NBYTES];
};

/* A signal handler can be told nothing, so the names that it must remove are global. */
static _Atomic(const char *) temporaries[TEMPORARIES];

void gi_sink_signal_cleanup(void)
{
    int saved = errno;
    for (int i = 0; i < TEMPORARIES; i++) {
        const char *name = atomic_load(&temporaries[i]);
        if (name)
            unlink(name);
    }
    errno = saved;
}

static void replace_name(const char *from, const char *to)
{
    for (int i = 0; i < TEMPORARIES; i++) {
        const char *expected = from;
        if (atomic_compare_exchange_strong(&temporaries[i], &expected, to))
            return;
    }
}

static enum gi_status sink_fail(struct gi_sink *sink, int why, struct gi_err *err)
{
    sink->failed = true;
    return gi_fail(err, why == EPIPE ? GI_E_PIPE : GI_E_IO, "%s: %s", sink->name, strerror(why));
}

/* Nulls; `unlink_it`: also from the disk. */
static void forget_temporary(struct gi_sink *sink, bool unlink_it)
{
    if (!sink->temporary)
        return;
    if (unlink_it)
        unlink(sink->temporary);
    replace_name(sink->temporary, NULL);
    free(sink->temporary);
    sink->temporary = NULL;
}

/* Gives the sink a fresh name beside its target by make(), which fails with EEXIST where the name
 * is taken. Returns 0 or errno. */
static int name_temporary(struct gi_sink *sink, int (*make)(struct gi_sink *sink, const char *name))
{
    const char *slash = strrchr(sink->target, '/');
    int folder = slash ? (int)(slash - sink->target) + 1 : 0;
    for (int i = 0; i < NAME_TRIES; i++) {
        unsigned long long word = 0;
        if (getrandom(&word, sizeof word, 0) != sizeof word)
            return errno;
        char *name;
        if (asprintf(&name, "%.*s.gpuimg-%016llx", folder, sink->target, word) < 0)
            return ENOMEM;
        replace_name(NULL, name); /* before it exists, so that no signal falls between */
        if (make(sink, name) == 0) {
            sink->temporary = name;
            return 0;
        }
        int why = errno;
        replace_name(name, NULL);
        free(name);
        if (why != EEXIST)
            return why;
    }
    return EEXIST;
}

static int make_open(struct gi_sink *sink, const char *name)
{
    sink->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return sink->fd < 0 ? -1 : 0;
}

/* Links the open file under `name`. */
static int make_link(struct gi_sink *sink, const char *name)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", sink->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* The file that `path` stands for, every symbolic link followed, also where the last one points to
 * nothing yet. Owned by the caller; NULL with errno. */
static char *resolve(const char *path)
{
    char *name = strdup(path);
    for (int links = 0; name; links++) {
        char to[PATH_MAX];
        ssize_t n = readlink(name, to, sizeof to - 1);
        if (n < 0)
            return name;
        to[n] = 0;
        const char *slash = strrchr(name, '/');
        int folder = to[0] != '/' && slash ? (int)(slash - name) + 1 : 0;
        char *next = NULL;
        if (links < 40 && asprintf(&next, "%.*s%s", folder, name, to) < 0)
            next = NULL;
        free(name);
        name = next;
        if (links >= 40)
            errno = ELOOP;
    }
    return NULL;
}

static int open_unnamed(const char *target)
{
    const char *slash = strrchr(target, '/');
    char *folder = slash ? strndup(target, (size_t)(slash - target) + 1) : strdup(".");
    /* Without /proc the file could not be given a name. */
    int fd = folder && access("/proc/self/fd", X_OK) == 0
                 ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)
                 : -1;
    free(folder);
    return fd;
}

/* Opens the file behind sink->name. Returns 0 or errno. */
static int open_target(struct gi_sink *sink)
{
    struct stat st;
    bool exists = stat(sink->name, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return EISDIR;
    if (exists && !S_ISREG(st.st_mode)) {
        sink->fd = open(sink->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return sink->fd < 0 ? errno : 0;
    }
    if (exists && sink->no_clobber)
        return EEXIST;
    /* The folder alone would allow the replacement, but a read-only file says no. */
    if (exists && faccessat(AT_FDCWD, sink->name, W_OK, AT_EACCESS))
        return errno;
    sink->mode = exists ? (int)(st.st_mode & 07777) : -1;
    if (exists) {
        sink->owner = st.st_uid;
        sink->group = st.st_gid;
        sink->links = st.st_nlink;
    }
    sink->target = resolve(sink->name);
    if (!sink->target)
        return errno;
    if (!*sink->target)
        return ENOENT;
    sink->fd = open_unnamed(sink->target);
    return sink->fd >= 0 ? 0 : name_temporary(sink, make_open);
}

enum gi_status gi_sink_open(struct gi_sink **out, const char *path, bool no_clobber,
                            struct gi_err *err)
{
    *out = NULL;
    struct gi_sink *sink = malloc(sizeof *sink);
    char *name = strdup(strcmp(path, "-") == 0 ? "standard output" : path);
    if (!sink || !name) {
        free(sink);
        free(name);
        return gi_fail(err, GI_E_MEMORY, "%s: out of memory", path);
    }
    sink->name = name;
    sink->target = sink->temporary = NULL;
    sink->fd = -1;
    sink->mode = -1;
    sink->links = 0;
    sink->standard = strcmp(path, "-") == 0;
    sink->no_clobber = no_clobber;
    sink->failed = false;
    sink->used = 0;
    if (sink->standard)
        sink->fd = STDOUT_FILENO;
    int why = sink->standard ? 0 : open_target(sink);
    if (why) {
        enum gi_status status = sink_fail(sink, why, err);
        gi_sink_abandon(&sink);
        return status;
    }
    *out = sink;
    return GI_OK;
}

unsigned long gi_sink_other_links(const struct gi_sink *sink)
{
    return sink->links > 1 ? sink->links - 1 : 0;
}

static enum gi_status write_through(struct gi_sink *sink, const unsigned char *bytes, size_t nbytes,
                                    struct gi_err *err)
{
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
    if (nbytes > BUFFER_NBYTES - sink->used) {
        enum gi_status status = flush(sink, err);
        if (status)
            return status;
        if (nbytes >= BUFFER_NBYTES)
            return write_through(sink, bytes, nbytes, err);
    }
    memcpy(sink->buffer + sink->used, bytes, nbytes);
    sink->used += nbytes;
    return GI_OK;
}

enum gi_status gi_sink_printf(struct gi_sink *sink, struct gi_err *err, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0) {
        sink->failed = true;
        return gi_fail(err, GI_E_MEMORY, "%s: out of memory", sink->name);
    }
    enum gi_status status = gi_sink_write(sink, text, (size_t)n, err);
    free(text);
    return status;
}

static int close_fd(struct gi_sink *sink)
{
    int fd = sink->standard ? -1 : sink->fd;
    sink->fd = -1;
    return fd >= 0 && close(fd) && errno != EINTR ? errno : 0;
}

/* An unnamed file gets its name: the target's, or, where an older file stands there that is to be
 * replaced, a temporary one, since a link never replaces. */
static int link_unnamed(struct gi_sink *sink, bool *done)
{
    *done = false;
    if (sink->mode < 0 || sink->no_clobber) {
        *done = make_link(sink, sink->target) == 0;
        if (*done || errno != EEXIST || sink->no_clobber)
            return *done ? 0 : errno;
    }
    return name_temporary(sink, make_link);
}

/* Moves the temporary to the target. Returns 0 or errno. */
static int move_temporary(struct gi_sink *sink)
{
    int failed;
    if (!sink->no_clobber) {
        failed = rename(sink->temporary, sink->target);
    } else {
        failed = renameat2(AT_FDCWD, sink->temporary, AT_FDCWD, sink->target, RENAME_NOREPLACE);
        if (failed && (errno == EINVAL || errno == ENOSYS)) {
            failed = link(sink->temporary, sink->target);
            if (!failed)
                unlink(sink->temporary);
        }
    }
    if (failed)
        return errno;
    forget_temporary(sink, false);
    return 0;
}

static void sync_folder(const char *target)
{
    const char *slash = strrchr(target, '/');
    char *folder = slash ? strndup(target, (size_t)(slash - target) + 1) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd); /* some file systems refuse it for folders; the file itself is safe */
        close(fd);
    }
    free(folder);
}

/* Owner and permissions of the older file. Who may not give files away keeps the new one. Returns 0
 * or errno. */
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

/* Returns 0 or errno. */
static int publish(struct gi_sink *sink, bool durable)
{
    bool unnamed = sink->target && !sink->temporary, done = false;
    int why = sink->target ? keep_rights(sink) : 0;
    if (why)
        return why;
    /* A pipe or a terminal can't be synced and says EINVAL. */
    if (durable && fsync(sink->fd) && errno != EINVAL && errno != EROFS)
        return errno;
    why = unnamed ? link_unnamed(sink, &done) : 0;
    if (!why)
        why = close_fd(sink);
    if (!why && sink->target && !done)
        why = move_temporary(sink);
    if (!why && sink->target && durable)
        sync_folder(sink->target);
    return why;
}

enum gi_status gi_sink_commit(struct gi_sink **sink, bool durable, struct gi_err *err)
{
    struct gi_sink *s = *sink;
    enum gi_status status =
        s->failed ? gi_fail(err, GI_E_IO, "%s: was not written", s->name) : flush(s, err);
    if (!status) {
        int why = publish(s, durable);
        if (why)
            status = sink_fail(s, why, err);
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
    free(s->target);
    free(s->name);
    free(s);
    *sink = NULL;
}
