/* Finds conflicts between the files that a command reads and writes.
 * SPDX-License-Identifier: MIT */
#include "cli/paths/path_conflicts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/hash.h"
#include "cli/paths/output.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

enum { LINKS_MAX = 40 }; /* the limit of Linux */

/* Returns the part after the last slash. */
static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Removes `x/..` from the path if x does not exist, because x would then be made as a folder and is
 * no symbolic link. The caller frees the result. */
static char *settled(const char *path)
{
    size_t n = 0, length;
    char *out = gi_small_calloc(1, strlen(path) + 1);
    for (; *path; path += length) {
        size_t name = strcspn(path, "/");
        length = name + strspn(path + name, "/");
        if (name == 1 && *path == '.')
            continue;
        if (n && name == 2 && strncmp(path, "..", 2) == 0 && access(out, F_OK)) {
            while (n && out[n - 1] == '/')
                n--;
            while (n && out[n - 1] != '/')
                n--;
        } else {
            memcpy(out + n, path, length);
            n += length;
        }
        out[n] = '\0';
    }
    return out;
}

/* Finds the longest part of `path` that exists. Returns the end of this part, and stores its
 * properties in *st. `path` is changed meanwhile and then restored. */
static char *existing_part(char *path, struct stat *st)
{
    size_t n = strlen(path);
    struct stat deeper;
    if (stat(n ? path : ".", st) == 0)
        return path + n;
    char *end = path + strspn(path, "/");
    if (stat(end > path ? "/" : ".", st))
        *st = (struct stat){0};
    for (char *slash = end; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        bool there = stat(path, &deeper) == 0;
        *slash = '/';
        if (!there)
            break;
        *st = deeper;
        end = slash + 1;
    }
    return end;
}

/* Returns the key of a folder. It is a hash of the device and the inode of the longest part of
 * `path` that exists, and of the names in the rest of `path`, which do not exist yet. */
static uint64_t folder_key(char *path)
{
    struct stat st;
    char *at = existing_part(path, &st);
    uint64_t key =
        gi_hash(gi_hash(GI_HASH_START, &st.st_dev, sizeof st.st_dev), &st.st_ino, sizeof st.st_ino);
    for (size_t n; *at; at += n + strspn(at + n, "/")) {
        n = strcspn(at, "/");
        uint64_t name = gi_hash(GI_HASH_START, at, n);
        key = gi_hash(key, &name, sizeof name);
    }
    return key;
}

uint64_t gi_path_folder_key(const char *folder)
{
    char *path = settled(folder);
    uint64_t key = folder_key(path);
    free(path);
    return key;
}

uint64_t gi_path_key(uint64_t folder_key, const char *name, size_t n)
{
    return gi_hash(gi_hash(folder_key, "/", 1), name, n);
}

/* Returns whether the name is too long for any file. */
static bool is_too_long(const char *path)
{
    return strlen(path) >= PATH_MAX;
}

/* Sets the folder of `paths`, and its key, to those of `path`. */
static void enter_folder(struct gi_paths *paths, const char *path)
{
    size_t n = (size_t)(name_in(path) - path);
    if (paths->folder && strlen(paths->folder) == n && strncmp(paths->folder, path, n) == 0)
        return;
    free(paths->folder);
    paths->folder = gi_small_copy_n(path, n);
    paths->folder_key = gi_path_folder_key(paths->folder);
}

/* Returns the path of the target of the symbolic link `path`. If the link is relative, the folder
 * part of `path` is put before it. The caller frees the result. NULL if `path` is not a symbolic
 * link. */
static char *target_of(const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target);
    int folder = n > 0 && *target == '/' ? 0 : (int)(name_in(path) - path);
    return n > 0 ? gi_small_format("%.*s%.*s", folder, path, (int)n, target) : NULL;
}

/* Follows symbolic links from `path`, and frees `path`. Returns the path of the last target, which
 * the caller frees. *regular tells whether this target is a regular file or does not exist yet. */
static char *follow(char *path, bool *regular)
{
    struct stat st = {0};
    for (int i = 0; path && i < LINKS_MAX && lstat(path, &st) == 0 && S_ISLNK(st.st_mode); i++) {
        char *target = target_of(path);
        free(path);
        path = target;
        st = (struct stat){0};
    }
    *regular = !st.st_mode || S_ISREG(st.st_mode);
    return path;
}

static enum gi_status add(struct gi_paths *paths, struct gi_path entry, struct gi_err *err)
{
    if (paths->n == paths->room) {
        size_t room = 2 * paths->room + 64;
        struct gi_path *grown = realloc(paths->all, room * sizeof *grown);
        if (!grown)
            return gi_fail(err, GI_E_MEMORY, "out of memory: names of %zu files", paths->n);
        paths->all = grown;
        paths->room = room;
    }
    paths->all[paths->n++] = entry;
    return GI_OK;
}

enum gi_status gi_paths_add(struct gi_paths *paths, enum gi_path_kind kind, size_t index,
                            const char *path, struct gi_err *err)
{
    struct gi_selection selection;
    bool regular;
    if (!path || strcmp(path, "-") == 0 || is_too_long(path))
        return GI_OK;
    path = kind == GI_PATH_OUTPUT ? gi_output_file(path) : path;
    size_t n = kind == GI_PATH_INPUT ? gi_path_file(path, &selection) : strlen(path);
    char *file = follow(gi_small_copy_n(path, n), &regular);
    if (!file) /* the last link has been removed meanwhile */
        return GI_OK;
    enter_folder(paths, file);
    const char *name = name_in(file);
    uint64_t key = gi_path_key(paths->folder_key, name, strlen(name));
    free(file);
    return regular ? add(paths, (struct gi_path){key, index, kind}, err) : GI_OK;
}

enum gi_status gi_paths_add_folder(struct gi_paths *paths, enum gi_path_kind kind, size_t index,
                                   const char *path, struct gi_err *err)
{
    if (is_too_long(path))
        return GI_OK;
    enter_folder(paths, path);
    return add(paths, (struct gi_path){paths->folder_key, index, kind}, err);
}

void gi_paths_free(struct gi_paths *paths)
{
    free(paths->all);
    free(paths->folder);
    *paths = (struct gi_paths){0};
}

static int by_key(const void *a, const void *b)
{
    const struct gi_path *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void gi_paths_sort(struct gi_paths *paths)
{
    if (paths->n)
        qsort(paths->all, paths->n, sizeof *paths->all, by_key);
}

bool gi_paths_conflict(struct gi_paths *paths, bool in_place, struct gi_path *a, struct gi_path *b)
{
    gi_paths_sort(paths);
    const struct gi_path *first = paths->all;
    for (size_t i = 1; i < paths->n; i++) {
        const struct gi_path *entry = &paths->all[i];
        if (entry->key != first->key)
            first = entry;
        else if (first->kind < GI_PATH_INPUT &&
                 !(in_place && first->kind == GI_PATH_OUTPUT && entry->kind == GI_PATH_INPUT &&
                   first->index == entry->index)) {
            *a = *first;
            *b = *entry;
            return true;
        }
    }
    return false;
}
