/* Fuzzes the values of options. One byte selects the command, the next byte one of its options, and
 * the rest is the value.
 * Sources: filters/option* cli/args/parse.c
 * SPDX-License-Identifier: MIT */
#include "small.h"

#include <math.h>

#include "cli/commands.h"

/* Returns option number `index` of the command, counted over all sets. Sets *set to the set that
 * contains the option. */
static const struct gi_option *option_at(const struct gi_command *command, int index, int *set)
{
    for (*set = 0; *set < GI_OPTION_SETS_MAX && command->sets[*set].rows; ++*set)
        for (const struct gi_option *row = command->sets[*set].rows; row->name; row++)
            if (index-- == 0)
                return row;
    return NULL;
}

/* Returns whether an accepted number is in the range of the option row. */
static bool is_within(const void *params, const struct gi_option *row)
{
    const char *at = (const char *)params + row->offset;
    double value;
    if (row->type == GI_OPT_INT || row->type == GI_OPT_ODD)
        value = *(const int *)(const void *)at;
    else if (row->type == GI_OPT_REAL)
        value = *(const double *)(const void *)at;
    else
        return true;
    bool has_range = row->min < 0 || row->min > 0 || row->max < 0 || row->max > 0;
    return !has_range || (value >= row->min && value <= row->max);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    gi_commands_use(gi_command_rows);
    struct gi_command command;
    struct gi_err err = {0};
    int set;
    if (nbytes < 2 || !gi_command_at(&command, bytes[0] % 128))
        return 0;
    const struct gi_option *row = option_at(&command, bytes[1] % 128, &set);
    char *text = row ? small_text(bytes + 2, nbytes - 2) : NULL;
    if (!text)
        return 0;
    void *params = calloc(1, command.sets[set].params_nbytes);
    if (!params)
        abort();
    gi_options_default(params, command.sets[set].rows);
    enum gi_status status = gi_option_read(params, row, text, &err);
    if (status != err.status || (status && !*err.text) || (!status && !is_within(params, row)))
        abort();
    free(params);
    free(text);
    return 0;
}
