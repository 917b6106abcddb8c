/* Random values for the walk over operations: samples of images, and the text of a step of `gpuimg
 * run`, whose options are random within the option rows of its operation.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases.h"
#include "filters/filter.h"

/* draw_one_of() returns true with a probability of 1 in n, draw_between() returns a random number
 * from low to high, and draw_shape() returns a random shape whose sides are at most `most`. */
bool draw_one_of(uint64_t *seed, int n);
double draw_between(uint64_t *seed, double low, double high);
struct gi_image draw_shape(uint64_t *seed, int most);

/* Sets some samples of a float image to unusual values, such as NaN, infinities and negative
 * values. */
void draw_odd_floats(struct gi_image *image, uint64_t *seed);

/* Fills the image with noise, with few values, or with one value and specks. Alpha is often at an
 * end of its range. */
void draw_samples(struct gi_image *image, uint64_t *seed);

/* Returns the name of the operation with random options for a source of that shape. The options may
 * be incompatible. The caller frees the text. */
char *draw_step(const struct gi_filter *filter, const struct gi_image *shape, const char *prefix,
                uint64_t *seed);
