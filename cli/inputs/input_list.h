/* The list of inputs of a batch.
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
    size_t root; /* number of characters of `path` up to the folder that --recursive searched, or
                    for a named file up to its last slash; the rest is the path in the tree */
    int why; /* errno with which the input fails without being opened: ENAMETOOLONG for a path of
                PATH_MAX bytes or more, or the reason why a folder can't be read; 0: none */
};

struct gi_list {
    struct gi_input *inputs; /* owned here, with their paths */
    size_t n, room;
};

/* Adds the operands: files, and with `recursive` the image files in folders, sorted by name. Image
 * files are those with a suffix that can be read, except hidden ones. A folder that can't be read
 * becomes an input that fails, unless the machine failed. Errors: GI_E_USAGE for a folder without
 * --recursive, GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_list_operands(struct gi_list *list, char *const *operands, int n, bool recursive,
                                struct gi_err *err);
/* Adds the names in the file `path` ("-": standard input). They are one per line, or if `zero`
 * separated by zero bytes. Errors: GI_E_IO, GI_E_AGAIN, GI_E_MEMORY, and as gi_list_operands(). */
enum gi_status gi_list_from(struct gi_list *list, const char *path, bool zero, bool recursive,
                            struct gi_err *err);
/* Adds a file under exactly this name. Errors: GI_E_MEMORY. */
enum gi_status gi_list_add(struct gi_list *list, const char *path, struct gi_err *err);
void gi_list_free(struct gi_list *list);

/* Sorts by name. */
void gi_list_sort(struct gi_list *list);

/* Returns the inputs sorted by name; the caller frees the array. NULL: out of memory, in `err`. */
struct gi_input **gi_list_sorted(const struct gi_list *list, struct gi_err *err);

/* Computes the 64-bit FNV-1a hash of the sorted names, each with its terminating zero. Equal sets
 * of names have equal hashes, in any order. Errors: GI_E_MEMORY. */
enum gi_status gi_list_hash(uint64_t *hash, const struct gi_list *list, struct gi_err *err);

#endif
