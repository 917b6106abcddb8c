/* The source of images in tars, for tables and for other tars. The report has a line per member,
 * with the name TAR:MEMBER. After these lines follows a line for the whole tar, and only this line
 * counts for --resume and for `report merge`.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "cli/inputs/batch.h"
#include "cli/paths/shard.h"
#include "cli/report/report.h"

struct gi_rules; /* cli/args/rules.h */

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
    struct gi_report report; /* report.whole is the line of the tar being delivered */
    size_t broken;           /* number of tars that could not be read to their end */
};

/* Adds the tars that a brace list names. Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_tar_list_add(struct gi_list *list, const char *operand, struct gi_err *err);
/* Adds the tars that the operands name (paths, brace lists or "-"), for tables. Errors: GI_E_USAGE,
 * GI_E_UNSUPPORTED without libarchive, GI_E_MEMORY. */
enum gi_status gi_tar_list(struct gi_list *list, const struct gi_batch_params *params,
                           char **operands, int noperands, struct gi_err *err);

/* Prepares the source, in which the caller has set all members up to `suffix`. */
void gi_tar_source_new(struct gi_tar_source *tars, const struct gi_io_params *io);
void gi_tar_source_free(struct gi_tar_source *tars);

/* Returns whether several inputs have one output. */
bool gi_tars_are_joined(const struct gi_tar_source *tars);
/* Returns the output for the members of an input; NULL if there are no outputs. */
const char *gi_tar_output(const struct gi_tar_source *tars, size_t input);

/* `self` is a struct gi_tar_source. */
extern const struct gi_source_kind gi_source_tars;
