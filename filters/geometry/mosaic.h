/* Mosaics: images at known places in one image, later over earlier or blended where they overlap.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

struct gi_mosaic {
    struct gi_image made; /* the mosaic so far; owned here until gi_mosaic_end() */
    /* With blending: for each pixel the sums of weight * alpha * sample of each colour channel, of
     * weight * alpha, and of weight; alpha is 0 to 1. NULL: without. */
    double *sums;
};

/* Begins a mosaic of the shape `shape`, all of whose pixels are `pixel`, which has the samples of a
 * pixel. gi_mosaic_free() frees it. Errors: GI_E_MEMORY. */
enum gi_status gi_mosaic_new(struct gi_mosaic *mosaic, const struct gi_image *shape,
                             const void *pixel, bool blends, struct gi_err *err);

/* Adds an image with its upper left pixel at (x, y) of the mosaic. Parts outside are left out. The
 * image has no colour that the mosaic lacks; samples of another type are converted. Pixels whose
 * alpha is 0 do not count. Without blending the others replace those below. With blending each
 * pixel is a mean, in double, weighted by alpha and by the distance from the nearest side of its
 * image: 1 in its outer rows and columns, 2 in the next ones, and so on. Errors: GI_E_MEMORY. */
enum gi_status gi_mosaic_add(struct gi_mosaic *mosaic, const struct gi_image *image, int64_t x,
                             int64_t y, struct gi_err *err);

/* Moves the mosaic to `made`, which the caller frees. Blended integers are rounded to nearest, half
 * to even. */
void gi_mosaic_end(struct gi_mosaic *mosaic, struct gi_image *made);
void gi_mosaic_free(struct gi_mosaic *mosaic);
