/* Joins the reports of a batch's tasks into one with a line per input: the last line that says that
 * the input is done.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_JOURNAL_MERGE_H
#define GI_CLI_REPORT_JOURNAL_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "imgio/status.h"

/* The results in a line, from the weakest to the strongest: of several lines for one input the
 * strongest counts, of equal ones the last. GI_JOURNAL_MERGE_KEPT: a run skipped the input because
 * an earlier run had finished it. */
enum gi_journal_merge_verdict {
    GI_JOURNAL_MERGE_FAILED,
    GI_JOURNAL_MERGE_KEPT,
    GI_JOURNAL_MERGE_DONE
};

struct gi_journal_merge_line {
    char *input; /* name of the input in the report; owned here */
    char *text;  /* the line, without its newline; owned here */
    size_t order;
    uint32_t shard; /* K of the report's K/N; 0: the report covers the whole list */
    enum gi_journal_merge_verdict verdict;
    bool part; /* of a part of a tar or stream, which has a line of its own that counts */
};

/* The shard of a report. */
struct gi_journal_merge_shard {
    uint32_t k, n;
    char *path; /* path of the report; owned here */
};

/* The reports read so far. Initialised as {0}; freed by gi_journal_merge_free(). */
struct gi_journal_merge {
    char *first; /* path of the first report with a header; NULL: none yet */
    char *version, *chain, *with, *list;
    uint64_t files; /* number of files in the whole list */
    uint32_t n;     /* number of shards in the first report; 0: it covers the whole list */
    bool n_differs; /* not all reports have the same number of shards */
    struct gi_journal_merge_shard *shards; /* of all headers; 0/0: the whole list */
    size_t nshards;
    struct gi_journal_merge_line *lines;
    size_t nlines, room;
    size_t nfiles; /* number of lines that are not parts, set by gi_journal_merge_join() */
};

/* Adds the report at `path`; "-" is standard input. A truncated line (after kill -9) or a damaged
 * one is left out with a warning; a shard that occurs again is accepted with a warning. Errors:
 * GI_E_IO, GI_E_MEMORY, GI_E_FORMAT for a file that is not a report, or a report of another list,
 * chain or further image than those before. */
enum gi_status gi_journal_merge_add(struct gi_journal_merge *merge, const char *path,
                                    struct gi_err *err);

/* Sorts the lines of all reports by the names of their inputs, and keeps one per name. Errors:
 * GI_E_FORMAT if no report had a header, or there are more inputs than files. */
enum gi_status gi_journal_merge_join(struct gi_journal_merge *merge, struct gi_err *err);

/* Return the number of inputs that failed, and of inputs that are in no report. For use after
 * gi_journal_merge_join(). */
uint64_t gi_journal_merge_failed(const struct gi_journal_merge *merge);
uint64_t gi_journal_merge_untold(const struct gi_journal_merge *merge);

/* Writes the joined report, completely or not at all; "-" is standard output. Errors: GI_E_IO,
 * GI_E_MEMORY, GI_E_PIPE. */
enum gi_status gi_journal_merge_write(const struct gi_journal_merge *merge, const char *path,
                                      struct gi_err *err);

/* Prints the shards with unfinished inputs in the form of Slurm's arrays ("3,5-7"), and a newline;
 * prints nothing if there are none. Errors: GI_E_USAGE if the reports have different numbers of
 * shards, GI_E_MEMORY. */
enum gi_status gi_journal_merge_print_tasks(const struct gi_journal_merge *merge, FILE *out,
                                            struct gi_err *err);

/* Prints the names of the inputs that failed, each followed by `end`. If `path` is the list or the
 * folder that the batch was given, it also prints the names of those that never ran; if it is NULL,
 * a warning gives their number. Errors: those of reading the list, GI_E_USAGE for another list. */
enum gi_status gi_journal_merge_print_files(const struct gi_journal_merge *merge, FILE *out,
                                            const char *path, int end, struct gi_err *err);

void gi_journal_merge_free(struct gi_journal_merge *merge);

#endif
