/* Prints options from their rows, and wraps text.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "filters/option.h"

/* Prints `text` in lines of up to 80 columns, indented by `indent`; the first line begins at
 * `column`. */
void gi_help_wrap(FILE *out, const char *text, int indent, int column);

/* gi_option_names() prints the names of an option, "-t, --threshold". The other function prints its
 * argument, which is " LEVEL", or "[=WHAT]" if the argument may be left out, or "" for a flag. Both
 * return buffer. */
const char *gi_option_names(const struct gi_option *row, char *buffer, size_t nbytes);
const char *gi_option_argument(const struct gi_option *row, char *buffer, size_t nbytes);
/* Returns the name of the argument, such as "LEVEL", or NULL for a flag. */
const char *gi_option_metavar(const struct gi_option *row);
/* Describes an option: "Side of the box (odd, 1 to 4001 px; default 3; also --size)". Returns
 * buffer. */
const char *gi_option_describe(const struct gi_option *row, char *buffer, size_t nbytes);
/* gi_choices_have_help() returns whether the choices of the option have descriptions. If so, each
 * description is printed on a separate line. gi_choice_describe() prints this line for a `choice`
 * that is not an alias, "the nearest pixel of the image (also edge, copy)", and returns buffer. */
bool gi_choices_have_help(const struct gi_option *row);
const char *gi_choice_describe(const struct gi_option *row, const struct gi_choice *choice,
                               char *buffer, size_t nbytes);
