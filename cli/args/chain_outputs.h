/* Checks of the files that the steps of a chain write, before any work.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/chain.h"

/* Checks by their reporters that the chain's analyses can write all of their files. Errors: as
 * gi_reporter.check(), with the step. */
enum gi_status gi_chain_check_reporters(const struct gi_chain *chain, const char *input,
                                        struct gi_err *err);

/* Checks that no two files that the chain writes have the same path, and that none of these files
 * is a further image of a step. The image may replace its own input at `path` (NULL: no image is
 * written). Errors: GI_E_USAGE. */
enum gi_status gi_chain_check_places(const struct gi_chain *chain, const char *path,
                                     struct gi_err *err);
