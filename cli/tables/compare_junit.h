/* The JUnit XML of `gpuimg compare --junit`, for display by CI systems. It has a test case per
 * pair.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

struct gi_junit;

/* Starts the file at `path`, which must outlive *junit. If `path` is NULL, *junit becomes NULL, and
 * the other functions do nothing. gi_junit_end() or gi_junit_free() frees *junit. */
void gi_junit_new(struct gi_junit **junit, const char *path);

/* Adds a pair. `verdict` is GI_OK if the pair passed. GI_E_DIFFERENT makes the test case a failure
 * with the text `why`, and any other status makes it an error with this text. */
void gi_junit_add(struct gi_junit *junit, const char *a, const char *b, enum gi_status verdict,
                  const char *why);

/* Writes the file, unless no pair was added or `status` says that the machine failed, and frees
 * *junit. Returns `status`. If that is GI_OK or GI_E_DIFFERENT and writing failed, returns the
 * error of writing. */
enum gi_status gi_junit_end(struct gi_junit **junit, enum gi_status status, struct gi_err *err);
void gi_junit_free(struct gi_junit **junit);
