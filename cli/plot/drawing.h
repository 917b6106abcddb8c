/* Draws shapes and text on a transparent image, by cairo.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/plot/pen.h"
#include "imgio/image.h"

enum gi_shape_kind {
    GI_SHAPE_BOX,     /* v: x, y, width, height; the line is inside. `text` is on a plate above */
    GI_SHAPE_LINE,    /* v: x and y of both ends */
    GI_SHAPE_CIRCLE,  /* v: x and y of the middle, radius */
    GI_SHAPE_POLYGON, /* v: x and y of each corner */
    GI_SHAPE_TEXT,    /* `text` at the place of `gravity`, v: offset x and y inwards from there */
    GI_SHAPE_BAR,     /* the same, above a bar that is v[2] pixels long */
};

/* Coordinates are pixels; whole numbers are the centres of pixels, except for boxes, whose corner
 * is that of a pixel. */
struct gi_shape {
    enum gi_shape_kind kind;
    double *v;               /* owned by the caller, as `text` is */
    int n;                   /* number of v */
    const char *text;        /* UTF-8; NULL: none */
    struct gi_ink ink, fill; /* line and text; inside of a shape or plate; alpha 0: none */
    double width, size;      /* of lines, and of letters */
    int gravity;             /* 0 to 8: north west, north, north east, west and so on, row by row */
};

/* A drawing, and the size of its image. */
struct gi_drawing {
    int width, height;
    const struct gi_shape *shapes;
    size_t n;
    const char *font; /* family */
};

/* Draws the shapes, in their order, in a subprocess. *made becomes the smallest part of the image
 * with everything that is visible: straight RGBA of GI_U8, which the caller frees, with its upper
 * left pixel at *x, *y. If nothing is visible, it is one transparent pixel. Errors: GI_E_MEMORY;
 * GI_E_UNSUPPORTED without cairo, or if no font draws a text; those of gi_subprocess_run(). */
enum gi_status gi_drawing_make(struct gi_image *made, int *x, int *y,
                               const struct gi_drawing *drawing, struct gi_err *err);
