/* The sources of gpuimg paste, besides the image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/image_files.h"
#include "filters/regions/paste.h"

/* Loads the *n sources that `params` names into `others`, which the caller frees, also after an
 * error. `colours` has two places for the colours of a crop and of the first one that differs
 * (cli/run/other_colors.h), which the caller frees too. Crops are loaded with the options `io` by
 * at most `threads` threads. Errors: GI_E_IO, GI_E_FORMAT, as gi_cli_load(); GI_E_UNSUPPORTED if a
 * crop does not fit its row. */
enum gi_status gi_paste_load(struct gi_image *others, int *n, struct gi_metadata *colors,
                             const struct gi_paste_params *params, const struct gi_io_params *io,
                             int threads, struct gi_err *err);
