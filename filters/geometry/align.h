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

/* Makes *params, the parameters of gi_filter_shift that move the image as `found` says, with cubic
 * interpolation. The caller frees them, also after an error. Errors: those of gi_option_set(). */
extern const struct gi_filter gi_filter_shift;
enum gi_status gi_align_shift(void **params, const struct gi_align *found, struct gi_err *err);
