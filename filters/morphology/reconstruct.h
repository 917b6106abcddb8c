/* Morphological reconstruction for operations: by dilation or by erosion.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"
#include "kernels/device.h"

/* Computes dst = v with its colours replaced by -v (floats) or full scale - v (integers), under
 * which maxima become minima. `dst` may be `src`. Errors: those of the primitive. */
enum gi_status gi_negate(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                         struct gi_err *err);

/* Reconstructs `seed` under `mask` by dilation, or above it by erosion if `erodes` is set, with 4
 * or 8 neighbours. `dst` is none of the others. Errors: those of the primitives. */
enum gi_status gi_reconstruct_run(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *mask, const struct gi_image *seed,
                                  bool erodes, int connectivity, struct gi_err *err);
