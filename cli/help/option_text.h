/* Options as text, from their rows, and text in lines.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_HELP_OPTION_TEXT_H
#define GI_CLI_HELP_OPTION_TEXT_H

#include <stdio.h>

#include "filters/option.h"

/* Prints `text` in lines of 80 columns that start at column `indent`; the first one goes on at
 * `column`. */
void gi_help_wrap(FILE *out, const char *text, int indent, int column);

/* The name of an option and its argument: "-t, --threshold", " LEVEL"; "[=WHAT]" where the
 * argument may be left out, "" for a flag. Both return buffer. */
const char *gi_option_names(const struct gi_option *row, char *buffer, size_t nbytes);
const char *gi_option_argument(const struct gi_option *row, char *buffer, size_t nbytes);
/* The argument alone: "LEVEL"; NULL for a flag. */
const char *gi_option_metavar(const struct gi_option *row);
/* "Side of the box (odd, 1 to 4001 px; default 3; also --size)". Returns buffer. */
const char *gi_option_describe(const struct gi_option *row, char *buffer, size_t nbytes);
/* Whether each choice is worth a line of its own, and what that line says: "the nearest pixel of
 * the image (also edge, copy)". `choice` is no alias. Returns buffer. */
bool gi_choices_have_help(const struct gi_option *row);
const char *gi_choice_describe(const struct gi_option *row, const struct gi_choice *choice,
                               char *buffer, size_t nbytes);

#endif
