/* Temporary names, and the exchange of temporary files with their targets.
 * SPDX-License-Identifier: MIT */
#include "imgio/imgio.h"
#include "imgio/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "imgio/small.h"

/* Followed by 16 hexadecimal digits. */
static const char prefix[] = ".gpuimg-";

enum {
    NAME_TRIES = 100,
    NAMES = 64, /* maximum number of names that a signal handler removes */
};

/* The names that a signal handler must remove. They are global because the handler gets no argument
 * for them. */
static _Atomic(const char *) names[NAMES];

/* Held while a thread makes or forgets a temporary file or moves several. A signal handler does
 * not take it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void gi_temporary_lock(void)
{
    pthread_mutex_lock(&lock);
}

void gi_temporary_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static void replace_name(const char *from, const char *to)
{
    for (int i = 0; i < NAMES; i++) {
        const char *expected = from;
        if (atomic_compare_exchange_strong(&names[i], &expected, to))
            return;
    }
}

static void empty(int fd, bool deep);

/* Removes the folder `name` of the folder at `fd`, with all that it holds. Returns whether it is
 * gone. */
static bool remove_folder(int fd, const char *name)
{
    int folder = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return false;
    empty(folder, true);
    close(folder);
    return unlinkat(fd, name, AT_REMOVEDIR) == 0;
}

/* Removes files of the folder at `fd` in one pass, `deep` with its folders, and returns how many
 * were removed. opendir() is not used, because a signal handler must not allocate memory. */
static int remove_files(int fd, bool deep)
{
    _Alignas(struct dirent64) char entries[4096];
    int removed = 0;
    for (long n; (n = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0;)
        for (long at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);
            const char *name = entry->d_name;
            bool own = strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
            at += entry->d_reclen;
            if (own && unlinkat(fd, name, 0) == 0)
                removed++;
            else if (own && deep && errno == EISDIR)
                removed += remove_folder(fd, name);
        }
    return removed;
}

static void empty(int fd, bool deep)
{
    /* Repeats the pass, because a pass may skip some files while it removes others. */
    do
        lseek(fd, 0, SEEK_SET);
    while (remove_files(fd, deep) > 0);
}

void gi_temporary_empty(int fd)
{
    empty(fd, false);
}

void gi_temporary_remove(const char *name)
{
    if (unlink(name) && errno == EISDIR)
        remove_folder(AT_FDCWD, name);
}

void gi_sink_signal_cleanup(void)
{
    int saved = errno;
    for (int i = 0; i < NAMES; i++) {
        const char *name = atomic_load(&names[i]);
        if (name)
            gi_temporary_remove(name);
    }
    errno = saved;
}

void gi_temporary_end(void)
{
    gi_temporary_lock();
    gi_sink_signal_cleanup();
}

/* Removes the file or folder `name` of the open folder `at`, unless a process has locked it. */
static void remove_unlocked(int at, const char *name)
{
    int how = O_CLOEXEC | O_NOFOLLOW, fd = openat(at, name, O_WRONLY | how);
    bool is_folder = fd < 0 && errno == EISDIR;
    if (is_folder)
        fd = openat(at, name, O_RDONLY | O_DIRECTORY | how);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (is_folder)
            empty(fd, true);
        unlinkat(at, name, is_folder ? AT_REMOVEDIR : 0);
    }
    close(fd);
}

/* Removes the file at the path `name` if it is abandoned, as gi_sink_clear_dead() does. */
static void clear_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    char *folder = gi_path_folder(name);
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at >= 0 && (flock(at, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
        remove_unlocked(at, slash ? slash + 1 : name);
    if (at >= 0)
        close(at);
    free(folder);
}

/* Returns a number that the name of a target always has (FNV-1a). */
static unsigned long long hash_of(const char *name)
{
    unsigned long long hash = 0xcbf29ce484222325;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
    return hash;
}

char *gi_temporary_make(const char *target, bool own, gi_make_fn *make, void *arg)
{
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash - target) + 1 : 0;
    for (int i = 0; i < NAME_TRIES; i++) {
        unsigned long long word = hash_of(target + folder);
        if (!(own && !i) && getrandom(&word, sizeof word, 0) != sizeof word)
            return NULL;
        char *name = gi_small_format("%.*s%s%016llx", folder, target, prefix, word);
        /* A file that another process is writing must not be registered. */
        if (own && !i && access(name, F_OK) == 0) {
            clear_name(name);
            if (access(name, F_OK) == 0) {
                free(name);
                continue;
            }
        }
        /* registered before the file exists, so that signal handlers find the name */
        replace_name(NULL, name);
        gi_temporary_lock();
        int made = make(arg, name), why = errno;
        gi_temporary_unlock();
        if (made == 0)
            return name;
        gi_temporary_forget(&name);
        errno = why;
        if (why != EEXIST)
            return NULL;
    }
    errno = EEXIST;
    return NULL;
}

