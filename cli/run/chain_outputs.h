/* Files that the steps of a chain write, looked at before any work.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_CHAIN_OUTPUTS_H
#define GI_CLI_RUN_CHAIN_OUTPUTS_H

#include "cli/run/chain.h"

/* Whether everything that the analyses of the chain write can be written, by their reporters.
 * Errors: as gi_reporter.check(), with the step. */
enum gi_status gi_chain_check_reporters(const struct gi_chain *chain, const char *input,
                                        struct gi_err *err);

/* No two files go to one place, nor over a second source of any step. The image, which goes to
 * `path` (NULL: nowhere), may be written over the one that was read. Errors: GI_E_USAGE,
 * GI_E_MEMORY. */
enum gi_status gi_chain_check_places(const struct gi_chain *chain, const char *path,
                                     struct gi_err *err);

#endif
