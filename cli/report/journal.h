/* The report of a batch (--report): one JSON object per line. The first line describes the batch.
 * Each further line is an item, in the order in which items were finished.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_JOURNAL_H
#define GI_CLI_REPORT_JOURNAL_H

#include "cli/report/line.h"
#include "cli/inputs/shard.h"

struct gi_journal;

/* The first line of a report. */
struct gi_journal_head {
    const char *chain; /* the operation as text; equal texts mean equal results */
    uint64_t list;     /* gi_list_hash() of all inputs, those of other shards included */
    uint64_t with;     /* gi_chain_hash() of the chain: its further images and files */
    uint64_t files;    /* number of files in the whole list */
    struct gi_shard shard;
    bool tars; /* the files are tars, whose members have lines too */
};

/* Returns whether this run makes `output` from `input`, like the earlier one. */
struct gi_journal_wants {
    bool (*are)(void *arg, const char *input, const char *output);
    void *arg;
};

/* Starts the report at `path`. With `resume` (NULL: none) it first reads an existing report, which
 * must have the same chain and shard, and copies those of its successes that are still wanted, with
 * the members of such tars; a damaged line causes a warning. The new file appears only once both
 * have been read. Errors: GI_E_USAGE for a report of another batch, GI_E_FORMAT, GI_E_IO,
 * GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_journal_open(struct gi_journal **journal, const char *path,
                               const struct gi_journal_wants *resume,
                               const struct gi_journal_head *head, struct gi_err *err);
void gi_journal_close(struct gi_journal **journal);

/* Returns whether an earlier run made `output` from `input`, and both files still had the recorded
 * sizes and times when the report was read. */
bool gi_journal_has(const struct gi_journal *journal, const char *input, const char *output);

/* Adds a line with a single write(), so that a killed process leaves only complete lines. */
enum gi_status gi_journal_add(struct gi_journal *journal, const struct gi_line *line,
                              struct gi_err *err);
/* Adds the line of a part of `whole`, which is a "tar" or a "stream" (`key`). Whether all of it is
 * complete is said by a line of its own. */
enum gi_status gi_journal_add_part(struct gi_journal *journal, const struct gi_line *line,
                                   const char *key, const char *whole, struct gi_err *err);

#endif
