/* Batches from tars to tars (--tar).
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_TARS_H
#define GI_CLI_INPUTS_TARS_H

#include "cli/run/batch_options.h"
#include "cli/run/engine.h"

/* gi_batch_run() on the images of tars; operands are INPUT and OUTPUT: paths, brace lists or "-".
 */
enum gi_status gi_tars_run(const struct gi_batch_job *job, char **operands, int noperands,
                           struct gi_err *err);

/* What such a batch and one that makes tables of tars have in common: runs the engine over the
 * members. Errors: as gi_engine_run(). */
struct gi_tar_feed;
enum gi_status gi_tar_feed_run(struct gi_tar_feed *members, const struct gi_work_on *work,
                               const struct gi_batch_params *params, int threads,
                               struct gi_tally *tally, struct gi_err *err);
/* What came of it, as the batch's own status: says how many members were left out, and of `ntars`
 * how many could not be read on. Errors: one without text where items failed. */
enum gi_status gi_tar_conclude(const struct gi_tally *tally, size_t broken, size_t ntars,
                               struct gi_err *err);

#endif
