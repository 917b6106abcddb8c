/* What gpuimg paste takes beside the image.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_PASTE_H
#define GI_CLI_COMMANDS_PASTE_H

#include "cli/inputs/image_files.h"
#include "filters/regions/paste.h"

/* The sources that `params` name: *n of `others`, which the caller frees, also after an error.
 * Crops are loaded as `io` says, by up to `threads` threads. Errors: GI_E_IO, GI_E_FORMAT, as
 * gi_cli_load(); GI_E_UNSUPPORTED where a crop does not fit its row. */
enum gi_status gi_paste_load(struct gi_image *others, int *n, const struct gi_paste_params *params,
                             const struct gi_io_params *io, int threads, struct gi_err *err);

#endif
