/* The report of a batch from tars to tars. Each member has a line with the name TAR:MEMBER. After
 * these lines follows a line for the whole tar, and only this line counts for --resume and for
 * `report merge`.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/report/report.h"
#include "cli/args/batch_options.h"
#include "cli/run/engine.h"
#include "cli/paths/shard.h"

struct gi_rules; /* cli/args/rules.h */

/* The tars of a batch. There is one output per input, or one output for all inputs. For tables
 * there is no output. */
struct gi_tar_names {
    char **inputs, **outputs; /* owned by the reader of the options */
    size_t ninputs, noutputs;
    struct gi_shard shard; /* of the list of inputs */
};

/* Returns the output for the members of an input; NULL if there are no outputs. */
const char *gi_tar_output(const struct gi_tar_names *names, size_t input);
/* Returns whether several inputs have one output. */
bool gi_tars_are_joined(const struct gi_tar_names *names);

/* Initialised as {0}. */
struct gi_tar_report {
    struct gi_report report; /* report.whole is the line of the tar being delivered */
    const struct gi_tar_names *names;
};

/* Opens the report if --report asks for one; otherwise all functions below do nothing. `names` must
 * outlive it. Errors: as gi_report_open(). */
enum gi_status gi_tar_report_open(struct gi_tar_report *report, const struct gi_batch_job *job,
                                  const struct gi_tar_names *names, const struct gi_rules *rules,
                                  struct gi_err *err);

/* Returns whether an earlier run finished the tar, according to the report. Any thread may call
 * it. */
bool gi_tar_report_has(const struct gi_tar_report *report, size_t input);

/* For deliver(), with items whose tag is a gi_tar_tag. gi_tar_report_member() writes the line of a
 * member. gi_tar_report_end() writes the line of the tar after the last member. A tar fails if a
 * member fails. `written` says whether the output is complete and in its place. Errors: as
 * gi_journal_add(). */
enum gi_status gi_tar_report_member(struct gi_tar_report *report, const struct gi_item *item,
                                    struct gi_err *err);
enum gi_status gi_tar_report_end(struct gi_tar_report *report, const struct gi_item *item,
                                 bool written, struct gi_err *err);

/* Ends the report of a batch that ended with `status` and this tally. Logs how many members were
 * left out, and how many tars could not be read to their end (`broken`). If the end of a tar that
 * has lost members was not reached, a line says that this tar failed. Closes the report and returns
 * the batch's status; if items failed, its error has no text. */
enum gi_status gi_tar_conclude(struct gi_tar_report *report, const struct gi_tally *tally,
                               size_t broken, enum gi_status status, struct gi_err *err);
/* Closes the report. */
enum gi_status gi_tar_report_close(struct gi_tar_report *report, struct gi_err *err);
