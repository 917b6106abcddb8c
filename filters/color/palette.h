/* The colours of an image, counted.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_PALETTE_H
#define GI_FILTERS_PALETTE_H

#include "filters/filter.h"

struct gi_palette_params {
    int top; /* 0: all */
};

struct gi_palette {
    uint64_t pixels, unique;      /* of the image; different colours in it */
    size_t n;                     /* of `each`: the first of them */
    struct gi_colour_count *each; /* the most frequent first, of equals by their number */
};

/* Result: struct gi_palette. */
extern const struct gi_filter gi_filter_palette;

#endif
