/* Shape descriptors of regions, equal to those of scikit-image's regionprops().
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/regions.h"

/* Lengths are in pixels. The ellipse has the same second-order central moments as the region. */
struct gi_shape_descriptors {
    double major_axis, minor_axis; /* full lengths of the axes of the ellipse */
    double eccentricity;    /* eccentricity of the ellipse: 0 for a circle, almost 1 for a line */
    double orientation_deg; /* angle of the major axis from the vertical, -90 to 90; positive if the
                               axis runs from the upper left to the lower right; -45 if the ellipse
                               is a circle */
    double solidity;        /* area / number of pixels in the convex hull, 0 to 1 */
    double feret_diameter;  /* largest distance between two points of the hull */
};

/* Sets descriptors[l - 1] to the descriptors of label l, for 1 <= l <= n. The caller owns the n
 * entries. `labels` is a GI_U32 image in host memory. `regions` has the sums of the regions of that
 * image. Errors: GI_E_MEMORY. */
enum gi_status gi_shape_descriptors(struct gi_shape_descriptors *descriptors,
                                    const struct gi_region_sums *regions, uint32_t n,
                                    const struct gi_image *labels, struct gi_err *err);

/* Replaces a label image, as above, by a mask: 1 in the convex hull of each region, else 0. The
 * hull of a pixel contains the middles of its four sides, and a pixel is in a hull if its centre
 * is. Errors: GI_E_MEMORY. */
enum gi_status gi_convex_hulls(struct gi_image *labels, const struct gi_region_sums *regions,
                               uint32_t n, struct gi_err *err);
