/* Checks the outputs of a command before any work.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/log.h"
#include "cli/paths/output.h"
#include "cli/paths/path_conflicts.h"
#include "cli/paths/path_conflicts.h"
#include "cli/text.h"
#include "imgio/imgio.h"
#include "imgio/small.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *gi_output_file(const char *path)
{
    const char *colon = strchr(path, ':');
    size_t n = colon ? (size_t)(colon - path) : 0;
    const struct gi_format_info *format;
    bool known = false;
    for (int i = 0; colon && !known && (format = gi_format_at(i)); i++)
        known = gi_text_is_one_of(format->suffixes, path, n);
    return known ? colon + 1 : path;
}

bool gi_output_has_folder(const char *path)
{
    const char *file = gi_output_file(path), *slash = strrchr(file, '/');
    char *folder = slash ? gi_small_copy_n(file, (size_t)(slash - file) + 1) : NULL;
    bool there = !folder || access(folder, F_OK) == 0;
    free(folder);
    return there;
}

bool gi_output_exists(const char *path)
{
    struct stat st;
    return stat(gi_output_file(path), &st) == 0 && S_ISREG(st.st_mode);
}

enum gi_status gi_output_check(const char *path, bool no_clobber, struct gi_err *err)
{
    struct stat st;
    if (strcmp(path, "-") == 0)
        return GI_OK;
    bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return gi_fail(err, GI_E_IO, "%s: is a folder, want a file", path);
    /* A pipe is not opened here, because closing it again would end its reader. */
    if (exists && !S_ISREG(st.st_mode))
        return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS)
                   ? gi_fail(err, GI_E_IO, "%s: %s", path, strerror(errno))
                   : GI_OK;
    if (exists && no_clobber)
        return gi_fail(err, GI_E_IO, "%s: exists, and --no-clobber was given", path);
    struct gi_sink *sink;
    enum gi_status status = gi_sink_open(&sink, path, no_clobber, err);
    unsigned long links = status ? 0 : gi_sink_other_links(sink);
    if (links)
        gi_cli_warn("%s: the older file keeps its %lu other name%s (hard links)", path, links,
                    links == 1 ? "" : "s");
    gi_sink_abandon(&sink);
    return status;
}

bool gi_output_same(const char *a, const char *b)
{
    struct stat x, y;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return strcmp(a, b) == 0;
    /* While the descriptor is open, the number of the inode of `a` is not given to another file.
     * Otherwise `b` could get it if another process replaces both files between the two calls. */
    int held = open(a, O_PATH | O_CLOEXEC);
    bool both = held >= 0 && fstat(held, &x) == 0 && stat(b, &y) == 0;
    if (held >= 0)
        close(held);
    if (both)
        /* Two outputs may both be /dev/null or another device. */
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino && !S_ISCHR(x.st_mode);
    struct gi_paths paths = {0};
    struct gi_path first, second;
    bool same = strcmp(a, b) == 0;
    if (!same && !gi_paths_add(&paths, GI_PATH_OUTPUT, 0, a, NULL) &&
        !gi_paths_add(&paths, GI_PATH_OUTPUT, 1, b, NULL))
        same = gi_paths_conflict(&paths, false, &first, &second);
    gi_paths_free(&paths);
    return same;
}

/* Finds the regular file at `path`, or if `path` is "-" the regular file behind descriptor
 * `standard`. Returns false if there is no regular file. */
static bool stat_file(struct stat *st, const char *path, int standard)
{
    int failed = strcmp(path, "-") == 0 ? fstat(standard, st) : stat(path, st);
    return !failed && S_ISREG(st->st_mode);
}

/* Like stat_file(), for an input, whose path may name one of several images in a file. */
static bool stat_input(struct stat *st, const char *path)
{
    struct gi_selection selection;
    size_t length = gi_path_file(path, &selection);
    char *file = path[length] ? gi_small_copy_n(path, length) : NULL;
    bool found = stat_file(st, file ? file : path, STDIN_FILENO);
    free(file);
    return found;
}

/* Refuses two outputs that are one file. */
static enum gi_status check_twice(const char *const *outputs, struct gi_err *err)
{
    struct gi_paths paths = {0};
    struct gi_path a, b;
    enum gi_status status = GI_OK;
    for (size_t i = 0; outputs[i] && !status; i++)
        status = gi_paths_add(&paths, GI_PATH_OUTPUT, i, gi_output_file(outputs[i]), err);
    if (!status && gi_paths_conflict(&paths, false, &a, &b))
        status = gi_fail(err, GI_E_USAGE, "%s and %s: both go to one file, want a place for each",
                         outputs[a.index], outputs[b.index]);
    gi_paths_free(&paths);
    return status;
}

