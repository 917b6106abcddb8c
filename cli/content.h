/* The content of options of type GI_OPT_CONTENT.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_CONTENT_H
#define GI_CLI_CONTENT_H

#include "filters/option.h"

/* Sets *content to the malloc()ed content of the file that `text` names, or with row->drawn to its
 * image as text. *content is NULL if `text` names no file and is the content itself. Errors are one
 * line, which begins with the option: GI_E_USAGE, GI_E_IO, GI_E_LIMIT, GI_E_MEMORY; for images
 * those of gi_load(). */
enum gi_status gi_content_read(char **content, const struct gi_option *row, const char *text,
                               struct gi_err *err);

#endif
