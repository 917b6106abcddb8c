/* Principal components of colours.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/color/spaces.h"
#include "filters/filter.h"
#include "kernels/statistics.h"

/* Sums of the three colours, and of the differences between neighbouring colours. */
struct gi_pca_state {
    int rows; /* rows of the image measured so far */
    struct gi_reduction found[GI_MAX_CHANNELS], differences[GI_MAX_CHANNELS];
    enum gi_type type;
};

/* Plans one measuring pass over an image of three colours. Errors: GI_E_UNSUPPORTED. */
enum gi_status gi_pca_plan(struct gi_plan *plan, struct gi_err *err);
enum gi_status gi_pca_measure(struct gi_queue *queue, struct gi_pca_state *state,
                              const struct gi_image *band, struct gi_err *err);

/* Returns the matrix that converts colours to components, which are sorted by descending variance.
 * For integer samples each component is scaled so that its minimum and maximum over all possible
 * colours become 0 and 1. For floats components are not scaled, and the mean of each component
 * becomes 0. */
struct gi_matrix4 gi_pca_matrix(const struct gi_pca_state *state);
