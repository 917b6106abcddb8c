/* Pairs of inputs. The first image of a pair is in `list` of struct gi_batch_files, the second one
 * in `others`.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/inputs/file_batch.h"

/* Adds a pair. Errors: GI_E_MEMORY. */
enum gi_status gi_pair_add(struct gi_batch_files *files, const char *a, const char *b,
                           struct gi_err *err);

/* Adds the pairs in the file of --pairs: The file has two names per line, or one name per line, so
 * that two lines are a pair. Errors: GI_E_USAGE, GI_E_IO, GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_pairs_read(struct gi_batch_files *files, struct gi_err *err);

/* Adds the files that one or both of the folders contain. Two files with the same path within their
 * folders are a pair. Errors: as gi_list_operands(). */
enum gi_status gi_pairs_of_folders(struct gi_batch_files *files, char **folders,
                                   struct gi_err *err);

/* Adds the names by which a report identifies pairs. The name of a pair is both names with a tab
 * between them, as in the file of --pairs. Adds nothing if the batch has no pairs. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_pairs_name(struct gi_list *names, const struct gi_batch_files *files,
                             struct gi_err *err);

/* Counts the pairs. If --shard was given, sorts all pairs by both names and takes those of the
 * shard. Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_pairs_share(struct gi_batch_files *files, struct gi_err *err);
