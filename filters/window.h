/* The neighbourhood of a pixel, by --k or --size: the structuring element of morphology, the window
 * of rank filters and the like.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_WINDOW_H
#define GI_FILTERS_WINDOW_H

#include "filters/filter.h"

/* Must be the first member of the parameters of such an operation. */
struct gi_window_params {
    int k;                 /* pixels; 0: unset until the check */
    struct gi_extent size; /* unset: k x k */
    int shape;             /* enum gi_window_shape */
    const char *mask;      /* rows of numbers, 0 for pixels that do not count; NULL: unset */
};

enum gi_window_shape { GI_WINDOW_RECT, GI_WINDOW_DISK, GI_WINDOW_DIAMOND };
extern const struct gi_choice gi_window_shapes[];

/* Rows of --k and --size; `most`: maximum side in pixels, as a number and in words. */
#define GI_WINDOW_OPTIONS(most, most_text)                                                         \
    {.name = "k",                                                                                  \
     .letter = 'k',                                                                                \
     .type = GI_OPT_ODD,                                                                           \
     .offset = offsetof(struct gi_window_params, k),                                               \
     .min = 1,                                                                                     \
     .max = most,                                                                                  \
     .unit = "px",                                                                                 \
     .help = "Side of a square with the pixel in its middle; 3 where --size says nothing else"},   \
    {                                                                                              \
        .name = "size", .type = GI_OPT_EXTENT, .offset = offsetof(struct gi_window_params, size),  \
        .form = "WIDTHxHEIGHT or 50%",                                                             \
        .help = "Width and height of a rectangle, odd or even, at most " most_text                 \
                " px each, or per cent of the image"                                               \
    }

/* Rows of --shape and --mask, for operations with structuring elements of any shape. */
#define GI_SHAPE_OPTIONS                                                                           \
    {.name = "shape",                                                                              \
     .type = GI_OPT_CHOICE,                                                                        \
     .offset = offsetof(struct gi_window_params, shape),                                           \
     .default_text = "rect",                                                                       \
     .choices = gi_window_shapes,                                                                  \
     .help = "What of the square counts"},                                                         \
    {                                                                                              \
        .name = "mask", .type = GI_OPT_CONTENT, .offset = offsetof(struct gi_window_params, mask), \
        .drawn = true, .metavar = "ROWS|FILE",                                                     \
        .help = "Any shape instead: rows of 1, what counts, and 0, or a file that holds them, or " \
                "an image of one channel, of which all counts that is not black"                   \
    }

/* A paragraph on them for manuals. */
#define GI_SHAPE_MANUAL                                                                            \
    "With --shape disk a pixel of the square counts where its distance to the middle is at most "  \
    "(k - 1) / 2, as in scikit-image's disk(r), with diamond where the two distances add up to "   \
    "that. --mask draws any shape, of up to 4001 runs of pixels: a row of 1 and 0 a line, or "     \
    "parted by ';', \"0 1 0; 1 1 1\", "                                                            \
    "or an image such as mask.png; its middle is that of its rectangle, of an even side the "      \
    "later one."

/* gi_filter.check for parameters that begin with a struct gi_window_params. */
enum gi_status gi_window_check(void *params, struct gi_err *err);

/* Finds the sides in pixels for an image like `src`. Errors: GI_E_USAGE if one is longer than
 * `most`. */
enum gi_status gi_window_sides(int *width, int *height, const struct gi_window_params *window,
                               const struct gi_image *src, int most, struct gi_err *err);

/* A structuring element as primitives take it: its rectangle, with the pixel itself at (width / 2,
 * height / 2), and, unless it is the whole rectangle, its runs, which gi_shape_free() frees. */
struct gi_shape {
    int width, height;
    int pixels;
    struct gi_run *runs; /* nruns; NULL: the whole rectangle */
    int nruns;
};

/* Makes the structuring element `made` for an image like `src`. Errors: GI_E_USAGE as
 * gi_window_sides(), and for an invalid mask; GI_E_MEMORY; then nothing is left to free. */
enum gi_status gi_shape_make(struct gi_shape *made, const struct gi_window_params *window,
                             const struct gi_image *src, int most, struct gi_err *err);
void gi_shape_free(struct gi_shape *made);

#endif
