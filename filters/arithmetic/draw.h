/* The operation draw, which composites a drawing onto its source. The drawing is made by the
 * caller, because operations have no access to libraries that draw.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

/* Makes the drawing of one image. */
struct gi_drawer {
    /* *drawing becomes the drawing for a source of this size, an image of straight RGBA of GI_U8
     * that the drawer owns, with its upper left pixel at (*x, *y) of the source. It is called for
     * each band of the source, by one thread at a time. */
    enum gi_status (*draw)(struct gi_drawer *drawer, const struct gi_image **drawing, int *x,
                           int *y, int width, int height, struct gi_err *err);
};

struct gi_draw_params {
    const char *boxes, *lines, *circles, *polygons; /* joined by GI_OPTION_NEXT */
    const char *text, *table, *scale_bar, *pixel_size, *font;
    const char *color, *fill;
    struct gi_reals at;
    int gravity;
    bool normalized;          /* coordinates are parts of the image's width and height */
    double size, width;       /* pixels; NAN: by the size of the image */
    struct gi_drawer *drawer; /* of the image; NULL: nothing is drawn */
};

extern const struct gi_filter gi_filter_draw;
