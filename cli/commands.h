/* The list of commands, and functions that find operations by name.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/* The rows of all commands, ended by NULL (cli/commands/rows.c). The first row has no name. It
 * describes the command of every operation from image to image that has no row of its own. */
extern const struct gi_command *const gi_command_rows[];
extern const struct gi_command gi_command_filter;
/* Sets the rows that gi_command_at(), gi_command_find() and gi_reporter_find() search. Must be
 * called once, before all other functions; `rows` must outlive all calls. */
void gi_commands_use(const struct gi_command *const *rows);

/* Returns the reporter of an analysis, from the row of its command; NULL if there is none. */
struct gi_reporter;
const struct gi_reporter *gi_reporter_find(const struct gi_filter *filter);
/* Returns the functions of the command that makes the drawings of `filter`, or NULL. */
const struct gi_drawings *gi_drawings_find(const struct gi_filter *filter);

/* Runs a command line, whose first word is the name of a command, as main() does, and logs its
 * error. Returns the exit status. gi_commands_run_by() sets the function that does this, which
 * main() has. */
typedef int gi_line_runner(int argc, char **argv, struct gi_err *err);
void gi_commands_run_by(gi_line_runner *runner);
int gi_command_line_run(int argc, char **argv, struct gi_err *err);

/* Checks operands that name operations. Errors: GI_E_USAGE for an unknown name. */
enum gi_status gi_operations_check(char **names, int n, struct gi_err *err);
/* Returns whether `name` is one of the n names; true if n is 0. */
bool gi_operation_is_named(const char *name, char **names, int n);

/* Prints the completions of the last of `words`, one "WORD<tab>description" per line, and ":files"
 * if the word may be a file. `words` are the words after "gpuimg". Bash splits words at "=", so
 * "--a=b" may arrive as three words. */
void gi_complete(int nwords, char **words);
