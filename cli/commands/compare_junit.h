/* The JUnit XML of `gpuimg compare --junit`, for display by CI systems: a test case per pair.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_COMPARE_JUNIT_H
#define GI_CLI_COMMANDS_COMPARE_JUNIT_H

#include "imgio/imgio.h"

struct gi_junit;

/* Starts the file at `path`, which must outlive *junit. NULL: *junit becomes NULL, and the other
 * functions do nothing. Freed by gi_junit_end() or gi_junit_free(). Errors: GI_E_MEMORY. */
enum gi_status gi_junit_new(struct gi_junit **junit, const char *path, struct gi_err *err);

/* Adds a pair. Its `verdict` is GI_OK (passed), GI_E_DIFFERENT (a failure with the text `why`) or
 * any other (an error with that text). */
void gi_junit_add(struct gi_junit *junit, const char *a, const char *b, enum gi_status verdict,
                  const char *why);

/* Writes the file, unless no pair was added or `status` says that the machine failed, and frees
 * *junit. Returns `status`, or if that is GI_OK or GI_E_DIFFERENT the error of writing. */
enum gi_status gi_junit_end(struct gi_junit **junit, enum gi_status status, struct gi_err *err);
void gi_junit_free(struct gi_junit **junit);

#endif
