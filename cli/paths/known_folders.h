/* The folders of outputs whose number is not known before the work, made when they are needed. A
 * table of fixed size remembers which folders were made.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/paths/names.h"

struct gi_known_folders;

/* Makes the folder of `output`, which is the output of the only input in `one`, as
 * gi_naming_folders() does, unless the table says that this was done. *folders is NULL in the first
 * call. One thread at a time may call this. Errors: as gi_naming_folders(). */
enum gi_status gi_known_folders_make(struct gi_known_folders **folders,
                                     const struct gi_naming *naming, const struct gi_list *one,
                                     const char *output, struct gi_err *err);
void gi_known_folders_free(struct gi_known_folders **folders);
