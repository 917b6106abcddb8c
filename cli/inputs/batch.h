/* Batches of images from files to files.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/batch_options.h"

/* Runs the batch on the inputs that the operands name. Errors: GI_E_USAGE before any work. If items
 * failed, the status is GI_E_AGAIN if the machine failed, otherwise GI_E_IO. The error then has no
 * text, because each item has already been reported. */
enum gi_status gi_batch_run(const struct gi_batch_job *job, char **operands, int noperands,
                            struct gi_err *err);
