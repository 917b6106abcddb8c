/* The list of inputs of a batch.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/paths/image_date.h"
#include "imgio/status.h"

/* One input. */
struct gi_input {
    char *path;
    /* The number of characters of `path` that name the folder that --recursive searched, or for a
     * file that was named, the number up to its last slash. The rest of `path` is the path in the
     * tree. */
    size_t root;
    /* If this is not 0, the input fails with this errno without being opened. It is ENAMETOOLONG
     * for a path of PATH_MAX bytes or more, or the reason why a folder can't be read. */
    int why;
    int rule;        /* as gi_matcher_rule() returns it */
    bool unwritable; /* the input fails: its output has a name for which there is no format */
    /* position in a list that is not in memory (cli/paths/list_stream.h), from 1; 0: none */
    uint64_t number;
    /* the day of the image, found when a name needs it the first time; "": not yet */
    char date[GI_IMAGE_DATE_NBYTES];
};

struct gi_matcher; /* cli/paths/matcher.h */
struct gi_list {
    struct gi_input *inputs; /* owned here, with their paths */
    size_t n, room;
    /* Which inputs the functions below add; NULL: all. The path in the tree is compared, or the
     * name of a file as it was given. */
    struct gi_matcher *matcher;
    size_t not_chosen; /* number of files that were not added for that reason */
};

/* Adds the files that the operands name. If `recursive` is true, operands may be folders, and their
 * image files are added, sorted by name. Image files are files with the suffix of a format that can
 * be read, except hidden files, pipes, sockets and devices. A folder that can't be read becomes an
 * input that fails, unless the machine failed. Errors: GI_E_USAGE for a folder without --recursive,
 * GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_list_operands(struct gi_list *list, char *const *operands, int n, bool recursive,
                                struct gi_err *err);
/* Adds the names in the file `path` ("-": standard input). The file has one name per line. If
 * `zero` is true, zero bytes separate the names instead. Errors: GI_E_IO, GI_E_AGAIN, GI_E_MEMORY,
 * and as gi_list_operands(). */
enum gi_status gi_list_from(struct gi_list *list, const char *path, bool zero, bool recursive,
                            struct gi_err *err);
/* As gi_list_from(), for a list whose bytes have been read from `path`. */
enum gi_status gi_list_from_bytes(struct gi_list *list, const char *path, char *bytes,
                                  size_t nbytes, bool zero, struct gi_err *err);
/* Returns what is wrong with a name of `n` bytes, with a zero byte behind it, in a list of
 * --files-from; NULL: nothing. `zero` is as in gi_list_from(). */
const char *gi_list_fault(const char *name, size_t n, bool zero);
/* Refuses an empty list, and warns of patterns that no name matches. Errors: GI_E_USAGE. */
enum gi_status gi_list_check(const struct gi_list *list, struct gi_err *err);
/* Adds a file under exactly this name. Errors: GI_E_MEMORY. */
enum gi_status gi_list_add(struct gi_list *list, const char *path, struct gi_err *err);
void gi_list_free(struct gi_list *list);

/* Sorts by name. */
void gi_list_sort(struct gi_list *list);

/* Returns an array of the inputs sorted by name, which the caller frees. NULL if memory ran out;
 * `err` then says so. */
struct gi_input **gi_list_sorted(const struct gi_list *list, struct gi_err *err);

/* Computes the 64-bit FNV-1a hash of the sorted names, each with its terminating zero. Equal sets
 * of names have equal hashes, in any order. Errors: GI_E_MEMORY. */
enum gi_status gi_list_hash(uint64_t *hash, const struct gi_list *list, struct gi_err *err);
