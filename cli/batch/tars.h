/* Batches from tars to tars (--tar).
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_BATCH_TARS_H
#define GI_CLI_BATCH_TARS_H

#include "cli/chain.h"
#include "cli/command.h"

/* Runs `chain` (NULL: images are only converted) on the images of tars; operands are INPUT and
 * OUTPUT, paths, brace lists or "-". Errors: as gi_batch_run(). */
enum gi_status gi_tars_run(const struct gi_command *command, const struct gi_chain *chain,
                           void *const *params, char **operands, int noperands, struct gi_err *err);

#endif
