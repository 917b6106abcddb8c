/* Names of the crops of extract, which paste reads.
 * SPDX-License-Identifier: MIT */
#include "cli/paths/crop_names.h"

#include <stdio.h>
#include <string.h>

#include "cli/paths/output.h"

static const char crop_start[] = "region-";

bool gi_crop_is_name(const char *name)
{
    return gi_output_is_numbered(name, crop_start);
}

enum gi_status gi_crop_path(char path[GI_CROP_PATH_NBYTES], const char *folder, uint32_t label,
                            const char *suffix, struct gi_err *err)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    int used = snprintf(path, GI_CROP_PATH_NBYTES, "%.*s/%s%06u.%s", (int)n, folder, crop_start,
                        label, suffix);
    return used < GI_CROP_PATH_NBYTES
               ? GI_OK
               : gi_fail(err, GI_E_USAGE, "--crops %.40s...: the name is too long", folder);
}
