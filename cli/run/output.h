/* Checks of a command's outputs before any work.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_OUTPUT_H
#define GI_CLI_RUN_OUTPUT_H

#include "cli/command.h"

/* Returns `path` without the prefix of an image format ("png:"). Points into `path`. */
const char *gi_output_file(const char *path);

/* Checks that a file can be created or replaced at `path`, which has no prefix; "-" always can.
 * Leaves nothing behind. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_output_check(const char *path, bool no_clobber, struct gi_err *err);

/* Returns whether the folder of `path`, which may have a prefix, exists and can be reached; true
 * for "-". Otherwise errno has the reason. */
bool gi_output_has_folder(const char *path);

/* Returns whether outputs to `a` and `b`, without prefixes, would overwrite each other: the same
 * name in the same folder, the same file by two names, or standard output. */
bool gi_output_same(const char *a, const char *b);

/* Refuses an output that is one of the inputs: the same regular file by device and inode, under any
 * name, link or redirection. Both lists end with NULL and may contain "-"; outputs may have a
 * prefix ("png:"). An image that a filter replaces in place is not included. Errors: GI_E_USAGE. */
enum gi_status gi_output_check_inputs(const char *const *outputs, const char *const *inputs,
                                      struct gi_err *err);

/* Refuses the prefix of an image format for a file that is not an image. `option` as it was given:
 * "--plot". `path` NULL: it was not. Errors: GI_E_USAGE. */
enum gi_status gi_output_check_plain(const char *option, const char *path, struct gi_err *err);

/* Checks that a folder of files can be created at `path`, the value of `option` ("--crops"), as
 * gi_bundle_folder() does: new, in an existing folder, or replacing an empty one or, with `ours`,
 * one that contains only `what` ("crops"). Errors: GI_E_IO. */
enum gi_status gi_output_check_folder(const char *option, const char *path, const char *what,
                                      bool (*ours)(const char *name), struct gi_err *err);

/* Returns whether a name is `start`, digits, a dot and a suffix: "layer-000001.png". */
bool gi_output_is_numbered(const char *name, const char *start);

/* Refuses to replace a folder, the value of `option`, that contains one of the inputs; these end
 * with NULL and may include "-". Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_output_check_inside(const char *option, const char *path,
                                      const char *const *inputs, struct gi_err *err);

#endif
