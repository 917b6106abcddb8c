/* JSON that is valid whatever the file names and numbers are.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_JSON_H
#define GI_CLI_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "imgio/status.h"

/* Must be called before any other JSON function. From then on running out of memory while a value
 * is made is remembered for gi_json_print(), so that the results of jansson's functions need no
 * checks. */
void gi_json_start(void);

/* A string; bytes that are no UTF-8 become U+FFFD. NULL text: null. */
json_t *gi_json_text(const char *text);

/* The name of a file as `key`, as gi_json_text(); where that loses bytes also all of them as
 * "KEY_hex", two digits a byte, so that gi_json_name() finds the file again. NULL name: null. */
void gi_json_set_name(json_t *object, const char *key, const char *name);
/* That name, for the caller to free. NULL: there is none, or out of memory. */
char *gi_json_name(const json_t *object, const char *key);

/* Whether memory ran out since gi_json_start(), for names too. */
bool gi_json_starved(void);

/* A number; NaN and infinity become null. */
json_t *gi_json_real(double value);

/* Reads a value; NULL where the text is no JSON. The caller drops it with json_decref(). Errors:
 * GI_E_MEMORY, also where memory ran out before, since gi_json_start(). */
enum gi_status gi_json_read(json_t **value, const char *text, struct gi_err *err);

/* `value` as text by jansson's flags, for the caller to free; takes `value`. NULL where memory ran
 * out since gi_json_start(). */
char *gi_json_dump(json_t *value, size_t flags);

/* Writes `value` and a newline: on one line, or with `indent` blanks a level; nothing of it where
 * memory ran out since gi_json_start(). Takes `value`. Errors: GI_E_MEMORY, GI_E_IO, GI_E_PIPE. */
enum gi_status gi_json_print(FILE *out, json_t *value, int indent, struct gi_err *err);
/* The same into memory that is finally written to the descriptor `reader`; -1: to a file. */
enum gi_status gi_json_print_for(int reader, FILE *out, json_t *value, int indent,
                                 struct gi_err *err);

#endif
