/* The report of a batch from tars to tars: a line a member, named TAR:MEMBER, and behind them one
 * of the tar itself, which is what --resume and `report merge` count. SPDX-License-Identifier: MIT
 */
#ifndef GI_CLI_REPORT_TAR_REPORT_H
#define GI_CLI_REPORT_TAR_REPORT_H

#include "cli/run/batch_options.h"
#include "cli/run/item.h"
#include "cli/inputs/shard.h"

/* The tars of a batch: as many outputs as inputs, or one that takes all, or for tables none. */
struct gi_tar_names {
    char **inputs, **outputs; /* owned by the reader of the options */
    size_t ninputs, noutputs;
    struct gi_shard shard; /* of the inputs */
};

/* Where the members of an input go; NULL: there are no outputs. */
const char *gi_tar_output(const struct gi_tar_names *names, size_t input);
/* Whether several inputs go to one output. */
bool gi_tars_are_joined(const struct gi_tar_names *names);

struct gi_tar_report;

/* Opens the report of --report; NULL where none is asked for, and then all below do nothing.
 * `names` outlive it. Errors: GI_E_USAGE where an input is named twice, and as
 * gi_journal_open(). */
enum gi_status gi_tar_report_open(struct gi_tar_report **report, const struct gi_batch_job *job,
                                  const struct gi_tar_names *names, struct gi_err *err);

/* Whether an earlier run did the tar, by the report; many threads may ask. */
bool gi_tar_report_has(const struct gi_tar_report *report, size_t input);

/* For deliver(), where the item's tag is a gi_tar_tag: writes the line of a member, and after its
 * last member that of the tar, which failed if any member did; `written`: the tar is in place.
 * Errors: as gi_journal_add(). */
enum gi_status gi_tar_report_member(struct gi_tar_report *report, const struct gi_item *item,
                                    struct gi_err *err);
enum gi_status gi_tar_report_end(struct gi_tar_report *report, const struct gi_item *item,
                                 bool written, struct gi_err *err);

/* A tar that lost members and whose end did not come failed. Takes and nulls. */
enum gi_status gi_tar_report_close(struct gi_tar_report **report, struct gi_err *err);

#endif
