/* Divides bytes into literals and runs, for the PNG coder "runs" (png_runs.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "imgio/png/runs_code.h"

/* Writes the tokens of the `n` bytes, at most GI_RUNS_BLOCK, at p, and returns their number, at
 * most n. `tokens` has room for n + 16, because up to 16 more are overwritten. */
size_t gi_runs_tokens(uint16_t *tokens, const uint8_t *p, size_t n);
