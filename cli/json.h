/* JSON that is valid whatever the file names and numbers are.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_JSON_H
#define GI_CLI_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "imgio/status.h"

/* A string; bytes that are no UTF-8 become U+FFFD. NULL text: null. */
json_t *gi_json_text(const char *text);

/* A number; NaN and infinity become null. */
json_t *gi_json_real(double value);

/* Writes `value` and a newline: on one line, or with `indent` blanks a level. Takes `value`; NULL
 * (memory ran out while it was made) is an error. Errors: GI_E_MEMORY, GI_E_IO. */
enum gi_status gi_json_print(FILE *out, json_t *value, int indent, struct gi_err *err);

#endif