void gi_temporary_forget(char **name)
{
    gi_temporary_lock();
    replace_name(*name, NULL);
    gi_temporary_unlock();
    free(*name);
    *name = NULL;
}

/* Renames `from` to `to` unless `to` exists. Returns 0 or errno. */
static int move_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (link(from, to))
        return errno;
    unlink(from);
    return 0;
}

int gi_temporary_move(const char *temporary, const char *target, bool no_clobber)
{
    if (no_clobber)
        return move_new(temporary, target);
    return rename(temporary, target) ? errno : 0;
}

int gi_temporary_exchange(const char *temporary, const char *target, bool no_clobber,
                          bool *exchanged)
{
    *exchanged =
        !no_clobber && renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_EXCHANGE) == 0;
    if (*exchanged)
        return 0;
    if (no_clobber || errno == ENOENT)
        return move_new(temporary, target);
    return errno == EINVAL || errno == ENOSYS ? gi_temporary_move(temporary, target, false) : errno;
}

void gi_temporary_undo(const char *temporary, const char *target, bool exchanged)
{
    if (exchanged)
        renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_EXCHANGE);
    else
        rename(target, temporary);
}

char *gi_path_resolve(const char *path)
{
    char *name = gi_small_copy(path);
    for (int links = 0;; links++) {
        char to[PATH_MAX];
        ssize_t n = readlink(name, to, sizeof to - 1);
        if (n < 0)
            return name;
        to[n] = 0;
        const char *slash = strrchr(name, '/');
        int folder = to[0] != '/' && slash ? (int)(slash - name) + 1 : 0;
        char *next = gi_small_format("%.*s%s", folder, name, to);
        free(name);
        name = next;
        if (links < 40)
            continue;
        free(name);
        errno = ELOOP;
        return NULL;
    }
}

char *gi_path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return gi_small_copy_n(slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
}

enum gi_status gi_path_fail(const char *name, const char *path, int why, struct gi_err *err)
{
    char *folder = why == ENOENT ? gi_small_copy(path) : NULL;
    char *end = folder && *folder ? folder : NULL;
    while (end && (end = strchr(end + 1, '/'))) {
        *end = '\0';
        if (access(folder, F_OK) != 0)
            break;
        *end = '/';
    }
    if (end)
        gi_fail(err, gi_status_of_errno(why), "%s: there is no folder %s", name, folder);
    else
        gi_fail(err, gi_status_of_errno(why), "%s: %s", name, strerror(why));
    free(folder);
    return gi_status_of_errno(why);
}

void gi_path_sync(const char *path)
{
    /* Nothing is allocated, because the output is in its place already. */
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (n)
        snprintf(folder, sizeof folder, "%.*s", (int)n, path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd); /* some file systems can't sync folders; the file itself has been synced */
        close(fd);
    }
}

static bool is_temporary(const char *name)
{
    const size_t n = sizeof prefix - 1;
    return strncmp(name, prefix, n) == 0 && strlen(name) == n + 16 &&
           strspn(name + n, "0123456789abcdef") == 16;
}

/* Recognises abandoned files because they are not locked. A process locks the files and folders
 * that it writes, and its locks end with the process. While a process commits several outputs
 * (gi_bundle_commit()), it also locks the folder around them, because the older outputs then have
 * temporary names but no locks. */
void gi_sink_clear_dead(const char *folder)
{
    DIR *open_folder = opendir(folder);
    if (open_folder && flock(dirfd(open_folder), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        closedir(open_folder);
        return;
    }
    for (struct dirent *entry; open_folder && (entry = readdir(open_folder));)
        if (is_temporary(entry->d_name))
            remove_unlocked(dirfd(open_folder), entry->d_name);
    if (open_folder)
        closedir(open_folder);
}
