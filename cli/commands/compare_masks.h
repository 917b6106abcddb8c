/* A folder of masks for the pairs of two folders, --ignore of gpuimg compare.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/inputs/file_batch.h"

struct gi_compare_masks;

/* Lists the image files in `folder` and below, and warns of those that are for no pair of `files`,
 * the pairs of two folders. gi_compare_masks_free() frees *masks, also after an error. Errors:
 * GI_E_USAGE if there are no image files; as gi_list_operands(). */
enum gi_status gi_compare_masks_new(struct gi_compare_masks **masks, const char *folder,
                                    const struct gi_batch_files *files, struct gi_err *err);
void gi_compare_masks_free(struct gi_compare_masks **masks);

/* Returns the path of the mask of the pair whose first image is `input`, or NULL if the folder has
 * none: a file whose path within the folder is that of the images in theirs. */
const char *gi_compare_mask(const struct gi_compare_masks *masks, const char *input);
