/* Runs command lines of gpuimg in the test's own process.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "imgio/status.h"

enum { COMMAND_LINE_WORDS = 48 };

/* Runs the command line `line`. Single spaces separate its words; '_' means a space within a word,
 * so that a chain is one word. Standard output goes to /dev/null, and so does standard error if
 * `silent`. Returns the command's status, and its message in `err`. */
enum gi_status run_command_line(const char *line, bool silent, struct gi_err *err);
