/* libcairo at run time.
 * SPDX-License-Identifier: MIT */
#include "cli/cairo.h"
#include "cli/command.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define FUNCTION(name)                                                                             \
    {                                                                                              \
        "cairo_" #name, offsetof(struct gi_cairo, name)                                            \
    }

static const struct {
    const char *symbol;
    size_t offset;
} functions[] = {
    FUNCTION(create),
    FUNCTION(destroy),
    FUNCTION(status),
    FUNCTION(status_to_string),
    FUNCTION(image_surface_create),
    FUNCTION(surface_write_to_png_stream),
    FUNCTION(surface_destroy),
    FUNCTION(set_source_rgba),
    FUNCTION(set_line_width),
    FUNCTION(move_to),
    FUNCTION(line_to),
    FUNCTION(fill),
    FUNCTION(stroke),
    FUNCTION(paint),
    FUNCTION(save),
    FUNCTION(restore),
    FUNCTION(translate),
    FUNCTION(rotate),
    FUNCTION(select_font_face),
    FUNCTION(set_font_size),
    FUNCTION(text_extents),
    FUNCTION(show_text),
};

enum gi_status gi_cairo_open(struct gi_cairo *cairo, struct gi_err *err)
{
    void *library = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "plots as PNG need the cairo library, which is not installed (as .svg they "
                       "do not; Debian "
                       "and Ubuntu: package libcairo2)");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(library, functions[i].symbol);
        if (!found)
            return gi_fail(err, GI_E_UNSUPPORTED, "the cairo library here lacks %s",
                           functions[i].symbol);
        memcpy((char *)cairo + functions[i].offset, &found, sizeof found);
    }
    return GI_OK;
}
