/* Prefix sums of an image: integral images (summed-area tables), and sums along rows or columns.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "filters/statistics/parts.h"

struct gi_integral_params {
    int along; /* for cumulative sums: 0 along rows, 1 along columns */
    bool squares;
};

struct gi_integral {
    /* A GI_U32 image in host memory whose rows contain the sums in the order of samples. The sums
     * are uint32_t. If there are twice as many columns, they are uint64_t or (for floats)
     * double. */
    struct gi_image sums;
    int words;     /* 32-bit words per sum: 1 or 2 */
    bool is_float; /* the sums are doubles */
};

/* Sets `row` to the sums of row y of a struct gi_integral, as floats. */
void gi_integral_row(float *row, int y, const void *integral);

/* Sums of an image of several bands, from those of its parts (filters/statistics/parts.h). */
extern const struct gi_parts_join gi_integral_parts;

extern const struct gi_filter gi_filter_integral, gi_filter_cumulative;
