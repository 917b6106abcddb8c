/* Draws pictures and random JPEGs of them.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "coded_device.h"
#include "jpeg_cases.h"

/* Draws waves, squares, areas of two colours or of one (kind 0 to 3), with noise of up to the given
 * number of samples. */
void jpeg_draw(struct gi_image *image, int kind, int noise, uint64_t *seed);

/* Returns a picture of a random kind. */
struct gi_image jpeg_picture(int width, int height, int channels, int noise, uint64_t *seed);

/* Begins a baseline JPEG of the image with random sampling factors, tables and restart interval. */
void jpeg_begin_random(struct jpeg_making *made, const struct gi_image *image, int quality,
                       uint64_t *seed);
