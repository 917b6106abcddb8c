/* Peaks: local maxima of an image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

struct gi_peaks_params {
    int min_distance; /* px */
    struct gi_level at;
    int count; /* 0: all */
    bool keep_border;
};

struct gi_peak {
    int x, y;
    double value; /* sample, or the luma of a colour image */
};

/* Peaks by descending value; equal values are in raster order. */
struct gi_peaks {
    uint64_t n;
    struct gi_peak *peaks; /* owned */
    uint64_t room;         /* number of peaks that there is memory for */
};

/* Result: struct gi_peaks. */
extern const struct gi_filter gi_filter_peaks;
