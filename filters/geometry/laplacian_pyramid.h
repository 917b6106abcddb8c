/* Laplacian pyramids: the operators REDUCE and EXPAND of P. J. Burt and E. H. Adelson, "The
 * Laplacian pyramid as a compact image code", IEEE COM 31(4), 1983, with the taps (1, 4, 6, 4, 1) /
 * 16 (a = 3/8) and with the sides of OpenCV's pyrDown() and pyrUp().
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/rules.h"

enum { GI_LAPLACIAN_LEVELS_MAX = 32 };

/* The levels of a pyramid, the image itself first. The sides of a level are half those of the level
 * before, rounded up. All levels are stored in one image as wide as the first, one below the
 * other: level i begins in row y[i]. */
struct gi_laplacian_levels {
    int n;
    int width[GI_LAPLACIAN_LEVELS_MAX], height[GI_LAPLACIAN_LEVELS_MAX], y[GI_LAPLACIAN_LEVELS_MAX];
    int rows; /* of the image that holds all levels; at most INT_MAX */
};

/* Returns floor(log2(shorter side)) + 1 levels of an image, so that the shorter side of the last
 * one has 1 or 2 pixels. Stops before the rows exceed INT_MAX. */
struct gi_laplacian_levels gi_laplacian_levels(int width, int height);

/* Returns level i of the image that holds all levels, as a view of its rows. */
struct gi_image gi_laplacian_level(const struct gi_image *all,
                                   const struct gi_laplacian_levels *levels, int i);

/* REDUCE: makes `half`, on the queue's backend, whose sides are half those of `src`, rounded up:
 * half(i) is the sum of taps[j] * src(2 i + j - 2) along each axis. Samples outside are mirrored
 * about the centre of the outer sample. The type and the channels are those of `src`. EXPAND: makes
 * an image of width x height pixels, of twice the sides of `src` or 1 less: sample 2 i is (s(i -
 * 1) + 6 s(i) + s(i + 1)) / 8 and sample 2 i + 1 is (s(i) + s(i + 1)) / 2, with s(-1) = s(1), and
 * the last sample repeated. `alpha` is PLAIN or WEIGH. The caller releases the result. Errors:
 * GI_E_MEMORY and those of the primitive resample; then there is nothing to release. */
enum gi_status gi_laplacian_reduce(struct gi_queue *queue, struct gi_image *half,
                                   const struct gi_image *src, enum gi_alpha_rule alpha,
                                   struct gi_err *err);
enum gi_status gi_laplacian_expand(struct gi_queue *queue, struct gi_image *expanded,
                                   const struct gi_image *src, int width, int height,
                                   enum gi_alpha_rule alpha, struct gi_err *err);
