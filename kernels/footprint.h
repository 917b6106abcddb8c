/* Structuring elements of any shape, as runs of pixels, and the limits of neighbourhoods.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_FOOTPRINT_H
#define GI_KERNELS_FOOTPRINT_H

#include "imgio/image.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GI_RUNS_MAX = 4001,   /* runs of a structuring element, one in each of GI_TAPS_MAX rows */
    GI_NONFLAT_MAX = 501, /* side of a structuring element with heights, so that its rows fit
                             in a cache */
    GI_MEDIAN_MAX = 1001, /* side of a rank filter's rectangle, so that halos remain small */
};

/* A run of a structuring element placed at pixel (px, py): the pixels px + first to px + last of
 * row py + y. */
struct gi_footprint_run {
    int16_t y, first, last;
};

static inline int gi_footprint_pixels(const struct gi_footprint_run *runs, int n)
{
    int pixels = 0;
    for (int i = 0; i < n; i++)
        pixels += runs[i].last - runs[i].first + 1;
    return pixels;
}

#ifdef __cplusplus
}
#endif

#endif
