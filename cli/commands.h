/* The list of commands, and operations by name.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_H
#define GI_CLI_COMMANDS_H

#include "cli/command.h"

/* The rows of all commands, ended by NULL (cli/commands/rows.c). The first row has no name: it is
 * the command of all operations from image to image without a row of their own. */
extern const struct gi_command *const gi_command_rows[];
extern const struct gi_command gi_command_filter;
/* Sets the rows that gi_command_at(), gi_command_find() and gi_reporter_find() search. Must be
 * called once, before all other functions; `rows` must outlive all calls. */
void gi_commands_use(const struct gi_command *const *rows);

/* Returns the reporter of an analysis, from the row of its command; NULL: none. */
struct gi_reporter;
const struct gi_reporter *gi_reporter_find(const struct gi_filter *filter);

/* Checks operands that name operations. Errors: GI_E_USAGE for an unknown one. */
enum gi_status gi_operations_check(char **names, int n, struct gi_err *err);
/* Returns whether `name` is one of the n names; true if n is 0. */
bool gi_operation_is_named(const char *name, char **names, int n);

/* Prints the completions of the last of `words`, one "WORD<tab>description" per line, and ":files"
 * if the word may be a file. `words` are those after "gpuimg"; bash splits words at "=", so that
 * one word may come as three. */
void gi_complete(int nwords, char **words);

#endif
