/* Applies a chain that ends in an analysis to many images. Writes one table of all images, or a
 * table or array per image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/batch_options.h"

/* Runs the batch on the images that the operands name. Errors: as gi_batch_run(). */
enum gi_status gi_batch_tables(const struct gi_batch_job *job, char **operands, int noperands,
                               struct gi_err *err);
