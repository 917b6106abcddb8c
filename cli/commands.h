/* The list of commands, and operations by name.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_H
#define GI_CLI_COMMANDS_H

#include "cli/command.h"

/* The rows of all commands, up to a NULL (cli/commands/rows.c). The first has no name: it is the
 * command of every operation of image to image that has no row here. */
extern const struct gi_command *const gi_command_rows[];
extern const struct gi_command gi_command_filter;
/* The rows that gi_command_at(), gi_command_find() and gi_reporter_find() look into. Called once,
 * first of all; `rows` outlives all calls. */
void gi_commands_use(const struct gi_command *const *rows);

/* The reporter of an analysis, from the row of its command; NULL: none. */
struct gi_reporter;
const struct gi_reporter *gi_reporter_find(const struct gi_filter *filter);

/* Operands that name operations to take part. Errors: GI_E_USAGE for one that there is not. */
enum gi_status gi_operations_check(char **names, int n, struct gi_err *err);
/* Whether `name` is among them; without any, all take part. */
bool gi_operation_is_named(const char *name, char **names, int n);

/* Prints what the last of `words` could become, one "WORD<tab>what it is" a line, and ":files"
 * where it could be a file. The words follow "gpuimg"; what bash parts at "=" may come in three. */
void gi_complete(int nwords, char **words);

#endif
