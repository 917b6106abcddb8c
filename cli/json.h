/* Writes JSON that is valid for all names and numbers.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "imgio/status.h"

/* Must be called before any other JSON function. From then on all memory of jansson is small
 * allocations (imgio/small.h), so that callers need not check the results of its functions. */
void gi_json_start(void);

/* Returns a string. Bytes that are not UTF-8 become U+FFFD. NULL text gives JSON's null. */
json_t *gi_json_text(const char *text);

/* Stores the name of a file under `key`, in the form that gi_json_text() returns. If this form has
 * lost bytes of the name, all bytes are also stored under "KEY_hex", with two digits for each byte,
 * so that gi_json_name() can restore the name. NULL name gives JSON's null. */
void gi_json_set_name(json_t *object, const char *key, const char *name);
/* Returns a name that gi_json_set_name() stored; the caller frees the name. Returns NULL if there
 * is no such name. */
char *gi_json_name(const json_t *object, const char *key);

/* Returns a number. NaN and infinity become null. */
json_t *gi_json_real(double value);

/* Parses a value, which the caller releases with json_decref(). Returns NULL if the text is not
 * JSON. */
json_t *gi_json_read(const char *text);

/* Converts `value` to text with jansson's `flags`, and releases `value`; the caller frees the text.
 */
char *gi_json_dump(json_t *value, size_t flags);

/* Writes `value` and a newline, and releases `value`. The text is one line if `indent` is 0, and
 * otherwise indented by `indent` blanks per level. Errors: GI_E_IO, GI_E_PIPE. */
enum gi_status gi_json_print(FILE *out, json_t *value, int indent, struct gi_err *err);
/* As gi_json_print(), but `out` is memory that the caller later writes to the descriptor `reader`,
 * or to a file if `reader` is -1. */
enum gi_status gi_json_print_for(int reader, FILE *out, json_t *value, int indent,
                                 struct gi_err *err);
