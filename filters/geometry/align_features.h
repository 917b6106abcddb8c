/* Search for a rotation, a scale and a shift between two images by matching the surroundings of
 * corners.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <complex.h>

#include "imgio/image.h"

enum { GI_ALIGN_CANDIDATES = 4 };

/* A similarity transform from pixels of the reference to those of the image, as complex numbers x +
 * i y that count from the centre of the top left pixel: p becomes turn * p + shift. The absolute
 * value of `turn` is the scale, and its argument the angle. */
struct gi_similarity {
    double complex turn, shift;
};

/* Stores at most GI_ALIGN_CANDIDATES transforms between two gray float images of one size in *n of
 * `found`, that on which most matches agree first. Without `rotates` angles are 0, and without
 * `scales` scales are 1; others are from 0.6 to 1.67. Errors: GI_E_MEMORY. */
enum gi_status gi_align_features(struct gi_similarity *found, int *n, const struct gi_image *image,
                                 const struct gi_image *reference, bool rotates, bool scales,
                                 struct gi_err *err);

/* Returns about the memory in bytes that gi_align_features() takes for images of a number of
 * pixels. */
size_t gi_align_features_nbytes(size_t npixels);
