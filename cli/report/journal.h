/* The report of a batch (--report): one JSON object per line. The first describes the batch; each
 * further line is an item, in the order in which they were finished.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_JOURNAL_H
#define GI_CLI_REPORT_JOURNAL_H

#include "cli/report/line.h"
#include "cli/inputs/shard.h"

struct gi_journal;

/* The first line of a report. */
struct gi_journal_head {
    const char *chain; /* the operation as text: equal texts mean equal results */
    uint64_t list;     /* gi_list_hash() of all inputs, including those of other shards */
    uint64_t with;     /* gi_chain_hash() of the chain: the further images and files that it
                          names */
    uint64_t files;    /* number of files in the whole list */
    struct gi_shard shard;
    bool tars; /* the files are tars, and their members have lines too */
};

/* Returns whether this run, too, makes `output` from `input`. */
struct gi_journal_wants {
    bool (*are)(void *arg, const char *input, const char *output);
    void *arg;
};

/* Starts the report at `path`. With `resume` (NULL: none) an existing report is read first: it must
 * be of the same chain and shard, and its successes that are still wanted are copied to the new
 * one, together with the members of such tars; a damaged line causes a warning. The new file
 * appears only after both were read. Errors: GI_E_USAGE for a report of another batch, GI_E_FORMAT,
 * GI_E_IO, GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_journal_open(struct gi_journal **journal, const char *path,
                               const struct gi_journal_wants *resume,
                               const struct gi_journal_head *head, struct gi_err *err);
void gi_journal_close(struct gi_journal **journal);

/* Returns whether an earlier run made `output` from `input`, and both had the recorded sizes and
 * times when the report was read. */
bool gi_journal_has(const struct gi_journal *journal, const char *input, const char *output);

/* Adds a line by one write, so that a killed process leaves only complete lines. */
enum gi_status gi_journal_add(struct gi_journal *journal, const struct gi_line *line,
                              struct gi_err *err);
/* Adds the line of a part of `whole`, a "tar" or a "stream" (`key`), whose own line says whether it
 * is complete. */
enum gi_status gi_journal_add_part(struct gi_journal *journal, const struct gi_line *line,
                                   const char *key, const char *whole, struct gi_err *err);

#endif
