/* Leaves transparent pixels, whose alpha is not > 0, out of statistics.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/plan.h"
#include "imgio/image.h"
#include "kernels/device.h"

/* Returns whether they are left out of the statistics of an image of this shape: because of an
 * option, or because they have no data. */
static inline bool gi_only_opaque(const struct gi_image *shape, bool option)
{
    return gi_has_alpha(shape) && (option || shape->mask);
}

/* Makes `kept` (released by the caller) from a band with alpha. Samples whose alpha is not > 0
 * become 0 in integers and NaN in floats. Other samples are copied. Errors: those of the
 * primitives; then there is nothing to release. */
enum gi_status gi_keep_opaque(struct gi_queue *queue, struct gi_image *kept,
                              const struct gi_image *band, struct gi_err *err);

/* Adds the number of pixels of a band that gi_keep_opaque() leaves out to *n. Subtracts it from the
 * counts of the value 0 in the histograms of `nchannels` channels of integers; `counts` is NULL for
 * floats. Errors: those of the primitive reduce. */
enum gi_status gi_left_out(struct gi_queue *queue, uint64_t *n, uint64_t *counts, int nchannels,
                           const struct gi_image *band, struct gi_err *err);

/* How gi_count_opaque() counts the samples of a band. */
struct gi_opaque_counting {
    bool opaque;  /* leave out the pixels whose alpha is not > 0 */
    bool by_luma; /* count the luma of the pixels */
    /* Counts the samples of `judge`, which are those of the band or their luma. */
    enum gi_status (*count)(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                            int pass, const struct gi_image *judge, struct gi_err *err);
    /* The histograms that the first pass over integers fills, in the state. NULL for floats. */
    uint64_t *counts;
    uint64_t *left_out; /* the number of pixels left out is added here; NULL: not wanted */
};

/* Measures a band for a filter that evaluates it by its samples or their luma. Errors: those of the
 * primitives and of count(). */
enum gi_status gi_count_opaque(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                               const struct gi_look *look, const struct gi_opaque_counting *how,
                               struct gi_err *err);
