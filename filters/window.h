/* A rectangle of pixels around each one, by --k or --size: what erosions, ranks and their like look
 * at. SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_WINDOW_H
#define GI_FILTERS_WINDOW_H

#include "filters/filter.h"

/* The first member of the parameters of such an operation. */
struct gi_window_params {
    int k;                 /* pixels; 0: unset, until the check */
    struct gi_extent size; /* unset: k x k */
};

/* Rows of --k and --size; `most`: of a side, pixels, and in words. */
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
        .help = "Width and height of a rectangle, odd or even, at most " most_text                 \
                " px each, or per cent of the image"                                               \
    }

/* The check of gi_filter: `params` begin with a struct gi_window_params. */
enum gi_status gi_window_check(void *params, struct gi_err *err);

/* The sides in pixels for an image like `src`. Errors: GI_E_USAGE, one is longer than `most`. */
enum gi_status gi_window_sides(int *width, int *height, const struct gi_window_params *window,
                               const struct gi_image *src, int most, struct gi_err *err);

#endif
