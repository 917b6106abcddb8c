/* The report of a batch (--report): one JSON object per line. The first line describes the batch.
 * Each further line describes an item. The lines are in the order in which the items were finished.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/paths/shard.h"
#include "cli/report/line.h"

struct gi_journal;

/* The first line of a report. */
struct gi_journal_head {
    const char *chain; /* the operation as text; equal texts mean equal results */
    uint64_t list;     /* gi_list_hash() of all inputs, including those of other shards */
    /* gi_chain_hash() of the chain, which is a hash of its further images and files. */
    uint64_t with;
    uint64_t files; /* number of files in the whole list */
    /* If this is not 0, the list is not in memory, and this is its size. Then `files` is the number
     * of files in the shard, and `list` is gi_list_stream_hash(). */
    uint64_t list_nbytes;
    struct gi_shard shard;
    bool tars; /* the files are tars, and their members have lines too */
};

/* Returns whether this run, like the earlier run, makes `output` from `input`. */
struct gi_journal_wants {
    bool (*are)(void *arg, const char *input, const char *output);
    void *arg;
};

/* Starts the report at `path`. If `resume` is not NULL, first reads an existing report, which must
 * be of the same chain and shard. Copies the lines of its successes that are still wanted, and the
 * lines of the members of such tars. Warns of damaged lines. The new file appears only after the
 * old report has been read. Errors: GI_E_USAGE for a report of another batch, GI_E_FORMAT, GI_E_IO,
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
/* Adds the line of an item that is a part of `whole`; `key` says whether that is a "tar" or a
 * "stream". Another line will say whether `whole` is complete. */
enum gi_status gi_journal_add_part(struct gi_journal *journal, const struct gi_line *line,
                                   const char *key, const char *whole, struct gi_err *err);
