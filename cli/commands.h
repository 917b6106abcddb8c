/* The rows of commands that have a file of their own.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_H
#define GI_CLI_COMMANDS_H

#include "cli/command.h"

extern const struct gi_command gi_command_run, gi_command_histogram, gi_command_extract,
    gi_command_compare, gi_command_info, gi_command_devices, gi_command_list, gi_command_selftest,
    gi_command_bench, gi_command_completion, gi_command_help, gi_command_stack, gi_command_convert,
    gi_command_report, gi_command_channels, gi_command_montage, gi_command_orient, gi_command_stats,
    gi_command_palette, gi_command_integral, gi_command_cumulative, gi_command_split,
    gi_command_merge;

/* The command of a filter of image to image: gpuimg FILTER [OPTION...] INPUT OUTPUT. */
struct gi_command gi_filter_command(const struct gi_filter *filter);

/* Whether the command computes on images: what `list` calls an operation. */
bool gi_command_is_operation(const struct gi_command *command);

/* Operands that name operations to take part. Errors: GI_E_USAGE for one that there is not. */
enum gi_status gi_operations_check(char **names, int n, struct gi_err *err);
/* Whether `name` is among them; without any, all take part. */
bool gi_operation_is_named(const char *name, char **names, int n);

/* Prints what the last of `words` could become, one "WORD<tab>what it is" a line, and ":files"
 * where it could be a file. The words follow "gpuimg"; what bash parts at "=" may come in three. */
void gi_complete(int nwords, char **words);

#endif
