/* The source of images in tars, for tables and for other tars. The report has a line per member,
 * with the name TAR:MEMBER. After these lines follows a line for the whole tar, and only this line
 * counts for --resume and for `report merge`.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "cli/inputs/batch.h"
#include "cli/inputs/tar_feed.h"
#include "cli/paths/shard.h"
#include "cli/report/report.h"

struct gi_rules; /* cli/args/rules.h */

enum { GI_TAR_SENDING = 2 /* maximum number of outputs that commands read at the same time */ };

struct gi_tar_source {
    const struct gi_batch_params *params;
    const struct gi_list *inputs; /* the tars */
    /* An output per input, or one for all of them; empty if tables are made. */
    struct gi_list outputs;
    struct gi_shard shard; /* of the inputs */
    struct gi_rules *rules;
    const char *suffix; /* of images; NULL: they keep their format */
    struct gi_tar_feed *feed;
    atomic_bool cancelled;
    /* Ends of shards whose GI_TAR_SENT has not been made so far, for outputs that commands read. */
    struct gi_tar_tag unsent[GI_TAR_SENDING];
    int nunsent;
    struct gi_report report; /* report.whole is the line of the tar being delivered */
    /* The lines of tars that have been delivered, and whose commands run. */
    struct gi_report_later later[GI_TAR_SENDING];
    int nlater;
    size_t broken; /* number of tars that could not be read to their end */
};

/* Adds the tars that a brace list names. Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_tar_list_add(struct gi_list *list, const char *operand, struct gi_err *err);
/* Adds the tars that the operands name (paths, brace lists or "-"), for tables. Errors: GI_E_USAGE,
 * GI_E_UNSUPPORTED without libarchive, GI_E_MEMORY. */
enum gi_status gi_tar_list(struct gi_list *list, const struct gi_batch_params *params,
                           char **operands, int noperands, struct gi_err *err);

/* Returns whether the end of the shard is followed by a GI_TAR_SENT. The SENT of a shard comes when
 * the next shard with one ends, so that the command runs meanwhile. */
bool gi_tars_send(const struct gi_tar_source *tars, size_t shard);

/* Prepares the source, in which the caller has set all members up to `suffix`. */
void gi_tar_source_new(struct gi_tar_source *tars, const struct gi_io_params *io);
void gi_tar_source_free(struct gi_tar_source *tars);

/* Returns whether several inputs have one output. */
bool gi_tars_are_joined(const struct gi_tar_source *tars);
/* Returns the output for the members of an input; NULL if there are no outputs. */
const char *gi_tar_output(const struct gi_tar_source *tars, size_t input);

/* `self` is a struct gi_tar_source. */
extern const struct gi_source_kind gi_source_tars;
