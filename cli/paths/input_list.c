/* Lists the inputs of a batch, by name, in order.
 * SPDX-License-Identifier: MIT */
#include "cli/paths/input_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/hash.h"
#include "cli/lines.h"
#include "cli/paths/matcher.h"
#include "cli/text.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

/* Adds `path`, which the list then owns. `root` and `why` are as in struct gi_input. */
static enum gi_status add(struct gi_list *list, char *path, size_t root, int why,
                          struct gi_err *err)
{
    if (!why && strlen(path) >= PATH_MAX)
        why = ENAMETOOLONG;
    if (list->n == list->room) {
        size_t room = 2 * list->room + 64;
        struct gi_input *grown = realloc(list->inputs, room * sizeof *grown);
        if (!grown) {
            free(path);
            return gi_fail(err, GI_E_MEMORY, "out of memory: a list of %zu files", list->n);
        }
        list->inputs = grown;
        list->room = room;
    }
    list->inputs[list->n++] = (struct gi_input){.path = path, .root = root, .why = why};
    return GI_OK;
}

/* As add(), for an image unless list->matcher leaves it out. `name` is the part of `path` that
 * they are asked about. */
static enum gi_status add_chosen(struct gi_list *list, char *path, size_t root, const char *name,
                                 struct gi_err *err)
{
    int rule = path ? gi_matcher_rule(list->matcher, name) : GI_RULE_MAIN;
    if (rule == GI_RULE_NOT_CHOSEN) {
        list->not_chosen++;
        free(path);
        return GI_OK;
    }
    enum gi_status status = add(list, path, root, 0, err);
    if (!status)
        list->inputs[list->n - 1].rule = rule;
    return status;
}

/* Returns whether the name has the suffix of a format that can be read. */
static bool is_image_name(const char *name)
{
    const struct gi_format_info *format;
    for (int i = 0; (format = gi_format_at(i)); i++)
        if (format->reads && gi_text_has_suffix(name, format->suffixes))
            return true;
    return false;
}

/* Pipes, sockets and devices in a folder are no images, and to open one may wait for ever. */
static int may_be_image(const struct dirent *entry)
{
    int type = entry->d_type;
    return entry->d_name[0] != '.' && type != DT_FIFO && type != DT_SOCK && type != DT_CHR &&
           type != DT_BLK;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Finds out whether the path names a folder. A path that does not exist is none, because it is
 * reported later, when it is opened. If the machine failed, returns an error, because the images of
 * a folder would be left out. */
static enum gi_status is_folder(bool *folder, const char *path,
                                int (*examine)(const char *, struct stat *), struct gi_err *err)
{
    struct stat st;
    bool known = examine(path, &st) == 0;
    *folder = known && S_ISDIR(st.st_mode);
    return known || gi_status_of_errno(errno) != GI_E_AGAIN
               ? GI_OK
               : gi_fail(err, GI_E_AGAIN, "%s: %s", path, strerror(errno));
}

static enum gi_status is_entry_folder(bool *folder, const struct dirent *entry, const char *path,
                                      struct gi_err *err)
{
    *folder = entry->d_type == DT_DIR;
    /* links could form a cycle */
    return entry->d_type == DT_UNKNOWN ? is_folder(folder, path, lstat, err) : GI_OK;
}

/* Adds a folder that can't be read as an input that fails. If the machine failed, returns an error
 * instead, because the folder may contain images that another run would find. */
static enum gi_status add_unread(struct gi_list *list, const char *folder, size_t root, int why,
                                 struct gi_err *err)
{
    enum gi_status status = gi_status_of_errno(why);
    root = root ? root : strlen(folder);
    return status == GI_E_AGAIN ? gi_fail(err, status, "%s: %s", folder, strerror(why))
                                : add(list, gi_small_copy(folder), root, why, err);
}

/* Adds the images in a folder and in all folders below it. `root` is 0 for the folder that the
 * caller named. */
static enum gi_status add_folder(struct gi_list *list, const char *folder, size_t root,
                                 struct gi_err *err)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, may_be_image, by_name);
    if (n < 0)
        return add_unread(list, folder, root, errno, err);
    size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    enum gi_status status = GI_OK;
    for (int i = 0; i < n; i++) {
        char *path = status ? NULL : gi_small_format("%s%s%s", folder, slash, entries[i]->d_name);
        size_t top = root ? root : length + strlen(slash);
        bool inner = false;
        if (!status)
            status = is_entry_folder(&inner, entries[i], path, err);
        if (!status && inner)
            status = add_folder(list, path, top, err);
        else if (!status && is_image_name(entries[i]->d_name)) {
            status = add_chosen(list, path, top, path + top, err);
            path = NULL;
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* Adds a file that the user named, with the numbers of pages perhaps, which patterns ignore. */
static enum gi_status add_file(struct gi_list *list, const char *name, struct gi_err *err)
{
    struct gi_selection selection;
    const char *slash = strrchr(name, '/');
    char *file = gi_small_copy_n(name, gi_path_file(name, &selection));
    enum gi_status status =
        add_chosen(list, gi_small_copy(name), slash ? (size_t)(slash - name) + 1 : 0, file, err);
    free(file);
    return status;
}

static enum gi_status add_name(struct gi_list *list, const char *name, bool recursive,
                               struct gi_err *err)
{
    bool folder = false;
    if (strcmp(name, "-") == 0)
        return gi_fail(err, GI_E_USAGE, "-: want the names of files with --out-dir or --out");
    enum gi_status status = is_folder(&folder, name, stat, err);
    if (status)
        return status;
    if (!folder)
        return add_file(list, name, err);
    if (!recursive)
        return gi_fail(err, GI_E_USAGE, "%s: is a folder, want --recursive or files", name);
    return add_folder(list, name, 0, err);
}

enum gi_status gi_list_operands(struct gi_list *list, char *const *operands, int n, bool recursive,
                                struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < n && !status; i++)
        status = add_name(list, operands[i], recursive, err);
    return status;
}

const char *gi_list_fault(const char *name, size_t n, bool zero)
{
    if (strlen(name) < n)
        return "holds a zero byte, want -0 for names that end so";
    /* Messages print a carriage return as ?, which does not tell the user what to mend. */
    if (!zero && n && name[n - 1] == '\r' && access(name, F_OK) && errno == ENOENT)
        return "ends in a carriage return, as in text files of Windows, want lines that end in a "
               "newline alone";
    return NULL;
}

static enum gi_status read_names(struct gi_list *list, FILE *file, const char *path, bool zero,
                                 bool recursive, struct gi_err *err)
{
    struct gi_lines lines = {.file = file, .end = zero ? 0 : '\n'};
    bool more = true;
    enum gi_status status = GI_OK;
    while (!status) {
        status = gi_lines_next(&lines, &more, err);
        if (status)
            gi_err_prefix(err, "--files-from %s", path);
        if (status || !more)
            break;
        const char *fault = gi_list_fault(lines.text, lines.n, zero);
        if (fault)
            status = gi_fail(err, GI_E_USAGE, "%s", fault);
        else if (*lines.text)
            status = add_name(list, lines.text, recursive, err);
        if (status)
            gi_err_prefix(err, "--files-from %s: %s %zu", path, zero ? "name" : "line",
                          lines.number);
    }
    gi_lines_free(&lines);
    return status;
}

enum gi_status gi_list_from(struct gi_list *list, const char *path, bool zero, bool recursive,
                            struct gi_err *err)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "r");
    if (!file)
        return gi_fail(err, gi_status_of_errno(errno), "--files-from %s: %s", path,
                       strerror(errno));
    enum gi_status status = read_names(list, file, path, zero, recursive, err);
    if (!standard)
        fclose(file);
    return status;
}

