/* Joins the reports of the tasks of a batch into one report. It has one line per input, which is
 * the last line that says that the input is done.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "imgio/status.h"

/* The result that a line states, from the weakest to the strongest. If several lines are about one
 * input, the line with the strongest result counts, and among lines with equal results the last
 * line. GI_JOURNAL_MERGE_KEPT means that a run skipped the input because an earlier run had
 * finished it. */
enum gi_journal_merge_verdict {
    GI_JOURNAL_MERGE_FAILED,
    GI_JOURNAL_MERGE_KEPT,
    GI_JOURNAL_MERGE_DONE
};

struct gi_journal_merge_line {
    char *input;   /* name of the input in the report; owned here */
    uint64_t text; /* where the line is in merge->texts, without its newline */
    size_t text_nbytes;
    size_t order;
    uint32_t shard; /* K of the shard K/N of the report; 0: the report covers the whole list */
    enum gi_journal_merge_verdict verdict;
    uint64_t output; /* hash of the name of the output, 0: none; only with merge->list_nbytes */
    /* The line is about a part of a tar or stream. Another line, about the whole tar or stream,
     * counts. */
    bool part;
};

/* The shard of a report. */
struct gi_journal_merge_shard {
    uint32_t k, n;
    char *path;     /* path of the report; owned here */
    uint64_t files; /* number of files that its report states */
};

/* The reports read so far. The caller initialises the struct as {0}, and frees it by
 * gi_journal_merge_free(). */
struct gi_journal_merge {
    char *first; /* path of the first report with a header; NULL: none yet */
    char *version, *chain, *with, *list;
    uint64_t files; /* number of files in the whole list, or in the shards of `shards` */
    /* Number of bytes of a list that was too long for memory, otherwise 0. The shards of such a
     * list are ranges of bytes, each of which knows only the number of its own files. */
    uint64_t list_nbytes;
    /* Number of shards N that the first report states; 0: it covers the whole list. */
    uint32_t n;
    bool n_differs;                        /* not all reports have the same number of shards */
    struct gi_journal_merge_shard *shards; /* of all headers; 0/0: the whole list */
    size_t nshards;
    struct gi_journal_merge_line *lines;
    size_t nlines, room;
    struct gi_journal_merge_texts *texts; /* of the lines; NULL: none */
    size_t nfiles; /* number of lines that are not parts, set by gi_journal_merge_join() */
};

/* Adds the report at `path`; "-" is standard input. Leaves out a truncated line (after kill -9) or
 * a damaged line with a warning. Accepts a shard that occurs again, with a warning. Errors:
 * GI_E_IO, GI_E_MEMORY, GI_E_AGAIN, GI_E_FORMAT for a file that is not a report, or if the report
 * has another list, chain or further image than the reports before. */
enum gi_status gi_journal_merge_add(struct gi_journal_merge *merge, const char *path,
                                    struct gi_err *err);

/* Sorts the lines of all reports by the names of their inputs, and keeps one line per name. Errors:
 * GI_E_FORMAT if no report had a header, or there are more inputs than files. */
enum gi_status gi_journal_merge_join(struct gi_journal_merge *merge, struct gi_err *err);

/* gi_journal_merge_failed() returns the number of inputs that failed, and gi_journal_merge_untold()
 * the number of inputs that are in no report. Both may be called after gi_journal_merge_join(). */
uint64_t gi_journal_merge_failed(const struct gi_journal_merge *merge);
uint64_t gi_journal_merge_untold(const struct gi_journal_merge *merge);

/* Returns the number of shards without a report whose numbers of files are therefore not known. */
uint32_t gi_journal_merge_absent(const struct gi_journal_merge *merge);
/* Refuses two inputs with the same output, which tasks can't find if their shards are ranges of
 * bytes. Errors: GI_E_DIFFERENT, GI_E_MEMORY. */
enum gi_status gi_journal_merge_check_outputs(const struct gi_journal_merge *merge,
                                              struct gi_err *err);

/* Writes the joined report, completely or not at all; "-" is standard output. Errors: GI_E_IO,
 * GI_E_MEMORY, GI_E_AGAIN, GI_E_PIPE. */
enum gi_status gi_journal_merge_write(const struct gi_journal_merge *merge, const char *path,
                                      struct gi_err *err);

/* Prints the numbers of the shards that have unfinished inputs, in the form of Slurm's arrays
 * ("3,5-7"), and a newline. Prints nothing if there are no such shards. Errors: GI_E_USAGE if the
 * reports have different numbers of shards, GI_E_MEMORY. */
enum gi_status gi_journal_merge_print_tasks(const struct gi_journal_merge *merge, FILE *out,
                                            struct gi_err *err);

/* Prints the names of the inputs that failed, each followed by `end`. `path` is the list or the
 * folder that the batch was given; the names of the inputs that never ran are then printed too. If
 * `path` is NULL, a warning states the number of these inputs instead. Errors: those of reading the
 * list, GI_E_USAGE for another list. */
enum gi_status gi_journal_merge_print_files(const struct gi_journal_merge *merge, FILE *out,
                                            const char *path, int end, struct gi_err *err);

void gi_journal_merge_free(struct gi_journal_merge *merge);
