/* Pairs of members with the same name in two tars, or in many pairs of tars. This is the source of
 * a batch that compares images.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/image_files.h"
#include "cli/inputs/file_batch.h"
#include "cli/run/engine.h"

struct gi_tar_pairs;

/* Adds the tars that two operands name to files->list and files->others. An operand is a brace
 * list, and one of them may be "-"; both must name equally many tars. Errors: GI_E_USAGE,
 * GI_E_UNSUPPORTED without libarchive, GI_E_MEMORY. */
enum gi_status gi_tar_pairs_list(struct gi_batch_files *files, char **operands, struct gi_err *err);

/* Makes files->source from the lists in `files`, which must be complete. gi_tar_pairs_free() frees
 * the source and sets *pairs to NULL. Both tars are read in turn. A member waits for the member of
 * the other tar that has the same name (without a leading ./). A member without such a partner
 * fails. After the members comes an item for the two tars, which fails if neither contains an
 * image. */
void gi_tar_pairs_new(struct gi_tar_pairs **pairs, struct gi_batch_files *files,
                      const struct gi_io_params *io);
void gi_tar_pairs_free(struct gi_tar_pairs **pairs);

/* Returns the bytes of the second image of an item, which is encoded, and sets *nbytes to their
 * number. */
const void *gi_tar_pairs_second(const struct gi_item *item, size_t *nbytes);
