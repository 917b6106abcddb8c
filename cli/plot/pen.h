/* Drawing operations for charts: paths and text, as PNG through cairo or as SVG. Lengths are pixels
 * of the PNG or units of the SVG; (0, 0) is at the top left.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "imgio/imgio.h"

struct gi_ink {
    double red, green, blue, alpha; /* 0 to 1 */
};

struct gi_lettering {
    /* `across` says which point of the text is at (x, y). It is the left end (0), the middle (0.5)
     * or the right end (1). */
    double size, across;
    bool bold, upwards; /* upwards: turned 90 degrees counterclockwise */
};

/* A pen. move_to() begins a path, and fill() or stroke() ends it. */
struct gi_pen {
    void (*move_to)(struct gi_pen *pen, double x, double y);
    void (*line_to)(struct gi_pen *pen, double x, double y);
    void (*fill)(struct gi_pen *pen, struct gi_ink ink);
    void (*stroke)(struct gi_pen *pen, struct gi_ink ink, double width);
    void (*text)(struct gi_pen *pen, double x, double y, struct gi_lettering lettering,
                 struct gi_ink ink, const char *words);
    /* Writes what is buffered, and frees the pen. Errors: GI_E_IO, GI_E_PIPE, GI_E_MEMORY. */
    enum gi_status (*finish)(struct gi_pen *pen, struct gi_err *err);
};

/* Make a pen for a white page, and write the page to `sink`. Errors: GI_E_MEMORY; for PNG also
 * GI_E_UNSUPPORTED without cairo. */
enum gi_status gi_pen_png(struct gi_pen **pen, struct gi_sink *sink, int width, int height,
                          struct gi_err *err);
enum gi_status gi_pen_svg(struct gi_pen **pen, struct gi_sink *sink, int width, int height,
                          struct gi_err *err);
