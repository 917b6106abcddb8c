/* Pairs of members by name, of two tars or of many by twos: the feed of a batch that compares.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_TAR_PAIRS_H
#define GI_CLI_INPUTS_TAR_PAIRS_H

#include "cli/run/engine.h"
#include "cli/inputs/file_batch.h"
#include "cli/inputs/image_files.h"

struct gi_tar_pairs;

/* Adds the tars that two operands name, brace lists or "-" for one of them, to files->list and
 * files->others, as many as the other names. Errors: GI_E_USAGE, GI_E_UNSUPPORTED without
 * libarchive, GI_E_MEMORY. */
enum gi_status gi_tar_pairs_list(struct gi_batch_files *files, char **operands, struct gi_err *err);

/* For the files, which are complete: becomes files->feed; freed by gi_tar_pairs_free(), which
 * nulls. Both tars are read in turn, and a member waits for the other of its name (a leading ./ is
 * none of it); one that stays alone fails. Behind its members an item stands for the two tars,
 * which failed where neither has an image. Errors: GI_E_MEMORY. */
enum gi_status gi_tar_pairs_new(struct gi_tar_pairs **pairs, struct gi_batch_files *files,
                                const struct gi_io_params *io, struct gi_err *err);
void gi_tar_pairs_free(struct gi_tar_pairs **pairs);

/* The second image of an item, in memory, and its name in messages. */
const void *gi_tar_pairs_second(const struct gi_item *item, size_t *nbytes);

#endif
