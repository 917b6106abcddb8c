/* Looks up commands in the list that main() passes. So the help, the parser and the chains do not
 * depend on single commands.
 * SPDX-License-Identifier: MIT */
#include "cli/commands.h"

#include <string.h>

static const struct gi_command *const *commands;

void gi_commands_use(const struct gi_command *const *rows)
{
    commands = rows;
}

static gi_line_runner *run_line;

void gi_commands_run_by(gi_line_runner *runner)
{
    run_line = runner;
}

int gi_command_line_run(int argc, char **argv, struct gi_err *err)
{
    return run_line(argc, argv, err);
}

const char *const gi_group_titles[GI_GROUPS] = {
    [GI_GROUP_TOOLS] = "Batches and tools",   [GI_GROUP_FILTERS] = "Filters",
    [GI_GROUP_MORPHOLOGY] = "Morphology",     [GI_GROUP_TONE] = "Tone and thresholds",
    [GI_GROUP_COLOR] = "Colour and channels", [GI_GROUP_GEOMETRY] = "Geometry",
    [GI_GROUP_IMAGES] = "Two or more images", [GI_GROUP_MEASUREMENT] = "Measurement",
    [GI_GROUP_REGIONS] = "Regions",
};

/* Fills in the members that a row takes from its operation, which are the first set, the group, and
 * missing texts. The rows can't contain them, because a constant can't be initialised from a
 * constant in another file. */
static void take_from_filter(struct gi_command *command)
{
    const struct gi_filter *filter = command->filter;
    if (!filter)
        return;
    if (!command->sets[0].rows)
        command->sets[0] =
            (struct gi_option_set){"Options", filter->options, filter->params_nbytes};
    if (!command->name)
        command->name = filter->name;
    if (!command->group)
        command->group = filter->group;
    if (!command->summary)
        command->summary = filter->summary;
    if (!command->manual)
        command->manual = filter->manual;
    if (!command->examples)
        command->examples = filter->examples;
}

/* Returns the row of the command that belongs to `filter` alone; NULL if there is no such row. */
static const struct gi_command *row_of(const struct gi_filter *filter)
{
    for (int i = 1; commands[i]; i++)
        if (commands[i]->filter == filter)
            return commands[i];
    return NULL;
}

const struct gi_reporter *gi_reporter_find(const struct gi_filter *filter)
{
    const struct gi_command *row = row_of(filter);
    return row ? row->reporter : NULL;
}

const struct gi_drawings *gi_drawings_find(const struct gi_filter *filter)
{
    const struct gi_command *row = row_of(filter);
    return row ? row->drawings : NULL;
}

bool gi_command_at(struct gi_command *command, int index)
{
    for (int i = 0; gi_filters[i]; i++) {
        if (!gi_filters[i]->run || row_of(gi_filters[i]))
            continue;
        if (index-- == 0) {
            *command = *commands[0];
            command->filter = gi_filters[i];
            take_from_filter(command);
            return true;
        }
    }
    for (int i = 1; commands[i]; i++)
        if (index-- == 0) {
            *command = *commands[i];
            take_from_filter(command);
            return true;
        }
    return false;
}

bool gi_command_find(struct gi_command *command, const char *name)
{
    for (int i = 0; gi_command_at(command, i); i++)
        if (strcmp(command->name, name) == 0)
            return true;
    return false;
}

int gi_command_set(const struct gi_command *command, const struct gi_option *rows)
{
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        if (command->sets[s].rows == rows)
            return s;
    return -1;
}

const struct gi_option *gi_command_operand(const struct gi_command *command)
{
    for (const struct gi_option *row = command->sets[0].rows; row && row->name; row++)
        if (row->operand)
            return row;
    return NULL;
}

bool gi_option_has_json(const struct gi_option *row)
{
    if (strcmp(row->name, "format") != 0)
        return false;
    for (const struct gi_choice *c = row->choices; c && c->name; c++)
        if (strcmp(c->name, "json") == 0)
            return true;
    return false;
}

const struct gi_option *gi_option_json(const struct gi_command *command)
{
    for (int s = 0; s < GI_OPTION_SETS_MAX && command->sets[s].rows; s++)
        for (const struct gi_option *row = command->sets[s].rows; row->name; row++)
            if (gi_option_has_json(row))
                return row;
    return NULL;
}

enum gi_status gi_operations_check(char **names, int n, struct gi_err *err)
{
    for (int i = 0; i < n; i++)
        if (!gi_filter_find(names[i]))
            return gi_fail(err, GI_E_USAGE, "%s: no such operation (try gpuimg list)", names[i]);
    return GI_OK;
}

bool gi_operation_is_named(const char *name, char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return n == 0;
}
