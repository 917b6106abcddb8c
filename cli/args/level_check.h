/* Compares levels that options give as sample values with the samples of the file.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/image_files.h"
#include "filters/pipeline.h"

/* Checks that sample values in the options of the steps are possible in `image`, the source of the
 * first step; all steps keep the type of `image`. Warns if a value may be on another scale, such as
 * that of the file, which `info` describes. Errors: GI_E_USAGE. */
enum gi_status gi_cli_check_levels(const struct gi_step *steps, int nsteps,
                                   const struct gi_image *image, const struct gi_file_info *info,
                                   const struct gi_io_params *io, struct gi_err *err);
