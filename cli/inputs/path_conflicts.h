/* Makes sure that a command writes none of its files over another one that it reads or writes, even
 * under another spelling.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_PATH_CONFLICTS_H
#define GI_CLI_INPUTS_PATH_CONFLICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/status.h"

/* The purpose of a file; kinds below GI_PATH_INPUT are written. */
enum gi_path_kind {
    GI_PATH_OUTPUT,
    GI_PATH_REPORT,
    GI_PATH_TABLE,
    GI_PATH_INPUT,
    GI_PATH_LIST,
    GI_PATH_IMAGE, /* named in the chain */
};

struct gi_path {
    uint64_t key; /* equal for all spellings of a file's path, also through symbolic links */
    size_t index; /* number within its kind */
    enum gi_path_kind kind;
};

struct gi_paths {
    struct gi_path *all; /* members are owned here; gi_paths_free() frees them */
    size_t n, room;
    char *folder; /* the last folder examined, kept because files come folder by folder */
    uint64_t folder_key;
};

/* Adds the file at `path`. Ignores "-", NULL, devices, pipes, and names of PATH_MAX bytes or more,
 * which no file can have. Errors: GI_E_MEMORY. */
enum gi_status gi_paths_add(struct gi_paths *paths, enum gi_path_kind kind, size_t index,
                            const char *path, struct gi_err *err);
/* Adds the folder that contains the file. */
enum gi_status gi_paths_add_folder(struct gi_paths *paths, enum gi_path_kind kind, size_t index,
                                   const char *path, struct gi_err *err);
void gi_paths_free(struct gi_paths *paths);

/* Sorts by key, then kind, then index. */
void gi_paths_sort(struct gi_paths *paths);

/* Sorts the files. Returns whether one is written twice, or both read and written; *a is then the
 * output, and *b the other use. `in_place`: an output may replace the input with the same index. */
bool gi_paths_conflict(struct gi_paths *paths, bool in_place, struct gi_path *a, struct gi_path *b);

#endif
