/* Images of one channel whose foreground is noise of several densities or a shape: a spiral, a
 * comb, rings and others. SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_PATTERNS_H
#define GI_TESTS_PATTERNS_H

#include "primitives.h"

/* The level of the foreground's predicate for each type. */
float pattern_level(enum gi_type type);

/* Fills an image so that the pattern is above pattern_level(); the case's turn selects it. Some of
 * the other floats are NaN. */
void draw_pattern(struct walk_case *c, struct gi_image *image);

/* Returns whether a pixel is foreground: is above the level, or with `invert` is not. */
bool is_on(const struct gi_image *image, float above, bool invert, int x, int y);

#endif
