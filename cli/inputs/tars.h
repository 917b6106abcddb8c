/* Batches from tars to tars (--tar).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/batch_options.h"
#include "cli/run/engine.h"

/* Runs a batch on the images of tars. The operands are INPUT and OUTPUT, each a path, a
 * brace list or "-". */
enum gi_status gi_tars_run(const struct gi_batch_job *job, char **operands, int noperands,
                           struct gi_err *err);
