/* Pairs of inputs. The first image of a pair is in `list` of struct gi_batch_files, the second one
 * in `others`.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_PAIR_LIST_H
#define GI_CLI_INPUTS_PAIR_LIST_H

#include "cli/inputs/file_batch.h"

/* Adds a pair. Errors: GI_E_MEMORY. */
enum gi_status gi_pair_add(struct gi_batch_files *files, const char *a, const char *b,
                           struct gi_err *err);

/* Adds the pairs in the file of --pairs: two names per line, or one name per line in turn. Errors:
 * GI_E_USAGE, GI_E_IO, GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_pairs_read(struct gi_batch_files *files, struct gi_err *err);

/* Adds the files that either of two folders contains, paired by their path within the folder.
 * Errors: as gi_list_operands(). */
enum gi_status gi_pairs_of_folders(struct gi_batch_files *files, char **folders,
                                   struct gi_err *err);

/* Adds the names by which a report identifies pairs: both names with a tab between them, as in
 * --pairs. Adds nothing if the batch has no pairs. Errors: GI_E_MEMORY. */
enum gi_status gi_pairs_name(struct gi_list *names, const struct gi_batch_files *files,
                             struct gi_err *err);

/* Counts the pairs. With --shard it takes the shard's pairs, out of all sorted by both names.
 * Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_pairs_share(struct gi_batch_files *files, struct gi_err *err);

#endif
