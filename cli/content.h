/* The content of options of type GI_OPT_CONTENT.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"

/* Sets *content to the malloc()ed content of the file that `text` names. If row->drawn is set and
 * the file is an image, *content is the image written as text. *content is NULL if `text` does not
 * name a file, because `text` is then the content itself. The message of an error is one line that
 * begins with the name of the option. Errors: GI_E_USAGE, GI_E_IO, GI_E_LIMIT, GI_E_MEMORY, and for
 * images as gi_load(). */
enum gi_status gi_content_read(char **content, const struct gi_option *row, const char *text,
                               struct gi_err *err);
