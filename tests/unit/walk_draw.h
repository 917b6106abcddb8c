/* Random draws of the walk over operations: samples of images, and the text of a step of `gpuimg
 * run` with random options from the rows of its operation.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_WALK_DRAW_H
#define GI_TESTS_WALK_DRAW_H

#include "cases.h"
#include "filters/filter.h"

/* True in one of n draws; a number from low to high; a shape whose sides are at most `most`. */
bool draw_one_of(uint64_t *seed, int n);
double draw_between(uint64_t *seed, double low, double high);
struct gi_image draw_shape(uint64_t *seed, int most);

/* Sets some samples of a float image to unusual values, such as NaN, infinities and negative ones.
 */
void draw_odd_floats(struct gi_image *image, uint64_t *seed);

/* Fills the image with noise, with few values, or with one value and specks; alpha is often at an
 * end of its range. */
void draw_samples(struct gi_image *image, uint64_t *seed);

/* Returns the operation's name with random options for a source of that shape; the caller frees it.
 * The options may be incompatible. */
char *draw_step(const struct gi_filter *filter, const struct gi_image *shape, const char *prefix,
                uint64_t *seed);

#endif
