/* Principal components of colours.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_PCA_H
#define GI_FILTERS_PCA_H

#include "filters/color/spaces.h"
#include "filters/filter.h"

/* Of the three colours, and of how far each is from the next one. */
struct gi_pca_state {
    int rows; /* of the image that have been seen */
    struct gi_reduction found[GI_MAX_CHANNELS], apart[GI_MAX_CHANNELS];
    enum gi_type type;
};

/* One look at an image of three colours. Errors: GI_E_UNSUPPORTED. */
enum gi_status gi_pca_plan(struct gi_plan *plan, struct gi_err *err);
enum gi_status gi_pca_measure(struct gi_queue *queue, struct gi_pca_state *state,
                              const struct gi_image *band, struct gi_err *err);

/* From colours to components, the one of the greatest variance first: of integers such that 0 and 1
 * are the least and the greatest that any colour can have, of floats the numbers themselves, their
 * means 0. */
struct gi_matrix4 gi_pca_matrix(const struct gi_pca_state *state);

#endif
