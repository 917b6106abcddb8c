/* The files that a command reads and writes.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/claims.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/hash.h"
#include "cli/output.h"
#include "imgio/imgio.h"

enum { LINKS_MAX = 40 }; /* as Linux has it */

/* Past the last slash. */
static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The path without `x/..` where there is no x: to be made, x is a folder and no link. The caller
 * frees it; NULL: out of memory. */
static char *settled(const char *path)
{
    size_t n = 0, length;
    char *out = calloc(1, strlen(path) + 1);
    for (; out && *path; path += length) {
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

/* The end of the longest part of `path` that exists, and what that part is. `path` is left as it
 * was. */
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

/* The key of a folder: device and inode of the longest part that exists, then the names of the
 * folders below it that are yet to be made. */
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

/* No file can have such a name. */
static bool is_too_long(const char *path)
{
    return strlen(path) >= PATH_MAX;
}

/* Looks at the folder of `path`. */
static bool look(struct gi_claims *claims, const char *path)
{
    size_t n = (size_t)(name_in(path) - path);
    if (claims->folder && strlen(claims->folder) == n && strncmp(claims->folder, path, n) == 0)
        return true;
    free(claims->folder);
    claims->folder = strndup(path, n);
    char *folder = claims->folder ? settled(claims->folder) : NULL;
    if (folder)
        claims->folder_key = folder_key(folder);
    free(folder);
    return folder != NULL;
}

/* The target of the link `path`, from where `path` is seen. The caller frees it; NULL: none. */
static char *target_of(const char *path)
{
    char target[PATH_MAX], *whole = NULL;
    ssize_t n = readlink(path, target, sizeof target);
    int folder = n > 0 && *target == '/' ? 0 : (int)(name_in(path) - path);
    return n > 0 && asprintf(&whole, "%.*s%.*s", folder, path, (int)n, target) >= 0 ? whole : NULL;
}

/* Follows symbolic links from `path`, which is freed, and returns their target; *regular: it is a
 * file or does not exist yet. The caller frees it. */
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

static enum gi_status fail_memory(const struct gi_claims *claims, struct gi_err *err)
{
    return gi_fail(err, GI_E_MEMORY, "out of memory: names of %zu files", claims->n);
}

static enum gi_status add(struct gi_claims *claims, struct gi_claim claim, struct gi_err *err)
{
    if (claims->n == claims->room) {
        size_t room = 2 * claims->room + 64;
        struct gi_claim *grown = realloc(claims->all, room * sizeof *grown);
        if (!grown)
            return fail_memory(claims, err);
        claims->all = grown;
        claims->room = room;
    }
    claims->all[claims->n++] = claim;
    return GI_OK;
}

enum gi_status gi_claim(struct gi_claims *claims, enum gi_claim_kind kind, size_t index,
                        const char *path, struct gi_err *err)
{
    int image;
    bool regular;
    if (!path || strcmp(path, "-") == 0 || is_too_long(path))
        return GI_OK;
    path = kind == GI_CLAIM_OUTPUT ? gi_output_file(path) : path;
    size_t n = kind == GI_CLAIM_INPUT ? gi_path_file(path, &image) : strlen(path);
    char *file = follow(strndup(path, n), &regular);
    if (!file || !look(claims, file)) {
        free(file);
        return fail_memory(claims, err);
    }
    const char *name = name_in(file);
    uint64_t key = gi_hash(gi_hash(claims->folder_key, "/", 1), name, strlen(name));
    free(file);
    return regular ? add(claims, (struct gi_claim){key, index, kind}, err) : GI_OK;
}

enum gi_status gi_claim_folder(struct gi_claims *claims, enum gi_claim_kind kind, size_t index,
                               const char *path, struct gi_err *err)
{
    if (is_too_long(path))
        return GI_OK;
    return look(claims, path) ? add(claims, (struct gi_claim){claims->folder_key, index, kind}, err)
                              : fail_memory(claims, err);
}

void gi_claims_free(struct gi_claims *claims)
{
    free(claims->all);
    free(claims->folder);
    *claims = (struct gi_claims){0};
}

static int by_key(const void *a, const void *b)
{
    const struct gi_claim *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void gi_claims_sort(struct gi_claims *claims)
{
    if (claims->n)
        qsort(claims->all, claims->n, sizeof *claims->all, by_key);
}

bool gi_claims_clash(struct gi_claims *claims, bool in_place, struct gi_claim *a,
                     struct gi_claim *b)
{
    gi_claims_sort(claims);
    const struct gi_claim *first = claims->all;
    for (size_t i = 1; i < claims->n; i++) {
        const struct gi_claim *claim = &claims->all[i];
        if (claim->key != first->key)
            first = claim;
        else if (first->kind < GI_CLAIM_INPUT &&
                 !(in_place && first->kind == GI_CLAIM_OUTPUT && claim->kind == GI_CLAIM_INPUT &&
                   first->index == claim->index)) {
            *a = *first;
            *b = *claim;
            return true;
        }
    }
    return false;
}
