/* Prefix sums of an image: integral images (summed-area tables), and sums along rows or columns.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_INTEGRAL_H
#define GI_FILTERS_INTEGRAL_H

#include "filters/filter.h"

struct gi_integral_params {
    int along; /* cumulative: 0 rows, 1 columns */
    bool squares;
};

struct gi_integral {
    /* A host GI_U32 image whose rows contain sums in the order of samples, as uint32_t, or with
     * twice as many columns as uint64_t or (for floats) double. */
    struct gi_image sums;
    int words;     /* 32-bit words per sum: 1 or 2 */
    bool is_float; /* the sums are doubles */
};

extern const struct gi_filter gi_filter_integral, gi_filter_cumulative;

#endif
