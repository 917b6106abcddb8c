/* Drawing operations for charts: paths and text, on a PNG through cairo or as SVG. Lengths are in
 * pixels of the PNG and units of the SVG, from the top left.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_PLOT_PEN_H
#define GI_CLI_PLOT_PEN_H

#include <stdbool.h>

#include "imgio/imgio.h"

struct gi_ink {
    double red, green, blue, alpha; /* 0 to 1 */
};

struct gi_lettering {
    double size, across; /* across: alignment: the position is at the left end (0), the middle
                            (0.5) or the right end (1) of the text */
    bool bold, upwards;  /* upwards: rotated by a quarter turn counterclockwise */
};

/* fill() and stroke() complete the path that move_to() began. */
struct gi_pen {
    void (*move_to)(struct gi_pen *pen, double x, double y);
    void (*line_to)(struct gi_pen *pen, double x, double y);
    void (*fill)(struct gi_pen *pen, struct gi_ink ink);
    void (*stroke)(struct gi_pen *pen, struct gi_ink ink, double width);
    void (*text)(struct gi_pen *pen, double x, double y, struct gi_lettering lettering,
                 struct gi_ink ink, const char *words);
    /* Writes the buffered output and frees the pen. Errors: GI_E_IO, GI_E_PIPE, GI_E_MEMORY. */
    enum gi_status (*finish)(struct gi_pen *pen, struct gi_err *err);
};

/* Make a white page whose bytes are written to `sink`. Errors: GI_E_MEMORY; for PNG
 * GI_E_UNSUPPORTED without cairo. */
enum gi_status gi_pen_png(struct gi_pen **pen, struct gi_sink *sink, int width, int height,
                          struct gi_err *err);
enum gi_status gi_pen_svg(struct gi_pen **pen, struct gi_sink *sink, int width, int height,
                          struct gi_err *err);

#endif
