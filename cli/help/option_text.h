/* Prints options from their rows, and wraps text.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_HELP_OPTION_TEXT_H
#define GI_CLI_HELP_OPTION_TEXT_H

#include <stdio.h>

#include "filters/option.h"

/* Prints `text` in lines of 80 columns that start at column `indent`; the first one continues at
 * `column`. */
void gi_help_wrap(FILE *out, const char *text, int indent, int column);

/* Fill the name of an option ("-t, --threshold") and its argument (" LEVEL"; "[=WHAT]" if it may be
 * left out, "" for a flag). Both return buffer. */
const char *gi_option_names(const struct gi_option *row, char *buffer, size_t nbytes);
const char *gi_option_argument(const struct gi_option *row, char *buffer, size_t nbytes);
/* Returns the argument alone: "LEVEL"; NULL for a flag. */
const char *gi_option_metavar(const struct gi_option *row);
/* Describes an option: "Side of the box (odd, 1 to 4001 px; default 3; also --size)". Returns
 * buffer. */
const char *gi_option_describe(const struct gi_option *row, char *buffer, size_t nbytes);
/* The first returns whether the choices have descriptions, each printed on a line of its own; the
 * second fills that line: "the nearest pixel of the image (also edge, copy)". `choice` is not an
 * alias. Returns buffer. */
bool gi_choices_have_help(const struct gi_option *row);
const char *gi_choice_describe(const struct gi_option *row, const struct gi_choice *choice,
                               char *buffer, size_t nbytes);

#endif
