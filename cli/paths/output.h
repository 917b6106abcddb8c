/* Checks of a command's outputs before any work.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"

/* Returns `path` without the prefix of an image format ("png:"), as a pointer into `path`. */
const char *gi_output_file(const char *path);

/* Checks that a file can be created or replaced at `path`, which has no prefix. "-" is always
 * accepted. The check leaves no file behind. Errors: GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_output_check(const char *path, bool no_clobber, struct gi_err *err);

/* Returns whether --no-clobber keeps a file at `path`, which may have a prefix: a regular file, of
 * any content. */
bool gi_output_exists(const char *path);

/* Returns whether the folder of `path` exists and can be reached; true for "-". If it returns
 * false, errno has the reason. `path` may have a prefix. */
bool gi_output_has_folder(const char *path);

/* Returns whether outputs to `a` and `b`, without prefixes, would overwrite each other. They would
 * if they have the same name in the same folder, are one file under two names, or are both standard
 * output. */
bool gi_output_same(const char *a, const char *b);

/* Refuses outputs that are the same file, and an output that is the same regular file as one of the
 * inputs. Device and inode are compared, so that other names, links and redirections are
 * recognised. Both lists end with NULL and may contain "-"; outputs may have a prefix ("png:"). An
 * image that a filter replaces in place must not be in the lists. Errors: GI_E_USAGE. */
enum gi_status gi_output_check_inputs(const char *const *outputs, const char *const *inputs,
                                      struct gi_err *err);

/* Refuses the prefix of an image format in the name of a file that is not an image. `option` is the
 * option that names the file ("--plot"), and `path` is the name, or NULL if the option was not
 * given. Errors: GI_E_USAGE. */
enum gi_status gi_output_check_plain(const char *option, const char *path, struct gi_err *err);

/* Checks that a folder of files can be created at `path`, the value of `option` ("--crops"), as
 * gi_bundle_folder() does. The folder must be new, and its parent must exist. Or it may replace an
 * empty folder, or if `ours` is not NULL, a folder in which ours() accepts all names. `what`
 * ("crops") is the word for these files in messages; NULL: the command has no --force. Errors:
 * GI_E_IO. */
enum gi_status gi_output_check_folder(const char *option, const char *path, const char *what,
                                      bool (*ours)(const char *name), struct gi_err *err);

/* Returns whether a name consists of `start`, digits, a dot and a suffix: "layer-000001.png". */
bool gi_output_is_numbered(const char *name, const char *start);

/* Refuses to replace a folder that contains an input. `path` is the folder and the value of
 * `option`. `inputs` ends with NULL and may include "-". Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_output_check_inside(const char *option, const char *path,
                                      const char *const *inputs, struct gi_err *err);
