/* The bands that an expression of calc names, as a[b5].
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

enum { GI_CALC_BANDS_TEXT = 24 };

/* Writes the bands of the input that the expression names, as --bands takes them, for example
 * "4,1,1". They are then channels of the input, in this order. Returns false if it names none. */
bool gi_calc_choose_bands(char text[GI_CALC_BANDS_TEXT], void *params);

extern const struct gi_filter gi_filter_calc;
