/* Leaves transparent pixels, whose alpha is not > 0, out of statistics.
 * SPDX-License-Identifier: MIT */
#pragma once

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
