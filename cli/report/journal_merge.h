/* Joins the reports of a batch's tasks into one with a line per input: the last one that says it is
 * done.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_JOURNAL_MERGE_H
#define GI_CLI_REPORT_JOURNAL_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "imgio/status.h"

/* In ascending order of weight: of several lines for one input the one with the highest verdict
 * counts, among equals the last. GI_JOURNAL_MERGE_KEPT: a run skipped the input because an earlier
 * one had finished it. */
enum gi_journal_merge_verdict {
    GI_JOURNAL_MERGE_FAILED,
    GI_JOURNAL_MERGE_KEPT,
    GI_JOURNAL_MERGE_DONE
};

struct gi_journal_merge_line {
    char *input; /* the input's name in the report; owned here */
    char *text;  /* the line without its newline; owned here */
    size_t order;
    uint32_t shard; /* K of the report's K/N; 0: the report is of the whole list */
    enum gi_journal_merge_verdict verdict;
    bool part; /* a part of a tar or a stream, whose own line is the one that counts */
};

/* The shard of a report. */
struct gi_journal_merge_shard {
    uint32_t k, n;
    char *path; /* path of the report; owned here */
};

/* Initialised as {0}; freed by gi_journal_merge_free(). */
struct gi_journal_merge {
    char *first; /* name of the first report with a header; NULL: none yet */
    char *version, *chain, *with, *list;
    uint64_t files; /* number of files in the whole list */
    uint32_t n;     /* number of shards according to the first report; 0: it is of the whole list */
    bool n_differs; /* the reports have different numbers of shards */
    struct gi_journal_merge_shard *shards; /* of all headers; 0/0: the whole list */
    size_t nshards;
    struct gi_journal_merge_line *lines;
    size_t nlines, room;
    size_t nfiles; /* number of lines that are not parts; set by gi_journal_merge_join() */
};

/* Adds the report `path`, "-" for standard input. A line that is truncated (by kill -9) or damaged
 * causes a warning and is left out; a shard that occurs again causes a warning and is accepted.
 * Errors: GI_E_IO, GI_E_MEMORY, GI_E_FORMAT for a file that is not a report, and for a report of
 * another list, chain or other further images than those before. */
enum gi_status gi_journal_merge_add(struct gi_journal_merge *merge, const char *path,
                                    struct gi_err *err);

/* To be called after the last report: sorts the lines by the names of their inputs and keeps one
 * for each. Errors: GI_E_FORMAT if no report had a header or there are more inputs than files. */
enum gi_status gi_journal_merge_join(struct gi_journal_merge *merge, struct gi_err *err);

/* Return the number of inputs that failed, and of those in no report; after
 * gi_journal_merge_join(). */
uint64_t gi_journal_merge_failed(const struct gi_journal_merge *merge);
uint64_t gi_journal_merge_untold(const struct gi_journal_merge *merge);

/* Writes the joined report, whole or not at all; "-" is standard output. Errors: GI_E_IO,
 * GI_E_MEMORY, GI_E_PIPE. */
enum gi_status gi_journal_merge_write(const struct gi_journal_merge *merge, const char *path,
                                      struct gi_err *err);

/* Prints the shards with unfinished inputs as an array of Slurm ("3,5-7") and a newline; nothing if
 * there are none. Errors: GI_E_USAGE if the reports number their shards differently,
 * GI_E_MEMORY. */
enum gi_status gi_journal_merge_print_tasks(const struct gi_journal_merge *merge, FILE *out,
                                            struct gi_err *err);

/* Prints the names of inputs that failed, each followed by `end`, and of those that never ran, if
 * `path` is the list that the batch was given, or its folder. NULL: only a warning says how many
 * never ran. Errors: those of reading the list, GI_E_USAGE for another list. */
enum gi_status gi_journal_merge_print_files(const struct gi_journal_merge *merge, FILE *out,
                                            const char *path, int end, struct gi_err *err);

void gi_journal_merge_free(struct gi_journal_merge *merge);

#endif