enum gi_status gi_output_check_inputs(const char *const *outputs, const char *const *inputs,
                                      struct gi_err *err)
{
    struct stat out, in;
    enum gi_status status = check_twice(outputs, err);
    if (status)
        return status;
    for (int o = 0; outputs[o]; o++) {
        if (!stat_file(&out, gi_output_file(outputs[o]), STDOUT_FILENO))
            continue;
        for (int i = 0; inputs[i]; i++)
            if (stat_input(&in, inputs[i]) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
                return gi_fail(err, GI_E_USAGE,
                               "%s: would be written over the input %s, want another file",
                               outputs[o], inputs[i]);
    }
    return GI_OK;
}

enum gi_status gi_output_check_plain(const char *option, const char *path, struct gi_err *err)
{
    return !path || gi_output_file(path) == path
               ? GI_OK
               : gi_fail(err, GI_E_USAGE,
                         "%s %s: takes no prefix of a format, want another name (or ./%s)", option,
                         path, path);
}

/* Checks the parent folder of `path`, because a rename in that folder will put the new folder at
 * `path`. */
static enum gi_status check_parent(const char *option, const char *path, struct gi_err *err)
{
    struct stat inside, outside;
    char *name = realpath(path, NULL);
    name = name ? name : gi_small_copy(path);
    for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
        name[n - 1] = '\0';
    char *slash = strrchr(name, '/');
    if (slash)
        slash[1] = '\0';
    const char *parent = slash ? name : ".";
    enum gi_status status = GI_OK;
    if (faccessat(AT_FDCWD, parent, W_OK | X_OK, AT_EACCESS)) {
        int why = errno;
        char words[512];
        snprintf(words, sizeof words, "%s %s", option, path);
        status = gi_path_fail(words, path, why, err);
    } else if (stat(path, &inside) == 0 && stat(parent, &outside) == 0 &&
               (inside.st_dev != outside.st_dev || inside.st_ino == outside.st_ino))
        status = gi_fail(err, GI_E_IO, "%s %s: is the top of a file system, want a folder in it",
                         option, path);
    free(name);
    return status;
}

enum gi_status gi_output_check_folder(const char *option, const char *path, const char *what,
                                      bool (*ours)(const char *name), struct gi_err *err)
{
    DIR *folder = opendir(path);
    if (!folder && errno != ENOENT)
        return gi_fail(err, gi_status_of_errno(errno), "%s %s: %s", option, path, strerror(errno));
    enum gi_status status = GI_OK;
    /* The folder's own permissions would not prevent the rename. A read-only folder is respected
     * all the same, like a read-only file. */
    if (folder && faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS))
        status = gi_fail(err, GI_E_IO, "%s %s: %s", option, path, strerror(errno));
    struct dirent *entry;
    while (errno = 0, folder && !status && (entry = readdir(folder))) {
        const char *name = entry->d_name;
        if (gi_bundle_replaces(dirfd(folder), name, ours))
            continue;
        status = !what  ? gi_fail(err, GI_E_IO, "%s %s: holds %s: want a new or an empty folder",
                                  option, path, name)
                 : ours ? gi_fail(err, GI_E_IO,
                                  "%s %s: holds %s, which is none of the %s, and --force replaces "
                                  "only %s",
                                  option, path, name, what, what)
                        : gi_fail(err, GI_E_IO,
                                  "%s %s: holds %s: want a new or an empty folder, or --force "
                                  "to replace %s",
                                  option, path, name, what);
    }
    if (!status && errno) /* from readdir() */
        status =
            gi_fail(err, gi_status_of_errno(errno), "%s %s: %s", option, path, strerror(errno));
    if (folder)
        closedir(folder);
    return status ? status : check_parent(option, path, err);
}

bool gi_output_is_numbered(const char *name, const char *start)
{
    size_t n = strlen(start);
    if (strncmp(name, start, n) != 0)
        return false;
    name += n;
    n = strspn(name, "0123456789");
    const char *suffix = name + n + 1;
    return n && name[n] == '.' && *suffix &&
           strspn(suffix, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(suffix);
}

enum gi_status gi_output_check_inside(const char *option, const char *path,
                                      const char *const *inputs, struct gi_err *err)
{
    struct gi_paths paths = {0};
    struct gi_path a, b;
    char *inside = gi_small_format("%s/", path);
    enum gi_status status = gi_paths_add_folder(&paths, GI_PATH_OUTPUT, 0, inside, err);
    for (size_t i = 0; inputs[i] && !status; i++)
        if (strcmp(inputs[i], "-") != 0)
            status = gi_paths_add_folder(&paths, GI_PATH_INPUT, i, inputs[i], err);
    if (!status && gi_paths_conflict(&paths, false, &a, &b))
        status = gi_fail(err, GI_E_USAGE, "%s %s: the input %s is in it, want another folder",
                         option, path, inputs[b.index]);
    gi_paths_free(&paths);
    free(inside);
    return status;
}
