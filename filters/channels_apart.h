/* Takes channels out of an image, and joins colours and alpha, on the queue's backend.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/device.h"

/* Makes `part` (released by the caller), an image of the `channels` channels of `src` from `first`
 * on. Errors: those of the primitives; then there is nothing to release. */
enum gi_status gi_channels_take(struct gi_queue *queue, struct gi_image *part,
                                const struct gi_image *src, int first, int channels,
                                struct gi_err *err);

/* Sets the channels of `dst` to the first ones of parts[0] and, the last one, to channel `alpha` of
 * parts[1]. Errors: those of the primitive. */
enum gi_status gi_channels_join_alpha(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image parts[2], int alpha,
                                      struct gi_err *err);
