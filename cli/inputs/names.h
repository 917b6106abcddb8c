/* Names of a batch's outputs, made from the names of its inputs.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_NAMES_H
#define GI_CLI_INPUTS_NAMES_H

#include "cli/inputs/input_list.h"

/* All letters that {channel} may stand for. */
enum { GI_NAMING_CHANNELS = 5 };
extern const char *const gi_naming_channels[GI_NAMING_CHANNELS];

/* How outputs are named. */
struct gi_naming {
    const char *folder;   /* --out-dir; NULL: the template alone decides */
    const char *template; /* --out; NULL: "{tree}/{stem}.{ext}", or {stem}_{channel} */
    const char *suffix;   /* --suffix, with or without its dot; NULL: that of the input */
    const char *channel;  /* for inputs that have an output per channel: the letter for
                             {channel}; "" stands for all, and the field is kept. NULL: there is
                             no such field */
    const char *option;   /* the option that gave the template, for messages; NULL: --out */
};

/* Checks that the template is valid: {dir} is the input's folder, {tree} its path below the folder
 * that was named, {stem} its name without suffix, {ext} the suffix of the output, {name} its whole
 * name, {index} its index in the list from 0, {channel} a letter of rgbak, which is required if
 * there is such a field. Errors: GI_E_USAGE. */
enum gi_status gi_naming_check(const struct gi_naming *naming, struct gi_err *err);

/* Returns the output of input `index` of the list; the caller frees it. NULL: out of memory. */
char *gi_naming_output(const struct gi_naming *naming, const struct gi_list *list, size_t index);

/* Makes the folders of `path`, the output of input `index` for a channel, that depend on the
 * channel; gi_naming_folders() has made the others. Errors: GI_E_IO, GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_naming_folder(const struct gi_naming *naming, const struct gi_list *list,
                                size_t index, const char *path, struct gi_err *err);

/* Makes the folders of the outputs, except those that depend on a channel, and clears from all of
 * them that exist the temporary files of runs that were killed. Errors: GI_E_IO, GI_E_AGAIN,
 * GI_E_MEMORY. */
enum gi_status gi_naming_folders(const struct gi_naming *naming, const struct gi_list *list,
                                 struct gi_err *err);

#endif
