/* What the pages of `compare --html` and `duplicates --html` share: one HTML file that needs no
 * other file and no network.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "imgio/imgio.h"

/* Prints the beginning of a page: its title, its heading, the common style and `style`. The page
 * may not load anything, even if a name got through as markup; it may run the script of its own if
 * it `has_script`. */
void gi_html_begin(FILE *out, const char *title, const char *heading, const char *style,
                   bool has_script);

/* Prints text without markup, control characters, and characters that turn its direction. */
void gi_html_text(FILE *out, const char *text);

/* Prints the image as an element <img> that contains the file of `format`, "png" or "jpeg", with 8
 * bits. `alt` is text of the page's own. Errors: as gi_save_memory(). */
enum gi_status gi_html_picture(FILE *out, const struct gi_image *picture, const char *format,
                               const char *alt, struct gi_err *err);
