/* libcairo, which is loaded at the first plot, so that the program starts and runs without this
 * library.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/library.h"
#include "imgio/status.h"

/* The part of the binary interface of cairo 1 that plots, labels and drawings use (see cairo's
 * manual, "cairo_t" to "PNG Support"). It is declared here because cairo's headers come with 77 MB
 * of packages. */
enum {
    GI_CAIRO_SUCCESS = 0,
    GI_CAIRO_NO_MEMORY = 1,
    GI_CAIRO_WRITE_ERROR = 11,
    GI_CAIRO_ARGB32 = 0, /* colours are multiplied by alpha */
    GI_CAIRO_RGB24 = 1,
    GI_CAIRO_CAP_SQUARE = 2, /* a line is longer at both ends, by half of its width */
    GI_CAIRO_SLANT_NORMAL = 0,
    GI_CAIRO_WEIGHT_NORMAL = 0,
    GI_CAIRO_WEIGHT_BOLD = 1,
};

struct gi_cairo_extents {
    double x_bearing, y_bearing, width, height, x_advance, y_advance;
};

struct gi_cairo_context; /* stands for cairo_t */
struct gi_cairo_surface; /* stands for cairo_surface_t */

/* The functions that plots, labels and drawings use. Their names are those of cairo without the
 * prefix, and cairo's enums are ints here. */
struct gi_cairo {
    struct gi_cairo_context *(*create)(struct gi_cairo_surface *surface);
    void (*destroy)(struct gi_cairo_context *cr);
    int (*status)(struct gi_cairo_context *cr);
    const char *(*status_to_string)(int status);
    struct gi_cairo_surface *(*image_surface_create)(int format, int width, int height);
    int (*surface_write_to_png_stream)(struct gi_cairo_surface *surface,
                                       int (*write)(void *closure, const unsigned char *bytes,
                                                    unsigned nbytes),
                                       void *closure);
    void (*surface_destroy)(struct gi_cairo_surface *surface);
    void (*surface_flush)(struct gi_cairo_surface *surface);
    unsigned char *(*image_surface_get_data)(struct gi_cairo_surface *surface);
    int (*image_surface_get_stride)(struct gi_cairo_surface *surface);
    void (*set_source_rgba)(struct gi_cairo_context *cr, double red, double green, double blue,
                            double alpha);
    void (*set_line_width)(struct gi_cairo_context *cr, double width);
    void (*move_to)(struct gi_cairo_context *cr, double x, double y);
    void (*line_to)(struct gi_cairo_context *cr, double x, double y);
    void (*fill)(struct gi_cairo_context *cr);
    void (*stroke)(struct gi_cairo_context *cr);
    void (*paint)(struct gi_cairo_context *cr);
    void (*save)(struct gi_cairo_context *cr);
    void (*restore)(struct gi_cairo_context *cr);
    void (*translate)(struct gi_cairo_context *cr, double x, double y);
    void (*rotate)(struct gi_cairo_context *cr, double angle);
    void (*select_font_face)(struct gi_cairo_context *cr, const char *family, int slant,
                             int weight);
    void (*set_font_size)(struct gi_cairo_context *cr, double size);
    void (*text_extents)(struct gi_cairo_context *cr, const char *text,
                         struct gi_cairo_extents *extents);
    void (*show_text)(struct gi_cairo_context *cr, const char *text);
    void (*arc)(struct gi_cairo_context *cr, double x, double y, double radius, double from,
                double to);
    void (*close_path)(struct gi_cairo_context *cr);
    void (*fill_preserve)(struct gi_cairo_context *cr);
    void (*new_path)(struct gi_cairo_context *cr);
    void (*set_line_cap)(struct gi_cairo_context *cr, int cap);
};

/* Loads the library. It stays loaded, because unloading would leak its cached fonts. Errors:
 * GI_E_UNSUPPORTED if it is not installed. */
enum gi_status gi_cairo_open(struct gi_cairo *cairo, struct gi_err *err);
extern const struct gi_library gi_cairo_library;
