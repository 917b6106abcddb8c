/* Names of the crops of extract, which paste reads.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "imgio/status.h"

/* Returns whether a file has the name of a crop. */
bool gi_crop_is_name(const char *name);
/* Sets `path` to the path of the crop of `label` in `folder`, with `suffix`. Errors: GI_E_USAGE. */
enum { GI_CROP_PATH_NBYTES = 4096 };
enum gi_status gi_crop_path(char path[GI_CROP_PATH_NBYTES], const char *folder, uint32_t label,
                            const char *suffix, struct gi_err *err);
