/* libcairo, loaded when a plot is asked for and not before: the program starts and runs without it.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_CAIRO_H
#define GI_CLI_CAIRO_H

#include <cairo/cairo.h>

#include "imgio/status.h"

/* The functions that plots use, under cairo's names without the prefix. */
struct gi_cairo {
    __typeof__(cairo_create) *create;
    __typeof__(cairo_destroy) *destroy;
    __typeof__(cairo_status) *status;
    __typeof__(cairo_status_to_string) *status_to_string;
    __typeof__(cairo_image_surface_create) *image_surface_create;
    __typeof__(cairo_surface_write_to_png_stream) *surface_write_to_png_stream;
    __typeof__(cairo_surface_destroy) *surface_destroy;
    __typeof__(cairo_set_source_rgba) *set_source_rgba;
    __typeof__(cairo_set_line_width) *set_line_width;
    __typeof__(cairo_move_to) *move_to;
    __typeof__(cairo_line_to) *line_to;
    __typeof__(cairo_fill) *fill;
    __typeof__(cairo_stroke) *stroke;
    __typeof__(cairo_paint) *paint;
    __typeof__(cairo_save) *save;
    __typeof__(cairo_restore) *restore;
    __typeof__(cairo_translate) *translate;
    __typeof__(cairo_rotate) *rotate;
    __typeof__(cairo_select_font_face) *select_font_face;
    __typeof__(cairo_set_font_size) *set_font_size;
    __typeof__(cairo_text_extents) *text_extents;
    __typeof__(cairo_show_text) *show_text;
};

/* Loads the library, which then stays for the life of the process: the fonts that it caches would
 * leak if it went. Errors: GI_E_UNSUPPORTED where it is not installed. */
enum gi_status gi_cairo_open(struct gi_cairo *cairo, struct gi_err *err);

#endif
