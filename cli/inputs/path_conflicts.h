/* The files that a command reads and writes, so that none is written over another one: the same
 * file under several spellings is found. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_PATH_CONFLICTS_H
#define GI_CLI_INPUTS_PATH_CONFLICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/status.h"

/* What a file is for; those below GI_PATH_INPUT are written. */
enum gi_path_kind {
    GI_PATH_OUTPUT,
    GI_PATH_REPORT,
    GI_PATH_TABLE,
    GI_PATH_INPUT,
    GI_PATH_LIST,
    GI_PATH_IMAGE, /* that the chain names */
};

struct gi_path {
    uint64_t key; /* the same for all spellings of one file, symbolic links followed */
    size_t index; /* which one of its kind */
    enum gi_path_kind kind;
};

struct gi_paths {
    struct gi_path *all; /* owned here, as all below; freed by gi_paths_free() */
    size_t n, room;
    char *folder; /* the one looked at last: files come folder by folder */
    uint64_t folder_key;
};

/* Takes the file at `path`; "-", NULL, devices, pipes and names of PATH_MAX bytes or more, which no
 * file can have, are let by. Errors: GI_E_MEMORY. */
enum gi_status gi_paths_add(struct gi_paths *paths, enum gi_path_kind kind, size_t index,
                            const char *path, struct gi_err *err);
/* The same for the folder that contains the file. */
enum gi_status gi_paths_add_folder(struct gi_paths *paths, enum gi_path_kind kind, size_t index,
                                   const char *path, struct gi_err *err);
void gi_paths_free(struct gi_paths *paths);

/* Sorts by key, then kind, then index. */
void gi_paths_sort(struct gi_paths *paths);

/* Sorts; whether a file is written twice, or written and read: *a is who writes it. `in_place`: an
 * output may be the input of its own index. */
bool gi_paths_conflict(struct gi_paths *paths, bool in_place, struct gi_path *a, struct gi_path *b);

#endif
