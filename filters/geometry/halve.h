/* Halving: an image of half the width and height by means of 2 x 2 pixels, for image pyramids.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

/* Makes a row of (width + 1) / 2 pixels from two rows of `width` pixels. Each pixel is the mean of
 * 2 x 2 pixels. If `width` is odd, the last column counts twice; for the last row of an odd height,
 * the caller passes this row twice. Sums of integers are exact, and their mean is rounded to
 * nearest, half up. The mean of colours is weighted by alpha, and is 0 if all four pixels are
 * transparent. Floats are (a + b + (c + d)) * 0.25 in float, and with alpha double sums in that
 * order. */
void gi_halve_row(void *dst, const void *above, const void *below, int width, int channels,
                  enum gi_type type);
