/* Loads libcairo at run time.
 * SPDX-License-Identifier: MIT */
#include "cli/plot/cairo.h"
#include "imgio/library.h"

/* In the order of struct gi_cairo. */
static const char *const symbols[] = {
    "cairo_create",
    "cairo_destroy",
    "cairo_status",
    "cairo_status_to_string",
    "cairo_image_surface_create",
    "cairo_surface_write_to_png_stream",
    "cairo_surface_destroy",
    "cairo_surface_flush",
    "cairo_image_surface_get_data",
    "cairo_image_surface_get_stride",
    "cairo_set_source_rgba",
    "cairo_set_line_width",
    "cairo_move_to",
    "cairo_line_to",
    "cairo_fill",
    "cairo_stroke",
    "cairo_paint",
    "cairo_save",
    "cairo_restore",
    "cairo_translate",
    "cairo_rotate",
    "cairo_select_font_face",
    "cairo_set_font_size",
    "cairo_text_extents",
    "cairo_show_text",
    "cairo_arc",
    "cairo_close_path",
    "cairo_fill_preserve",
    "cairo_new_path",
    "cairo_set_line_cap",
};
static struct gi_cairo functions;
const struct gi_library gi_cairo_library = {
    .file = "libcairo.so.2",
    .name = "cairo",
    .package = "libcairo2",
    .symbols = symbols,
    .nsymbols = sizeof symbols / sizeof *symbols,
    .functions = &functions,
    .version = "cairo_version_string",
};
_Static_assert(sizeof functions == sizeof symbols, "a symbol for each function of the table");

enum gi_status gi_cairo_open(struct gi_cairo *cairo, struct gi_err *err)
{
    enum gi_status status = gi_library_load(&gi_cairo_library, err);
    *cairo = functions;
    return status;
}
