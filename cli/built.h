/* Facts of this build, which the Makefile knows.
 * SPDX-License-Identifier: MIT */
#pragma once

/* The commit that the sources are of, followed by "+" if they were changed since, or "". */
extern const char gi_built_commit[];
/* The GPUs that the program has code for: "sm_80 sm_90", or "" in a build without CUDA. */
extern const char gi_built_gpus[];
