/* The outputs of a batch: names made of the inputs' names.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "imgio/imgio.h"

static const char plain[] = "{tree}/{stem}.{ext}";

enum field { DIR_FIELD, TREE, STEM, EXT, NAME, INDEX, FIELDS };
static const char *const fields[FIELDS] = {"dir", "tree", "stem", "ext", "name", "index"};

/* The field at `text`, which begins with a brace; its length with both braces in *n. -1: none. */
static int field_at(const char *text, size_t *n)
{
    for (int i = 0; i < FIELDS; i++) {
        *n = strlen(fields[i]) + 2;
        if (strncmp(text + 1, fields[i], *n - 2) == 0 && text[*n - 1] == '}')
            return i;
    }
    return -1;
}

enum gi_status gi_naming_check(const struct gi_naming *naming, struct gi_err *err)
{
    size_t n;
    for (const char *at = naming->template; at && (at = strchr(at, '{')); at += n)
        if (field_at(at, &n) < 0)
            return gi_fail(err, GI_E_USAGE,
                           "--out %s: %s: want {dir}, {tree}, {stem}, {ext}, {name} or {index}",
                           naming->template, at);
    return GI_OK;
}

/* A piece of a path. */
struct piece {
    const char *text;
    size_t n;
};

static struct piece piece_of(enum field field, const struct gi_naming *naming,
                             const struct gi_input *input, char index[24])
{
    const char *path = input->path, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    if (dot == name)
        dot = NULL;
    const char *suffix = naming->suffix ? naming->suffix : dot ? dot : "";
    suffix += *suffix == '.';
    switch (field) {
    case DIR_FIELD:
        return slash ? (struct piece){path, slash == path ? 1 : (size_t)(slash - path)}
                     : (struct piece){".", 1};
    case TREE:
        return path + input->root < name
                   ? (struct piece){path + input->root, (size_t)(name - path) - input->root - 1}
                   : (struct piece){"", 0};
    case STEM:
        return (struct piece){name, dot ? (size_t)(dot - name) : strlen(name)};
    case EXT:
        return (struct piece){suffix, strlen(suffix)};
    case NAME:
        return (struct piece){name, strlen(name)};
    default:
        return (struct piece){index, strlen(index)};
    }
}

char *gi_naming_output(const struct gi_naming *naming, const struct gi_list *list, size_t at)
{
    const struct gi_input *input = &list->inputs[at];
    const char *text = naming->template ? naming->template : plain;
    char index[24], *name = NULL;
    size_t nbytes, n;
    snprintf(index, sizeof index, "%zu", at);
    FILE *out = open_memstream(&name, &nbytes);
    if (!out)
        return NULL;
    size_t length = naming->folder ? strlen(naming->folder) : 0;
    if (length)
        fprintf(out, "%s%s", naming->folder, naming->folder[length - 1] == '/' ? "" : "/");
    for (; *text; text += n) {
        int field = *text == '{' ? field_at(text, &n) : -1;
        if (field < 0) {
            n = 1;
            putc(*text, out);
            continue;
        }
        struct piece piece = piece_of((enum field)field, naming, input, index);
        fwrite(piece.text, 1, piece.n, out);
        n += !piece.n && text[n] == '/'; /* an empty folder is none */
    }
    return fclose(out) ? NULL : name;
}

/* A number for a path: the same for all spellings of one file. */
struct key {
    uint64_t hash;
    size_t index;
    bool is_input;
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Of a folder, by device and inode; one that is not there yet by its name in the one above. */
static uint64_t folder_key(char *path)
{
    struct stat st;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (stat(*path ? path : ".", &st) == 0) {
        hash = mix(hash, &st.st_dev, sizeof st.st_dev);
        return mix(hash, &st.st_ino, sizeof st.st_ino);
    }
    size_t n = strlen(path);
    while (n && path[n - 1] == '/')
        path[--n] = '\0';
    char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *copy = strdup(name);
    *name = '\0';
    hash = *path || slash ? folder_key(path) : n ? folder_key(path) : hash;
    hash = copy ? mix(hash, copy, strlen(copy)) : hash;
    free(copy);
    return hash;
}

/* The folder that was looked at last: files come folder by folder. */
struct last_folder {
    char *path;
    size_t n;
    uint64_t key;
};

static uint64_t path_key(struct last_folder *last, const char *path, bool folder_only)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (!last->path || last->n != n || strncmp(last->path, path, n) != 0) {
        char *copy = strndup(path, n);
        free(last->path);
        last->path = strndup(path, n);
        last->n = n;
        last->key = copy ? folder_key(copy) : 0;
        free(copy);
    }
    return folder_only ? last->key : mix(mix(last->key, "/", 1), path + n, strlen(path + n));
}

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->is_input != y->is_input)
        return x->is_input ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Outputs first where keys are equal. `folders`: of outputs' folders alone. */
