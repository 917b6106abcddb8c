/* The colours of an image with their counts.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "kernels/color.h"

struct gi_palette_params {
    int top; /* 0: all */
};

struct gi_palette {
    uint64_t pixels, unique;     /* number of pixels in the image; number of distinct colours */
    size_t n;                    /* length of `each`, which may be less than `unique` */
    struct gi_color_count *each; /* sorted by descending count, equal counts by colour number */
};

/* Result: struct gi_palette. */
extern const struct gi_filter gi_filter_palette;