enum gi_status gi_list_from_bytes(struct gi_list *list, const char *path, char *bytes,
                                  size_t nbytes, bool zero, struct gi_err *err)
{
    FILE *file = nbytes ? fmemopen(bytes, nbytes, "r") : NULL;
    if (!file)
        return nbytes ? gi_fail(err, GI_E_MEMORY, "out of memory: a list of %zu bytes", nbytes)
                      : GI_OK;
    enum gi_status status = read_names(list, file, path, zero, false, err);
    fclose(file);
    return status;
}

enum gi_status gi_list_check(const struct gi_list *list, struct gi_err *err)
{
    if (!list->n && list->not_chosen)
        return gi_fail(err, GI_E_USAGE, "--only and --except leave none of %zu images",
                       list->not_chosen);
    if (!list->n)
        return gi_fail(err, GI_E_USAGE, "no images among the inputs");
    gi_matcher_warn(list->matcher);
    return GI_OK;
}

enum gi_status gi_list_add(struct gi_list *list, const char *path, struct gi_err *err)
{
    return add(list, gi_small_copy(path), 0, 0, err);
}

void gi_list_free(struct gi_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->inputs[i].path);
    free(list->inputs);
    *list = (struct gi_list){0};
}

static int by_path(const void *a, const void *b)
{
    const struct gi_input *x = *(struct gi_input *const *)a, *y = *(struct gi_input *const *)b;
    return strcmp(x->path, y->path);
}

static int by_name_of(const void *a, const void *b)
{
    return strcmp(((const struct gi_input *)a)->path, ((const struct gi_input *)b)->path);
}

void gi_list_sort(struct gi_list *list)
{
    if (list->n)
        qsort(list->inputs, list->n, sizeof *list->inputs, by_name_of);
}

struct gi_input **gi_list_sorted(const struct gi_list *list, struct gi_err *err)
{
    struct gi_input **sorted = malloc((list->n + 1) * sizeof *sorted);
    if (!sorted) {
        gi_fail(err, GI_E_MEMORY, "out of memory: a list of %zu files", list->n);
        return NULL;
    }
    for (size_t i = 0; i < list->n; i++)
        sorted[i] = &list->inputs[i];
    qsort(sorted, list->n, sizeof *sorted, by_path);
    return sorted;
}

enum gi_status gi_list_hash(uint64_t *hash, const struct gi_list *list, struct gi_err *err)
{
    struct gi_input **sorted = gi_list_sorted(list, err);
    if (!sorted)
        return GI_E_MEMORY;
    *hash = GI_HASH_START;
    for (size_t i = 0; i < list->n; i++)
        *hash = gi_hash(*hash, sorted[i]->path, strlen(sorted[i]->path) + 1);
    free(sorted);
    return GI_OK;
}
