/* The list of commands: filters of image to image first, then those with a file of their own.
 * SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/command.h"
#include "cli/inputs/image_files.h"

#include <string.h>

static const struct gi_command *const commands[] = {
    &gi_command_channels, &gi_command_split,      &gi_command_merge,    &gi_command_montage,
    &gi_command_orient,   &gi_command_run,        &gi_command_convert,  &gi_command_stack,
    &gi_command_stats,    &gi_command_histogram,  &gi_command_integral, &gi_command_cumulative,
    &gi_command_palette,  &gi_command_extract,    &gi_command_compare,  &gi_command_info,
    &gi_command_report,   &gi_command_devices,    &gi_command_list,     &gi_command_selftest,
    &gi_command_bench,    &gi_command_completion, &gi_command_help,
};

enum { NCOMMANDS = sizeof commands / sizeof *commands };

const char *const gi_group_titles[GI_GROUPS] = {
    [GI_GROUP_TOOLS] = "Batches and tools",
    [GI_GROUP_FILTERS] = "Filters",
    [GI_GROUP_MORPHOLOGY] = "Morphology",
    [GI_GROUP_TONE] = "Tone and thresholds",
    [GI_GROUP_COLOUR] = "Colour and channels",
    [GI_GROUP_GEOMETRY] = "Geometry",
    [GI_GROUP_IMAGES] = "Two or more images",
    [GI_GROUP_MEASUREMENT] = "Measurement",
    [GI_GROUP_REGIONS] = "Regions",
};

/* The row of an analysis leaves its first set empty, and summary and manual where the filter's
 * serve, and the group: a constant cannot refer to what another file defines. */
static void take_from_filter(struct gi_command *command)
{
    const struct gi_filter *filter = command->filter;
    if (!filter)
        return;
    if (!command->sets[0].rows)
        command->sets[0] =
            (struct gi_option_set){"Options", filter->options, filter->params_nbytes};
    if (!command->group)
        command->group = filter->group;
    if (!command->summary)
        command->summary = filter->summary;
    if (!command->manual)
        command->manual = filter->manual;
}

/* Whether a filter of image to image has a command in the list above. */
static bool has_own(const struct gi_filter *filter)
{
    for (int i = 0; i < NCOMMANDS; i++)
        if (commands[i]->filter == filter)
            return true;
    return false;
}

bool gi_command_at(struct gi_command *command, int index)
{
    int nfilters = 0;
    for (int i = 0; gi_filters[i]; i++) {
        if (!gi_filters[i]->run || has_own(gi_filters[i]))
            continue;
        if (nfilters++ == index) {
            *command = gi_filter_command(gi_filters[i]);
            return true;
        }
    }
    if (index < 0 || index - nfilters >= NCOMMANDS)
        return false;
    *command = *commands[index - nfilters];
    take_from_filter(command);
    return true;
}

bool gi_command_find(struct gi_command *command, const char *name)
{
    for (int i = 0; gi_command_at(command, i); i++)
        if (strcmp(command->name, name) == 0)
            return true;
    return false;
}

bool gi_command_is_operation(const struct gi_command *command)
{
    bool reads = gi_command_set(command, gi_io_options) >= 0 ||
                 gi_command_set(command, gi_input_options) >= 0;
    return reads && command->run != gi_command_info.run && command->run != gi_command_convert.run &&
           command->run != gi_command_stack.run;
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
