/* Reports of a batch's tasks joined into one: a line an input, the last that says it is done.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_JOURNAL_MERGE_H
#define GI_CLI_REPORT_JOURNAL_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "imgio/status.h"

/* From the least to the most: of several lines for one input the greatest counts, of equals the
 * last. GI_JOURNAL_MERGE_KEPT is what a run skipped because an earlier one had finished it. */
enum gi_journal_merge_verdict {
    GI_JOURNAL_MERGE_FAILED,
    GI_JOURNAL_MERGE_KEPT,
    GI_JOURNAL_MERGE_DONE
};

struct gi_journal_merge_line {
    char *input; /* the name in the report; owned here */
    char *text;  /* the line without its newline; owned here */
    size_t order;
    uint32_t shard; /* K of the report's K/N; 0: it was of the whole list */
    enum gi_journal_merge_verdict verdict;
    bool part; /* of a tar or a stream, whose own line is what counts */
};

/* A shard that a report is of. */
struct gi_journal_merge_shard {
    uint32_t k, n;
    char *path; /* of the report; owned here */
};

/* Starts as {0}; freed by gi_journal_merge_free(). */
struct gi_journal_merge {
    char *first; /* name of the report that had the first header; NULL: none had one yet */
    char *version, *chain, *with, *list;
    uint64_t files; /* of the whole list */
    uint32_t n;     /* shards that the first report is one of; 0: it is of the whole list */
    bool n_differs; /* reports are of different numbers of shards */
    struct gi_journal_merge_shard *shards; /* of all headers; 0/0: the whole list */
    size_t nshards;
    struct gi_journal_merge_line *lines;
    size_t nlines, room;
    size_t nfiles; /* of the lines, those of no part; after gi_journal_merge_join() */
};

/* Adds the report `path`, "-" for standard input. A line that is truncated, as by kill -9, or
 * damaged causes a warning and is left out; a shard that comes again causes a warning and is taken.
 * Errors: GI_E_IO, GI_E_MEMORY, GI_E_FORMAT for a file that is not a report, and for a report of
 * another list, chain or of other further images than those before. */
enum gi_status gi_journal_merge_add(struct gi_journal_merge *merge, const char *path,
                                    struct gi_err *err);

/* After the last report: puts the lines in the order of their inputs' names, one for each.
 * Errors: GI_E_FORMAT where no report had a header or there are more inputs than files. */
enum gi_status gi_journal_merge_join(struct gi_journal_merge *merge, struct gi_err *err);

/* Inputs that failed, and those that no report speaks of; after gi_journal_merge_join(). */
uint64_t gi_journal_merge_failed(const struct gi_journal_merge *merge);
uint64_t gi_journal_merge_untold(const struct gi_journal_merge *merge);

/* Writes the joined report, whole or not at all; "-" is standard output. Errors: GI_E_IO,
 * GI_E_MEMORY, GI_E_PIPE. */
enum gi_status gi_journal_merge_write(const struct gi_journal_merge *merge, const char *path,
                                      struct gi_err *err);

/* Prints the shards with inputs that are not done as an array of Slurm ("3,5-7") and a newline;
 * nothing where there are none. Errors: GI_E_USAGE where shards are not numbered alike,
 * GI_E_MEMORY. */
enum gi_status gi_journal_merge_print_tasks(const struct gi_journal_merge *merge, FILE *out,
                                            struct gi_err *err);

/* Prints the names of inputs that failed, each with `end` behind it, and of those that never ran
 * where `path` is the list of all that the batch was given or their folder; NULL: it is not there,
 * and a warning says how many these are. Errors: those of reading the list, GI_E_USAGE for another
 * one. */
enum gi_status gi_journal_merge_print_files(const struct gi_journal_merge *merge, FILE *out,
                                            const char *path, int end, struct gi_err *err);

void gi_journal_merge_free(struct gi_journal_merge *merge);

#endif
