/* Ensures that a command writes no file over another file that it reads or writes, even if the two
 * paths are spelled differently.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/status.h"

/* What a file is for. Files of the kinds before GI_PATH_INPUT are written. */
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
    /* The folder examined last, kept because the next file is often in the same folder. */
    char *folder;
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

/* Returns the key of a folder, whose path is empty or ends in a slash. */
uint64_t gi_path_folder_key(const char *folder);
/* Returns the key of the file `name` in the folder with that key. A symbolic link is not followed.
 */
uint64_t gi_path_key(uint64_t folder_key, const char *name, size_t n);

/* Sorts by key, then kind, then index. */
void gi_paths_sort(struct gi_paths *paths);

/* Sorts the files. Returns whether any file is written twice, or both read and written. If so, *a
 * is the file as an output, and *b is the same file in its other role. If `in_place` is true, an
 * output may replace the input with the same index. */
bool gi_paths_conflict(struct gi_paths *paths, bool in_place, struct gi_path *a, struct gi_path *b);
