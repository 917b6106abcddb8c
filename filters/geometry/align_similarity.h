/* Registration of rotation, scale and shift.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/geometry/align_features.h"
#include "kernels/device.h"

/* Finds the transform from the reference to the image, two pyramids of `n` gray float images of
 * equal sizes, each level made of means of 2 x 2 pixels of the level before. *score becomes the
 * correlation coefficient, or 0 if nothing was found; *found is then the identity. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_align_similarity(struct gi_queue *queue, struct gi_similarity *found,
                                   double *score, const struct gi_image *image,
                                   const struct gi_image *reference, int n, bool rotates,
                                   bool scales, struct gi_err *err);

/* Returns about the memory in bytes that this takes besides the pyramids of images of this shape.
 */
size_t gi_align_similarity_nbytes(const struct gi_image *image);
