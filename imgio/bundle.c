/* A bundle of outputs, which appear together or not at all. The outputs are written under temporary
 * names and then exchanged with the existing files at their targets. If one exchange fails, the
 * earlier exchanges are undone.
 * SPDX-License-Identifier: MIT */
#include "imgio/sink.h"
#include "imgio/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "imgio/small.h"

/* One output: a file or a folder. */
struct member {
    struct gi_sink *sink; /* NULL if the output is a folder */
    char *name, *target;  /* path of a folder, as the caller gave it and with links resolved */
    char *temporary;      /* NULL if the output is written directly */
    bool (*ours)(const char *name);
    int lock; /* descriptor of the new folder, locked against gi_sink_clear_dead(), or -1 */
    /* Descriptor of the target's folder, which is locked while an output of the bundle has a
     * temporary name there. It is -1 if there is no lock, or if an earlier member has locked that
     * folder. */
    int parent;
    bool guarded; /* the folder is locked, by this member or an earlier one */
    /* the replaced folder, opened at the exchange so that emptying it later needs no open() */
    DIR *older;
    bool durable, moved, exchanged;
};

struct gi_bundle {
    struct member *members;
    size_t n;
    bool clears;
    char *cleared; /* the last folder in which abandoned files were removed, or NULL */
    char *locked;  /* the last folder that was locked, or NULL */
};

enum gi_status gi_bundle_new(struct gi_bundle **bundle, bool clears, struct gi_err *err)
{
    *bundle = gi_small_calloc(1, sizeof **bundle);
    (*bundle)->clears = clears;
    return GI_OK;
}

/* Removes what killed processes left in the folder of `target`, unless that folder was the last one
 * to be cleared. */
static void clear(struct gi_bundle *bundle, const char *target)
{
    if (!bundle->clears || !target)
        return;
    char *folder = gi_path_folder(target);
    if (bundle->cleared && strcmp(bundle->cleared, folder) == 0) {
        free(folder);
        return;
    }
    gi_sink_clear_dead(folder);
    free(bundle->cleared);
    bundle->cleared = folder;
}

/* Adds a member. */
static struct member *add(struct gi_bundle *bundle)
{
    bundle->members = gi_small_realloc(bundle->members, bundle->n + 1, sizeof *bundle->members);
    bundle->members[bundle->n] = (struct member){.lock = -1, .parent = -1};
    return &bundle->members[bundle->n++];
}

/* Returns the member whose folder contains `path`, also in a folder below it, and sets *file to the
 * path from that folder on. Returns NULL if `path` is in no member's folder. */
static const struct member *folder_of(const struct gi_bundle *bundle, const char *path,
                                      const char **file)
{
    for (size_t i = 0; i < bundle->n; i++) {
        const struct member *m = &bundle->members[i];
        size_t n = m->sink ? 0 : strlen(m->name);
        if (n && strncmp(m->name, path, n) == 0 && path[n] == '/') {
            *file = path + n + 1;
            return m;
        }
    }
    return NULL;
}

bool gi_bundle_holds(const struct gi_bundle *bundle, const char *path)
{
    const char *file;
    return bundle && folder_of(bundle, path, &file);
}

enum gi_status gi_bundle_open(struct gi_bundle *bundle, struct gi_sink **sink, const char *path,
                              bool no_clobber, struct gi_err *err)
{
    const char *file;
    const struct member *folder = bundle ? folder_of(bundle, path, &file) : NULL;
    if (!folder)
        return gi_sink_open(sink, path, no_clobber, err);
    *sink = NULL;
    char *staged = gi_small_format("%s/%s", folder->temporary, file);
    enum gi_status status = gi_sink_open_as(sink, path, staged, no_clobber, err);
    free(staged);
    return status;
}

/* Opens a folder and locks it by flock() with `how`. Returns -1 with errno if it can't be opened.
 */
static int lock_folder(const char *path, int how)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    while (fd >= 0 && flock(fd, how) && errno == EINTR)
        ;
    return fd;
}

