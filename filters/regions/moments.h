/* Moments of the shapes of regions.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/regions.h"

enum { GI_MOMENTS = 7 };

/* Moments of order p in x and q in y, for pq = 20 11 02 30 21 12 03. Each pixel counts 1, at its
 * centre. */
struct gi_moments {
    double mu[GI_MOMENTS]; /* central: about the centroid, in pixels^(2 + p + q) */
    double nu[GI_MOMENTS]; /* normalized: mu / area^(1 + (p + q) / 2) */
    double hu[GI_MOMENTS]; /* invariants of M.-K. Hu, Visual pattern recognition by moment
                              invariants, IRE Trans. Information Theory 8, 1962 */
};

/* Measures the regions of `labels`, a GI_U32 image in host memory whose label l has the sums
 * regions[l - 1]. Errors: GI_E_MEMORY. */
enum gi_status gi_region_moments(struct gi_moments *moments, const struct gi_region_sums *regions,
                                 uint32_t n, const struct gi_image *labels, struct gi_err *err);
