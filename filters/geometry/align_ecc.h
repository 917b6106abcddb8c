/* Refinement of a registration by the enhanced correlation coefficient: G. D. Evangelidis and E. Z.
 * Psarakis, "Parametric image alignment using enhanced correlation coefficient maximization", IEEE
 * TPAMI 30(10), 2008.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/geometry/align_pyramid.h"

/* What a refinement may change. */
enum gi_align_motion {
    GI_ALIGN_MOTION_NONE,
    GI_ALIGN_MOTION_TRANSLATION,
    GI_ALIGN_MOTION_EUCLIDEAN, /* rotation and translation */
    GI_ALIGN_MOTION_SIMILARITY,
    GI_ALIGN_MOTION_AFFINE,
};

/* Refines the affine map m from pixels of the reference to those of the image, as in struct
 * gi_align, on levels of less than 256 pixels along the shorter side and on all larger ones. Sets
 * *score to the correlation coefficient of both images. If nothing can be refined, both stay. */
void gi_align_ecc(double m[6], double *score, const struct gi_align_pyramid *image,
                  const struct gi_align_pyramid *reference, enum gi_align_motion motion);
