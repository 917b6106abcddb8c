/* The driver of commands that make images or tables from an input, which is one image, a stream of
 * images, or a batch.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/batch_options.h"

/* Runs the job. If its params ask for a batch, all operands are inputs. Otherwise the operands are
 * the input and the output. There is no output if the chain ends in an analysis, or if the work of
 * the job names its outputs itself. Errors: as gi_batch_run() and gi_stream_run(). */
enum gi_status gi_drive(const struct gi_batch_job *job, char **operands, int noperands,
                        struct gi_err *err);
