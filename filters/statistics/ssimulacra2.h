/* SSIMULACRA 2, a perceptual metric of compressed images: the score of several images against one
 * original, whose part of the work is done once.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

/* An original on a queue's device. `xyb` has its scales, and memory for those of another image;
 * both have no data if the image has no score. */
struct gi_ssimulacra2 {
    struct gi_queue *queue;
    int width, height;
    struct gi_image xyb[2];
};

/* Returns the linear light of all samples of an integer type, which are taken as sRGB, or NULL if
 * there is no memory. The caller frees it. */
float *gi_ssimulacra2_light(enum gi_type type);

/* Returns the memory that comparing two images of this size takes, in bytes. */
size_t gi_ssimulacra2_nbytes(int width, int height);

/* Converts the original, which is on the queue's device, has 1 or 3 channels, and is not needed any
 * longer then. `light` is that of its type, NULL for GI_F32, whose samples are in linear light.
 * gi_ssimulacra2_end() frees the original, which is then zero. Errors: those of the primitives. */
enum gi_status gi_ssimulacra2_begin(struct gi_ssimulacra2 *original, struct gi_queue *queue,
                                    const struct gi_image *image, const float *light,
                                    struct gi_err *err);
/* Scores an image of the same size, also on the device: 100 if it is equal; NAN if a side has fewer
 * than GI_COMPARE_SSIMULACRA2_SIDE pixels. */
enum gi_status gi_ssimulacra2_score(double *score, struct gi_ssimulacra2 *original,
                                    const struct gi_image *image, const float *light,
                                    struct gi_err *err);
void gi_ssimulacra2_end(struct gi_ssimulacra2 *original);

/* An original in host memory, of any type and channels. An image with alpha is scored over a dark
 * and over a bright gray, and the lower score counts. */
struct gi_scored_original {
    struct gi_queue *queue;
    const struct gi_image *image;
    /* a byte per pixel, row by row: 1 if the pixel counts as equal; NULL: all are compared */
    const uint8_t *ignored;
    float *light; /* of an integer type */
    struct gi_ssimulacra2 over[2];
};

/* `image` and `ignored` must outlive the original, which gi_scored_original_end() frees, also after
 * an error. Errors: GI_E_MEMORY and those of the primitives. */
enum gi_status gi_scored_original_begin(struct gi_scored_original *original, struct gi_queue *queue,
                                        const struct gi_image *image, const uint8_t *ignored,
                                        struct gi_err *err);
/* `other` has the shape and type of the original. */
enum gi_status gi_scored_original_score(double *score, struct gi_scored_original *original,
                                        const struct gi_image *other, struct gi_err *err);
void gi_scored_original_end(struct gi_scored_original *original);