static const char *target_of(const struct member *m)
{
    return m->sink ? m->sink->target : m->target;
}

/* Locks the folder of the member's target, so that gi_sink_clear_dead() removes nothing there. One
 * lock serves all members in a folder, because a locked file is an open file, and the number of
 * those is limited. A folder that can't be locked stays unlocked. */
static void guard(struct gi_bundle *bundle, struct member *m)
{
    const char *target = target_of(m);
    char *folder = target && !m->guarded ? gi_path_folder(target) : NULL;
    if (!folder)
        return;
    bool same = bundle->locked && strcmp(folder, bundle->locked) == 0;
    m->parent = same ? -1 : lock_folder(folder, LOCK_SH);
    m->guarded = same || m->parent >= 0;
    if (m->parent >= 0) {
        free(bundle->locked);
        bundle->locked = folder;
    } else {
        free(folder);
    }
}

enum gi_status gi_bundle_keep(struct gi_bundle *bundle, struct gi_sink **sink, bool durable,
                              struct gi_err *err)
{
    const char *file;
    if (!bundle || folder_of(bundle, (*sink)->name, &file))
        return gi_sink_commit(sink, durable, err);
    struct member *member = add(bundle);
    member->sink = *sink;
    member->durable = durable;
    *sink = NULL;
    clear(bundle, member->sink->target);
    guard(bundle, member);
    enum gi_status status = gi_sink_prepare(member->sink, durable, false, err);
    if (member->guarded)
        gi_sink_unlock(member->sink);
    return status;
}

/* Creates and locks a folder. Before the folder is locked, another process may take it for an
 * abandoned folder, lock it and remove it, for which this one waits. The folder is then created
 * again. */
static int make_folder(void *arg, const char *name)
{
    int *lock = arg;
    struct stat st = {.st_nlink = 1};
    if (mkdir(name, 0777))
        return -1;
    *lock = lock_folder(name, LOCK_EX);
    int why = *lock < 0 || fstat(*lock, &st) ? errno : 0;
    if (!why && st.st_nlink > 0)
        return 0;
    if (*lock >= 0)
        close(*lock);
    *lock = -1;
    rmdir(name);
    errno = why && why != ENOENT ? why : EEXIST;
    return -1;
}

/* Returns `path` without trailing slashes. */
static char *trimmed(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return gi_small_copy_n(path, n);
}

enum gi_status gi_bundle_folder(struct gi_bundle *bundle, const char *path,
                                bool (*ours)(const char *name), struct gi_err *err)
{
    struct member *m = add(bundle);
    m->ours = ours;
    m->name = trimmed(path);
    /* "a/." and ".." can't be exchanged as names in a folder, so they are resolved. */
    m->target = realpath(m->name, NULL);
    if (!m->target)
        m->target = gi_path_resolve(m->name);
    clear(bundle, m->target);
    m->temporary = m->target ? gi_temporary_make(m->target, false, make_folder, &m->lock) : NULL;
    if (!m->temporary)
        return gi_path_fail(path, m->target ? m->target : path, errno, err);
    struct stat st;
    if (stat(m->target, &st) == 0)
        chmod(m->temporary, st.st_mode & 07777);
    return GI_OK;
}

enum gi_status gi_bundle_subfolder(const struct gi_bundle *bundle, const char *path,
                                   struct gi_err *err)
{
    const char *below;
    const struct member *folder = folder_of(bundle, path, &below);
    char *staged = gi_small_format("%s/%s", folder->temporary, below);
    int why = mkdir(staged, 0777) && errno != EEXIST ? errno : 0;
    free(staged);
    return why ? gi_fail(err, gi_sink_status_of(why), "%s: %s", path, strerror(why)) : GI_OK;
}

bool gi_bundle_replaces(int folder, const char *name, bool (*ours)(const char *name))
{
    struct stat st;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return true;
    if (!ours || !ours(name))
        return false;
    /* The file is missing if another process, whose output replaced this folder, is emptying it. */
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) ? errno == ENOENT : S_ISREG(st.st_mode);
}

