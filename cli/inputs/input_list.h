/* The inputs of a batch, by name, in order.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_INPUT_LIST_H
#define GI_CLI_INPUTS_INPUT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/status.h"

/* One input. */
struct gi_input {
    char *path;
    size_t root; /* characters of `path` up to and with the folder that it was found under by
                    --recursive; what follows is its place in the tree. Of a file that was named:
                    up to its last slash */
    int why; /* errno: it fails when its turn comes and is never opened: ENAMETOOLONG for a name of
                PATH_MAX bytes or more, else why a folder could not be read; 0: none */
};

struct gi_list {
    struct gi_input *inputs; /* owned here, their paths too */
    size_t n, room;
};

/* Adds what the operands name: files, and with `recursive` the image files of folders (those with a
 * suffix that can be read, hidden ones left out), sorted by name. A folder that can't be read is
 * added as an input that fails, unless the machine failed. Errors: GI_E_USAGE for a folder
 * without --recursive, GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_list_operands(struct gi_list *list, char *const *operands, int n, bool recursive,
                                struct gi_err *err);
/* Adds the names in the file `path` ("-": standard input), one per line, or with `zero` separated
 * by zero bytes. Errors: GI_E_IO, GI_E_AGAIN, GI_E_MEMORY, and as gi_list_operands(). */
enum gi_status gi_list_from(struct gi_list *list, const char *path, bool zero, bool recursive,
                            struct gi_err *err);
/* Adds a file as it is. Errors: GI_E_MEMORY. */
enum gi_status gi_list_add(struct gi_list *list, const char *path, struct gi_err *err);
void gi_list_free(struct gi_list *list);

/* Sorts by name. */
void gi_list_sort(struct gi_list *list);

/* The inputs sorted by name; the caller frees the array. Errors: NULL and GI_E_MEMORY. */
struct gi_input **gi_list_sorted(const struct gi_list *list, struct gi_err *err);

/* 64-bit FNV-1a over the sorted names, each with its closing zero byte: the same for the same set
 * of names in whatever order. Errors: GI_E_MEMORY. */
enum gi_status gi_list_hash(uint64_t *hash, const struct gi_list *list, struct gi_err *err);

#endif
