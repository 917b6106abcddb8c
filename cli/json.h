/* Writes JSON that is valid for all names and numbers.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_JSON_H
#define GI_CLI_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "imgio/status.h"

/* Must be called before any other JSON function. From then on a failed allocation is remembered for
 * gi_json_print(), so that the results of jansson's functions need no checks. */
void gi_json_start(void);

/* Returns a string; bytes that are not UTF-8 become U+FFFD. NULL text: null. */
json_t *gi_json_text(const char *text);

/* Stores the name of a file under `key`, as gi_json_text() does. If that loses bytes, all of them
 * are also stored under "KEY_hex", two digits per byte, so that gi_json_name() restores the name.
 * NULL name: null. */
void gi_json_set_name(json_t *object, const char *key, const char *name);
/* Returns that name, for the caller to free. NULL: there is none, or out of memory. */
char *gi_json_name(const json_t *object, const char *key);

/* Returns whether memory ran out since gi_json_start(), for names too. */
bool gi_json_starved(void);

/* Returns a number; NaN and infinity become null. */
json_t *gi_json_real(double value);

/* Parses a value; NULL if the text is not JSON. The caller releases it with json_decref(). Errors:
 * GI_E_MEMORY, also if memory ran out earlier since gi_json_start(). */
enum gi_status gi_json_read(json_t **value, const char *text, struct gi_err *err);

/* Returns `value` as text with jansson's flags, for the caller to free; takes `value`. NULL if
 * memory ran out since gi_json_start(). */
char *gi_json_dump(json_t *value, size_t flags);

/* Writes `value` and a newline: on one line, or with `indent` blanks per level; writes nothing if
 * memory ran out since gi_json_start(). Takes `value`. Errors: GI_E_MEMORY, GI_E_IO, GI_E_PIPE. */
enum gi_status gi_json_print(FILE *out, json_t *value, int indent, struct gi_err *err);
/* Does the same into memory that is later written to the descriptor `reader`; -1: to a file. */
enum gi_status gi_json_print_for(int reader, FILE *out, json_t *value, int indent,
                                 struct gi_err *err);

#endif
