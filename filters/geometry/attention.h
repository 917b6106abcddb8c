/* The place of an image that draws attention, for crop --attention.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

enum { GI_ATTENTION_CELLS = 32 }; /* the image is reduced to this number of pixels per side */

/* The state of the measuring pass, zero before. */
struct gi_attention {
    int rows; /* rows of the image that were measured */
    /* Sums of the rows with the weights of the reduction, in sample units. Colours are multiplied
     * by alpha, which itself is not stored. */
    double sums[GI_ATTENTION_CELLS][GI_ATTENTION_CELLS][3];
};

/* Called by the filter's `plan`, which has no other tables: makes those for the pass. Errors:
 * GI_E_MEMORY. */
enum gi_status gi_attention_plan(struct gi_plan *plan, struct gi_err *err);

/* Adds a band, which follows the bands before. Errors: those of `resample` and `download`. */
enum gi_status gi_attention_measure(const struct gi_plan *plan, struct gi_queue *queue,
                                    struct gi_attention *state, const struct gi_image *band,
                                    struct gi_err *err);

/* Sets the upper left corner of a rectangle of width x height pixels within the image of the shape
 * `src`, to which the rectangle is limited. Its centre is the place of the highest score: edges,
 * colours like skin and saturated colours, blurred in proportion to the rectangle. Source: libvips
 * 8.18, smartcrop.c. */
void gi_attention_find(int *left, int *top, const struct gi_attention *state,
                       const struct gi_image *src, int width, int height);
