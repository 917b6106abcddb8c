/* Fusion of images by Laplacian pyramids: exposure fusion and focus stacking. Each pixel of each
 * image has a weight; the Laplacian pyramids of the images are added, weighted by the Gaussian
 * pyramids of the weights. Sources: T. Mertens, J. Kautz and F. Van Reeth, "Exposure fusion",
 * Pacific Graphics 2007; P. J. Burt and E. H. Adelson, "A multiresolution spline with application
 * to image mosaics", ACM TOG 2(4), 1983.
 *
 * Each image is visited twice, first for the state, then for the pyramid, so that the memory does
 * not depend on the number of images:
 *
 *   state  GI_FUSION_EXPOSURE: the sum of the weights, one float per pixel. GI_FUSION_FOCUS: in
 *          rows 0 to height - 1 the maximum of the measures of focus, in the rows below the number
 *          of its image
 *   sum    the levels of the fused pyramid in float (gi_laplacian_levels()), with the channels of
 *          the images. Alpha is the weighted mean of the finest level, and 0 in the others. Levels
 *          of colours are weighted by alpha; the colours of transparent pixels are those of the
 * next level, and so do not count
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "kernels/convolution.h"

enum gi_fusion_method { GI_FUSION_EXPOSURE, GI_FUSION_FOCUS };

struct gi_fusion {
    enum gi_fusion_method method;
    int width, height, channels;        /* of each image */
    const struct gi_separable *smooths; /* FOCUS: the Gaussian that smooths measures; else NULL */
};

/* Return the shapes of the state and of the sum, without data. */
struct gi_image gi_fusion_state(const struct gi_fusion *fusion);
struct gi_image gi_fusion_sum(const struct gi_fusion *fusion);
/* Returns the bytes of the images that gi_fusion_all() makes for images of `type`; they include
 * those of the other functions. */
size_t gi_fusion_nbytes(const struct gi_fusion *fusion, enum gi_type type);

/* Sets `state` from image k, counted from 0, and from the state `earlier` of the images before it,
 * which is not read if k is 0. Images are on the queue's backend; the result is made by the caller
 * in the shape given above. NaN counts as 0, and samples are limited to -1e9 to 1e9. Errors: those
 * of the primitives, GI_E_MEMORY. */
enum gi_status gi_fusion_weigh(struct gi_queue *queue, struct gi_image *state,
                               const struct gi_image *image, const struct gi_image *earlier, int k,
                               const struct gi_fusion *fusion, struct gi_err *err);
/* Sets `sum` to the sum `earlier`, which is not read if k is 0 and may be `sum`, plus the weighted
 * pyramid of image k. `state` is that of all images. Errors: as above. */
enum gi_status gi_fusion_add(struct gi_queue *queue, struct gi_image *sum,
                             const struct gi_image *image, const struct gi_image *state,
                             const struct gi_image *earlier, int k, const struct gi_fusion *fusion,
                             struct gi_err *err);
/* Sets `dst`, of any type, to the image of the pyramid. Errors: as above. */
enum gi_status gi_fusion_finish(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *sum, const struct gi_fusion *fusion,
                                struct gi_err *err);
/* Does all that for n images that are side by side in `strip`. Errors: as above. */
enum gi_status gi_fusion_all(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *strip, int n, const struct gi_fusion *fusion,
                             struct gi_err *err);