/* Checks that the older output, which now has the temporary name, may be removed. If a file
 * replaces the older output, that must be a file, too. Otherwise it must be a folder that contains
 * only files of ours. Returns 0 or errno. */
static int look_at_older(struct member *m)
{
    struct stat st;
    if (m->sink)
        return lstat(m->sink->temporary, &st) ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    m->older = opendir(m->temporary);
    if (!m->older)
        return errno;
    struct dirent *entry;
    while (errno = 0, (entry = readdir(m->older)))
        if (!gi_bundle_replaces(dirfd(m->older), entry->d_name, m->ours))
            return ENOTEMPTY;
    return errno;
}

/* Exchanges one member with its target. Returns 0 or errno. */
static int move(struct member *m)
{
    struct gi_sink *sink = m->sink;
    const char *temporary = sink ? sink->temporary : m->temporary;
    if (!temporary)
        return 0;
    int why =
        gi_temporary_exchange(temporary, target_of(m), sink && sink->no_clobber, &m->exchanged);
    m->moved = !why;
    return m->exchanged ? look_at_older(m) : why;
}

static enum gi_status move_all(struct gi_bundle *bundle, struct gi_err *err)
{
    int why = 0;
    size_t i = 0;
    for (; i < bundle->n && !why; i++)
        why = move(&bundle->members[i]);
    if (!why)
        return GI_OK;
    const struct member *failed = &bundle->members[i - 1];
    enum gi_status status =
        gi_fail(err, gi_sink_status_of(why), "%s: %s",
                failed->sink ? failed->sink->name : failed->name, strerror(why));
    for (; i-- > 0;) {
        const struct member *m = &bundle->members[i];
        if (m->moved)
            gi_temporary_undo(m->sink ? m->sink->temporary : m->temporary, target_of(m),
                              m->exchanged);
    }
    return status;
}

/* Removes the older outputs, which have the temporary names once all members are at their
 * targets. */
static void drop_older(struct gi_bundle *bundle)
{
    for (size_t i = 0; i < bundle->n; i++) {
        struct member *m = &bundle->members[i];
        char **temporary = m->sink ? &m->sink->temporary : &m->temporary;
        if (!m->moved)
            continue;
        if (m->older)
            gi_temporary_empty(dirfd(m->older));
        if (m->exchanged && m->sink)
            unlink(*temporary);
        else if (m->exchanged)
            rmdir(*temporary);
        if (m->durable)
            gi_path_sync(m->sink->target);
        gi_temporary_forget(temporary);
    }
}

enum gi_status gi_bundle_commit(struct gi_bundle **bundle, struct gi_err *err)
{
    sigset_t all, before;
    /* A signal between two moves would leave some outputs old and others new. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t k = 0; k < (*bundle)->n; k++)
        guard(*bundle, &(*bundle)->members[k]);
    gi_temporary_lock();
    enum gi_status status = move_all(*bundle, err);
    gi_temporary_unlock();
    if (!status)
        drop_older(*bundle);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    gi_bundle_abandon(bundle);
    return status;
}

void gi_bundle_abandon(struct gi_bundle **bundle)
{
    struct gi_bundle *b = *bundle;
    *bundle = NULL;
    for (size_t i = 0; b && i < b->n; i++) {
        struct member *m = &b->members[i];
        gi_sink_abandon(&m->sink);
        if (m->temporary) {
            gi_temporary_remove(m->temporary);
            gi_temporary_forget(&m->temporary);
        }
        if (m->older)
            closedir(m->older);
        if (m->lock >= 0)
            close(m->lock);
        if (m->parent >= 0)
            close(m->parent);
        free(m->name);
        free(m->target);
    }
    if (b) {
        free(b->members);
        free(b->cleared);
        free(b->locked);
    }
    free(b);
}
