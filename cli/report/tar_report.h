/* The report of a batch from tars to tars: a line a member, named TAR:MEMBER, and behind them one
 * of the tar itself, which is what --resume and `report merge` count. SPDX-License-Identifier: MIT
 */
#ifndef GI_CLI_REPORT_TAR_REPORT_H
#define GI_CLI_REPORT_TAR_REPORT_H

#include "cli/report/report.h"
#include "cli/run/batch_options.h"
#include "cli/run/engine.h"
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

/* Starts as {0}. */
struct gi_tar_report {
    struct gi_report report; /* its whole: the tar that is being delivered */
    const struct gi_tar_names *names;
};

/* Opens the report, where --report asks for one; without it all below do nothing. `names` outlive
 * it. Errors: as gi_report_open(). */
enum gi_status gi_tar_report_open(struct gi_tar_report *report, const struct gi_batch_job *job,
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

/* What came of a batch that ended by `status` and this tally, as its own status: says how many
 * members were left out, and how many tars could not be read on (`broken`). Closes the report, in
 * which a tar that lost members and whose end did not come failed. Errors: one without text where
 * items failed. */
enum gi_status gi_tar_conclude(struct gi_tar_report *report, const struct gi_tally *tally,
                               size_t broken, enum gi_status status, struct gi_err *err);
/* Closes it. */
enum gi_status gi_tar_report_close(struct gi_tar_report *report, struct gi_err *err);

#endif
