/* Image pyramids for registration: gray float versions of an image in host memory.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/device.h"

enum { GI_ALIGN_LEVELS_MAX = 32 };

struct gi_align_pyramid {
    struct gi_image levels[GI_ALIGN_LEVELS_MAX]; /* the image, and smaller versions of it */
    int n;
};

/* Makes the pyramid of an image on the queue's backend. Each level is made of means of 2 x 2 pixels
 * of the level before, and smoothed. The caller frees it, also after an error. Errors: those of the
 * primitives, GI_E_MEMORY. */
enum gi_status gi_align_pyramid_make(struct gi_queue *queue, struct gi_align_pyramid *pyramid,
                                     const struct gi_image *src, struct gi_err *err);
void gi_align_pyramid_free(struct gi_align_pyramid *pyramid);

/* Smooths a gray float image by the weights 1, 2, 1 along columns and rows, in place, so that
 * interpolation between pixels is more exact. The outer pixels are repeated. Errors: GI_E_MEMORY.
 */
enum gi_status gi_align_smooth(const struct gi_image *level, struct gi_err *err);
