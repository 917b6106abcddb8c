/* A batch of tables whose inputs are the images in tars: what gi_batch_files does then.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_TAR_INPUTS_H
#define GI_CLI_INPUTS_TAR_INPUTS_H

#include "cli/inputs/file_batch.h"

struct gi_tar_inputs;

/* Adds the tars that the operands name, paths, brace lists or "-", to the list. Errors: GI_E_USAGE,
 * GI_E_UNSUPPORTED without libarchive, GI_E_MEMORY. */
enum gi_status gi_tar_inputs_list(struct gi_list *list, const struct gi_batch_params *params,
                                  char **operands, int noperands, struct gi_err *err);

/* For files->list, which is complete; closed by gi_tar_inputs_free(), which nulls. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_tar_inputs_new(struct gi_tar_inputs **tars, const struct gi_batch_files *files,
                                 const struct gi_batch_job *job, struct gi_err *err);
void gi_tar_inputs_free(struct gi_tar_inputs **tars);

/* gi_batch_journal(), gi_batch_go() and gi_batch_note() of them. */
enum gi_status gi_tar_inputs_journal(struct gi_tar_inputs *tars, const struct gi_batch_job *job,
                                     struct gi_err *err);
enum gi_status gi_tar_inputs_go(struct gi_tar_inputs *tars, const struct gi_work_on *work,
                                int threads, struct gi_err *err);
enum gi_status gi_tar_inputs_note(struct gi_tar_inputs *tars, const struct gi_item *item,
                                  struct gi_err *err);

/* The names in the row of an item; false where it is no image. */
bool gi_tar_inputs_names(const struct gi_item *item, const char **tar, const char **file,
                         const struct gi_tar_inputs *tars);

#endif
