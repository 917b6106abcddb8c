/* Batches of tables whose inputs are the images in tars. This is the part of gi_batch_files that
 * handles tars.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/inputs/file_batch.h"

struct gi_tar_inputs;

/* Adds the tars that the operands name (paths, brace lists or "-") to the list. Errors: GI_E_USAGE,
 * GI_E_UNSUPPORTED without libarchive, GI_E_MEMORY. */
enum gi_status gi_tar_inputs_list(struct gi_list *list, const struct gi_batch_params *params,
                                  char **operands, int noperands, struct gi_err *err);

/* Makes files->feed from files->list, which must be complete. gi_tar_inputs_free() closes the feed
 * and sets *tars to NULL. Errors: GI_E_MEMORY. */
enum gi_status gi_tar_inputs_new(struct gi_tar_inputs **tars, struct gi_batch_files *files,
                                 const struct gi_batch_job *job, struct gi_err *err);
void gi_tar_inputs_free(struct gi_tar_inputs **tars);
