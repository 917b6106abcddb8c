/* Help and manual pages, printed from the rows of commands and options.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_HELP_H
#define GI_CLI_HELP_H

#include "cli/command.h"

/* Help of all commands, of one, and manual pages (cli/help.c, cli/man.c). */
void gi_help_all(FILE *out);
void gi_help_common(FILE *out);
void gi_help_command(FILE *out, const struct gi_command *command);
void gi_man_all(FILE *out);
void gi_man_command(FILE *out, const struct gi_command *command);

/* What is of no command alone: a row of name, summary, manual, examples and options, no command.
 * NULL: there is none of that name (cli/topics.c). */
const struct gi_command *gi_topic_find(const char *name);
void gi_help_topic(FILE *out, const struct gi_command *topic);
void gi_man_topic(FILE *out, const struct gi_command *topic);

/* The names of an option and its argument: "-t, --at, --threshold", " LEVEL"; "[=WHAT]" where the
 * argument may be left out, "" for a flag. Both return buffer. */
const char *gi_option_names(const struct gi_option *row, char *buffer, size_t nbytes);
const char *gi_option_argument(const struct gi_option *row, char *buffer, size_t nbytes);
/* The argument alone: "LEVEL"; NULL for a flag. */
const char *gi_option_metavar(const struct gi_option *row);
/* "Side of the box (odd, 1 to 4001 px; default 3)". Returns buffer. */
const char *gi_option_describe(const struct gi_option *row, char *buffer, size_t nbytes);
/* Whether each choice is worth a line of its own, and what that line says: "the nearest pixel of
 * the image (also edge, copy)". `choice` is no alias. Returns buffer. */
bool gi_choices_have_help(const struct gi_option *row);
const char *gi_choice_describe(const struct gi_option *row, const struct gi_choice *choice,
                               char *buffer, size_t nbytes);

#endif
