/* Runs command lines of gpuimg in the test's own process.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_COMMAND_LINE_H
#define GI_TESTS_COMMAND_LINE_H

#include <stdbool.h>

#include "imgio/status.h"

enum { COMMAND_LINE_WORDS = 48 };

/* Runs the command in `line`: words separated by single spaces, in which '_' means a space, so that
 * a chain is one word. Standard output goes to /dev/null; so does standard error if `silent`.
 * Returns the status of the command with its message in `err`. */
enum gi_status run_command_line(const char *line, bool silent, struct gi_err *err);

#endif
