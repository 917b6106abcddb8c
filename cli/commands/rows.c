/* The list of commands. Operations from image to image share the first row.
 * SPDX-License-Identifier: MIT */
#include "cli/commands.h"

extern const struct gi_command gi_command_channels, gi_command_split, gi_command_merge,
    gi_command_montage, gi_command_pages, gi_command_flip, gi_command_rotate, gi_command_transpose,
    gi_command_crop, gi_command_orient, gi_command_resize, gi_command_run, gi_command_convert,
    gi_command_stack, gi_command_stats, gi_command_histogram, gi_command_integral,
    gi_command_cumulative, gi_command_palette, gi_command_hash, gi_command_duplicates,
    gi_command_extract, gi_command_compare, gi_command_info, gi_command_report, gi_command_devices,
    gi_command_list, gi_command_jobs, gi_command_selftest, gi_command_bench, gi_command_completion,
    gi_command_help;

const struct gi_command *const gi_command_rows[] = {
    &gi_command_filter,     &gi_command_channels,
    &gi_command_split,      &gi_command_merge,
    &gi_command_montage,    &gi_command_pages,
    &gi_command_flip,       &gi_command_rotate,
    &gi_command_transpose,  &gi_command_crop,
    &gi_command_orient,     &gi_command_resize,
    &gi_command_run,        &gi_command_convert,
    &gi_command_stack,      &gi_command_stats,
    &gi_command_histogram,  &gi_command_integral,
    &gi_command_cumulative, &gi_command_palette,
    &gi_command_hash,       &gi_command_duplicates,
    &gi_command_extract,    &gi_command_compare,
    &gi_command_info,       &gi_command_report,
    &gi_command_devices,    &gi_command_list,
    &gi_command_jobs,       &gi_command_selftest,
    &gi_command_bench,      &gi_command_completion,
    &gi_command_help,       NULL,
};
