/* What an option of type GI_OPT_CONTENT says.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_CONTENT_H
#define GI_CLI_CONTENT_H

#include "filters/option.h"

/* *content, malloc()ed: what is in the file that `text` names, where row->drawn is set of an image
 * what that says; NULL where `text` names no file and is the content itself. Errors, in one line
 * that begins with the option: GI_E_USAGE, GI_E_IO, GI_E_LIMIT, GI_E_MEMORY; of images gi_load()'s.
 */
enum gi_status gi_content_read(char **content, const struct gi_option *row, const char *text,
                               struct gi_err *err);

#endif