static struct key *make_keys(const struct gi_naming *naming, const struct gi_list *list,
                             bool folders, size_t *n, struct gi_err *err)
{
    struct key *keys = malloc((2 * list->n + 1) * sizeof *keys);
    struct last_folder in = {0}, out = {0};
    bool made = keys != NULL;
    *n = 0;
    for (size_t i = 0; i < list->n && made; i++) {
        char *output = gi_naming_output(naming, list, i);
        made = output != NULL;
        if (made)
            keys[(*n)++] = (struct key){path_key(&out, output, folders), i, false};
        if (!folders)
            keys[(*n)++] = (struct key){path_key(&in, list->inputs[i].path, false), i, true};
        free(output);
    }
    free(in.path);
    free(out.path);
    if (made) {
        qsort(keys, *n, sizeof *keys, by_key);
        return keys;
    }
    free(keys);
    gi_fail(err, GI_E_MEMORY, "out of memory: names of %zu files", list->n);
    return NULL;
}

static enum gi_status fail_collision(const struct gi_naming *naming, const struct gi_list *list,
                                     const struct key *a, const struct key *b, struct gi_err *err)
{
    char *output = gi_naming_output(naming, list, a->index);
    const char *one = list->inputs[a->index].path, *other = list->inputs[b->index].path;
    enum gi_status status =
        b->is_input
            ? gi_fail(err, GI_E_USAGE,
                      "%s: the output of %s would be written over the input %s, want another "
                      "--out-dir, --out or --suffix",
                      output, one, other)
            : gi_fail(err, GI_E_USAGE,
                      "%s: would be the output of %s and of %s, want --out with {dir}, {tree} or "
                      "{index}",
                      output, one, other);
    free(output);
    return status;
}

enum gi_status gi_naming_collisions(const struct gi_naming *naming, const struct gi_list *list,
                                    struct gi_err *err)
{
    size_t n;
    struct key *keys = make_keys(naming, list, false, &n, err);
    enum gi_status status = keys ? GI_OK : GI_E_MEMORY;
    for (size_t i = 1; i < n && !status; i++)
        if (keys[i].hash == keys[i - 1].hash && !keys[i - 1].is_input)
            status = fail_collision(naming, list, &keys[i - 1], &keys[i], err);
    free(keys);
    return status;
}

/* Makes the folder of a path, and those above it. `path` loses its name. */
static enum gi_status make_folder(char *path, struct gi_err *err)
{
    char *end = strrchr(path, '/');
    if (!end)
        return GI_OK;
    end[1] = '\0';
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        struct stat st;
        int why = mkdir(path, 0777) ? errno : 0;
        if (why && why != EEXIST)
            return gi_fail(err, gi_status_of_errno(why), "%s: %s", path, strerror(why));
        if (why && (stat(path, &st) || !S_ISDIR(st.st_mode)))
            return gi_fail(err, GI_E_IO, "%s: is no folder, want one for the results", path);
        *at = '/';
    }
    return GI_OK;
}

enum gi_status gi_naming_folders(const struct gi_naming *naming, const struct gi_list *list,
                                 struct gi_err *err)
{
    size_t n;
    struct key *keys = make_keys(naming, list, true, &n, err);
    enum gi_status status = keys ? GI_OK : GI_E_MEMORY;
    for (size_t i = 0; i < n && !status; i++) {
        if (i && keys[i].hash == keys[i - 1].hash)
            continue;
        char *output = gi_naming_output(naming, list, keys[i].index);
        status =
            output ? make_folder(output, err) : gi_fail(err, GI_E_MEMORY, "out of memory: a path");
        if (!status)
            gi_sink_clear_dead(strrchr(output, '/') ? output : ".");
        free(output);
    }
    free(keys);
    return status;
}
