/* The report of a batch (--report): a JSON object a line. The first says what the batch is, then
 * one stands for each item, in the order of their ends. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_REPORT_JOURNAL_H
#define GI_CLI_REPORT_JOURNAL_H

#include "cli/report/line.h"
#include "cli/inputs/shard.h"

struct gi_journal;

/* The first line. */
struct gi_journal_head {
    const char *chain; /* the operation as text: equal texts mean equal results */
    uint64_t list;     /* gi_list_hash() of all inputs, those of other shards too */
    uint64_t with;     /* gi_chain_hash() of the chain: two that differ do not do the same */
    uint64_t files;    /* of the whole list */
    struct gi_shard shard;
    bool tars; /* the files are tars, and their members have lines too */
};

/* Whether `output` is to be made of `input` this time too. */
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

/* Whether an earlier run made `output` of `input`, and both were still so when the report was read:
 * by their sizes and times. */
bool gi_journal_has(const struct gi_journal *journal, const char *input, const char *output);

/* Adds a line, in one piece, so that a killed process leaves whole lines. */
enum gi_status gi_journal_add(struct gi_journal *journal, const struct gi_line *line,
                              struct gi_err *err);
/* The same of a part of `whole`, which `key` says is a "tar" or a "stream": its own line says
 * whether it is there. */
enum gi_status gi_journal_add_part(struct gi_journal *journal, const struct gi_line *line,
                                   const char *key, const char *whole, struct gi_err *err);

#endif
