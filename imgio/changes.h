/* The rectangle in which two frames of an animation differ.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

/* A rectangle of pixels. */
struct gi_rect {
    int left, top, width, height; /* width and height are 0 if there are no pixels */
};

/* Returns the smallest rectangle with all pixels that differ between two images of one shape. With
 * `cleared`, only pixels count whose bytes are 0 in `to`. */
struct gi_rect gi_changes(const struct gi_image *from, const struct gi_image *to, bool cleared);

/* Returns the smallest rectangle that contains both. */
struct gi_rect gi_rect_union(struct gi_rect a, struct gi_rect b);

/* Returns the rectangle of the image as a view. */
struct gi_image gi_rect_view(const struct gi_image *image, struct gi_rect rect);
