/* Draws boxes and numbers, or lines and circles, on an image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/regions/extract.h"

/* Makes `dst`, which the caller frees. It is a copy of `src` with a box around each component, and
 * the label of the component next to the box. The type is kept; gray becomes RGB, gray and alpha
 * RGBA. The samples of 16 bits and floats are stretched: the 0.1th and the 99.9th percentile
 * become black and white. Errors: GI_E_MEMORY. */
enum gi_status gi_overlay(struct gi_image *dst, const struct gi_image *src,
                          const struct gi_extract *extract, int threads, struct gi_err *err);

/* A circle with the centre x, y and a radius, or a line between two points: x, y and x2, y2.
 * Pixels; the centre of the upper left pixel is at 0,0. */
struct gi_overlay_shape {
    bool circle;
    double x, y, radius, x2, y2;
};

/* Makes `dst` as gi_overlay() does, with shapes and without numbers. */
enum gi_status gi_overlay_shapes(struct gi_image *dst, const struct gi_image *src,
                                 const struct gi_overlay_shape *shapes, uint64_t n, int threads,
                                 struct gi_err *err);
