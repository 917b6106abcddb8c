/* Writes JSON that is valid for all names and numbers.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "imgio/status.h"

/* Must be called before any other JSON function. From then on the module remembers failed
 * allocations, and gi_json_print() reports them, so that callers need not check the results of
 * jansson's functions. */
void gi_json_start(void);

/* Returns a string. Bytes that are not UTF-8 become U+FFFD. NULL text gives JSON's null. */
json_t *gi_json_text(const char *text);

/* Stores the name of a file under `key`, in the form that gi_json_text() returns. If this form has
 * lost bytes of the name, all bytes are also stored under "KEY_hex", with two digits for each byte,
 * so that gi_json_name() can restore the name. NULL name gives JSON's null. */
void gi_json_set_name(json_t *object, const char *key, const char *name);
/* Returns a name that gi_json_set_name() stored; the caller frees the name. Returns NULL if there
 * is no such name, or memory ran out. */
char *gi_json_name(const json_t *object, const char *key);

/* Returns whether memory has run out since gi_json_start(), also for names. */
bool gi_json_starved(void);

/* Returns a number. NaN and infinity become null. */
json_t *gi_json_real(double value);

/* Parses a value, which the caller releases with json_decref(). *value is NULL if the text is not
 * JSON. Errors: GI_E_MEMORY, also if memory ran out at any earlier time since gi_json_start(). */
enum gi_status gi_json_read(json_t **value, const char *text, struct gi_err *err);

/* Converts `value` to text with jansson's `flags`, and releases `value`; the caller frees the text.
 * Returns NULL if memory has run out since gi_json_start(). */
char *gi_json_dump(json_t *value, size_t flags);

/* Writes `value` and a newline, and releases `value`. The text is one line if `indent` is 0, and
 * otherwise indented by `indent` blanks per level. Writes nothing if memory has run out since
 * gi_json_start(). Errors: GI_E_MEMORY, GI_E_IO, GI_E_PIPE. */
enum gi_status gi_json_print(FILE *out, json_t *value, int indent, struct gi_err *err);
/* As gi_json_print(), but `out` is memory that the caller later writes to the descriptor `reader`,
 * or to a file if `reader` is -1. */
enum gi_status gi_json_print_for(int reader, FILE *out, json_t *value, int indent,
                                 struct gi_err *err);
