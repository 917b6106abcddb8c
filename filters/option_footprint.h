/* The neighbourhood that the options --k, --size, --shape or --mask define. It is the structuring
 * element of morphology, and the neighbourhood of rank filters.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

/* The first member of the parameters of operations with a neighbourhood. */
struct gi_footprint_params {
    int k; /* pixels; 0: unset. The check then sets 3, unless --size or --mask is given */
    struct gi_extent size; /* unset: k x k */
    int shape;             /* enum gi_footprint_shape */
    const char *mask; /* rows of numbers, which are 0 for pixels that do not belong; NULL: unset */
};

enum gi_footprint_shape { GI_FOOTPRINT_RECT, GI_FOOTPRINT_DISK, GI_FOOTPRINT_DIAMOND };
extern const struct gi_choice gi_footprint_shapes[];

/* The option rows of --k and --size. `most` is the maximum side in pixels, and `most_text` is the
 * same number as text. */
#define GI_FOOTPRINT_SIZE_OPTIONS(most, most_text)                                                 \
    {GI_OPTION("k", ODD, struct gi_footprint_params, k),                                           \
     .letter = 'k',                                                                                \
     .min = 1,                                                                                     \
     .max = most,                                                                                  \
     .unit = "px",                                                                                 \
     .help = "Side of the square around each pixel; without --k and --size it is 3"},              \
    {                                                                                              \
        GI_OPTION("size", EXTENT, struct gi_footprint_params, size),                               \
            .form = "WIDTHxHEIGHT or 50%",                                                         \
            .help =                                                                                \
                "Use a rectangle of this width and height in place of the square of --k. Each "    \
                "side may be odd or even and is at most " most_text " px, or it is a percentage "  \
                "of the image's side"                                                              \
    }

/* The option rows of --shape and --mask, for operations that take structuring elements of any
 * shape. */
#define GI_FOOTPRINT_SHAPE_OPTIONS                                                                 \
    {GI_OPTION("shape", CHOICE, struct gi_footprint_params, shape), .default_text = "rect",        \
     .choices = gi_footprint_shapes, .help = "Shape of the structuring element"},                  \
    {                                                                                              \
        GI_OPTION("mask", CONTENT, struct gi_footprint_params, mask),                              \
            .drawn = true, .metavar = "ROWS|FILE",                                                 \
            .help =                                                                                \
                "Structuring element of any shape: rows of 1 (inside) and 0 (outside), or the "    \
                "name of a file, which is either a text with such rows or a gray image in "        \
                "which black is outside"                                                           \
    }

/* An option row for gi_footprint_place(). `member` is a struct gi_reals within `params`, and
 * `moved` is what it moves. */
#define GI_FOOTPRINT_ORIGIN_OPTION(option_name, params, member, moved)                             \
    {                                                                                              \
        GI_OPTION(option_name, REALS, params, member),                                             \
            .least = 2, .most = 2, .min = -(GI_TAPS_MAX / 2), .max = GI_TAPS_MAX / 2,              \
            .metavar = "X,Y", .unit = "px",                                                        \
            .help =                                                                                \
                "Column and row of the pixel itself in " moved ", counted from its middle to the " \
                "right and down: whole numbers. It must be inside the rectangle"                   \
    }

/* A paragraph about --origin for manuals. */
#define GI_FOOTPRINT_ORIGIN_MANUAL                                                                 \
    "The middle of the structuring element is placed at the pixel itself. With --origin X,Y this " \
    "is instead the pixel of the structuring element X columns to the right of its middle and Y "  \
    "rows below it, so that a positive origin covers more pixels to the left and above. In scipy " \
    "this is origin=(Y, X)."

/* A paragraph about --shape and --mask for manuals. */
#define GI_FOOTPRINT_SHAPE_MANUAL                                                                  \
    "The structuring element is the set of neighbours that are used: by default a square of "      \
    "--k x --k pixels around the pixel. --size gives a rectangle instead. --shape disk takes "     \
    "the pixels of the square whose distance to the middle is at most (k - 1) / 2, like "          \
    "scikit-image's disk(r). --shape diamond takes the pixels with |x| + |y| at most (k - 1) / "   \
    "2, where x and y are the distances to the middle. --mask gives any other shape: rows of 1 "   \
    "(inside) and 0 (outside) that are separated by ';' or line ends, for example \"0 1 0; 1 1 "   \
    "1\", or a gray image whose black pixels are outside. A mask has at most 4001 horizontal "     \
    "runs of pixels. If a side is even, the later one of its two middle pixels counts as the "     \
    "middle."

/* Checks that at most one of --k and --size is given, and --size with both sides: the part of
 * gi_footprint_check() for operations that take no other shape. */
enum gi_status gi_footprint_size_check(const struct gi_footprint_params *params,
                                       struct gi_err *err);
/* Finds the sides in pixels of the rectangle for an image like `src`. Errors: GI_E_USAGE if a side
 * exceeds `most`. */
enum gi_status gi_footprint_sides(int *width, int *height, const struct gi_footprint_params *params,
                                  const struct gi_image *src, int most, struct gi_err *err);

/* gi_filter.check for parameters that begin with a struct gi_footprint_params. */
enum gi_status gi_footprint_check(void *params, struct gi_err *err);

/* A structuring element in the form for primitives. In its rectangle the pixel itself is at the
 * anchor, which is (width / 2, height / 2) unless gi_footprint_place() moves it. `runs`, which
 * gi_footprint_free() frees, is NULL if the element is the whole rectangle. */
struct gi_footprint {
    int width, height;
    int anchor_x, anchor_y;
    int pixels;
    struct gi_footprint_run *runs; /* `nruns` runs; NULL: the whole rectangle */
    int nruns;
};

/* Makes the structuring element `made` for an image like `src`. Errors: GI_E_USAGE if a side
 * exceeds `most`, GI_E_USAGE for an invalid mask, GI_E_MEMORY. After an error there is nothing to
 * free. */
enum gi_status gi_footprint_make(struct gi_footprint *made,
                                 const struct gi_footprint_params *window,
                                 const struct gi_image *src, int most, struct gi_err *err);
/* The same from rows of numbers, the value of the option `name`. */
enum gi_status gi_footprint_read(struct gi_footprint *made, const char *text, const char *name,
                                 int most, struct gi_err *err);
/* Moves the anchor by the value X,Y of the option `name`, if there is one: scipy's `origin`.
 * Errors: GI_E_USAGE if the anchor would be outside the rectangle. */
enum gi_status gi_footprint_place(struct gi_footprint *made, const struct gi_reals *origin,
                                  const char *name, struct gi_err *err);
/* Returns how many rows of it are above or below the pixel itself, whichever is more. */
static inline int gi_footprint_halo(const struct gi_footprint *w)
{
    int below = w->height - 1 - w->anchor_y;
    return w->anchor_y > below ? w->anchor_y : below;
}
void gi_footprint_free(struct gi_footprint *made);
