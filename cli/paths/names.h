/* Names of a batch's outputs, made from the names of its inputs.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "cli/paths/input_list.h"

/* The letters that {channel} may stand for. */
enum { GI_NAMING_CHANNELS = 5 + 16 }; /* of bands the first 16 */
extern const char *const gi_naming_channels[GI_NAMING_CHANNELS];

/* How outputs are named. */
struct gi_naming {
    const char *folder; /* --out-dir; NULL if the folder is in the template */
    /* --out. NULL means "{tree}/{stem}.{ext}", or for outputs per channel
     * "{tree}/{stem}_{channel}.{ext}". */
    const char *template;
    const char *suffix; /* --suffix, with or without its dot; NULL: the input's suffix */
    /* The letter in place of {channel}, for outputs per channel. "" keeps the field {channel} in
     * the name, which then stands for all channels. NULL if there is no such field. */
    const char *channel;
    bool pages; /* names may have the field {page}, the number of a page in its input */
    /* Number of the page, from 0; -1: the name stands for all pages, and {page} stays in it. */
    int page;
    bool sizes; /* names may have the fields {width} and {height}, which stay in them */
    /* The number for {index}, less 1; NULL: it follows from the position in the list. */
    const uint64_t *index;
    const char *option; /* the option that gave the template, for messages; NULL means --out */
};

/* Checks that the template is valid. Its fields: {dir} is the input's folder, {tree} the input's
 * path below the folder that was named, {stem} its name without suffix, {ext} the output's suffix,
 * {name} the input's whole name, {date} its day (gi_image_date()), {index} its number in the list
 * from 1, {width} and {height} the size of the result, and {channel} a letter of rgbak, which
 * outputs per channel require. {index:04}, {page:04} and so on have at least four digits. Errors:
 * GI_E_USAGE. */
enum gi_status gi_naming_check(const struct gi_naming *naming, struct gi_err *err);

/* Returns whether the path of an output names a file for each image of a stream, or for each page,
 * because the path contains {index} or {page}. */
bool gi_naming_is_many(const char *path);

/* Returns whether the outputs have {page} in their names. */
bool gi_naming_has_page(const struct gi_naming *naming);
/* Returns whether {page} is in the path of an output. */
bool gi_naming_is_per_page(const char *path);
/* Returns whether {width} or {height} is in the path of an output. */
bool gi_naming_is_per_size(const char *path);
/* Returns `output` with these numbers of pixels in place of {width} and {height}; the caller frees
 * it. */
char *gi_naming_size(const char *output, int width, int height);
/* Cuts `path` before its first field {width} or {height}. */
void gi_naming_cut_size(char *path);
/* Makes those folders of `path` whose names depend on the size; `output` is the path with the
 * fields. Errors: GI_E_IO, GI_E_AGAIN. */
enum gi_status gi_naming_size_folder(const char *output, const char *path, struct gi_err *err);
/* Returns `output` with the number of a page in place of {page}; the caller frees it. */
char *gi_naming_page(const char *output, int page);

/* Returns the output of input `index` of the list; the caller frees it. */
char *gi_naming_output(const struct gi_naming *naming, const struct gi_list *list, size_t index);

/* `path` is the output of input `index`. Makes those of its folders that depend on the channel.
 * gi_naming_folders() has made the other folders. Errors: GI_E_IO, GI_E_AGAIN. */
enum gi_status gi_naming_folder(const struct gi_naming *naming, const struct gi_list *list,
                                size_t index, const char *path, struct gi_err *err);

/* Makes the folders of all outputs, except those that depend on a channel or a size. Removes the
 * temporary files of killed processes from all folders of outputs that exist. Errors: GI_E_IO,
 * GI_E_AGAIN, GI_E_MEMORY. */
enum gi_status gi_naming_folders(const struct gi_naming *naming, const struct gi_list *list,
                                 struct gi_err *err);
