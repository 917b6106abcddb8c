/* Alignment: the shift that moves an image over a reference image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

struct gi_align_params {
    const char *reference;
};

struct gi_align {
    /* pixels by which the image has to be moved to the right and down; fractions are possible */
    double dx, dy;
    /* correlation coefficient of the reference and the moved image, -1 to 1; 0 if one is flat */
    double score;
};

/* The result is a struct gi_align. */
extern const struct gi_filter gi_filter_align;
