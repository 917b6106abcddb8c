/* Images of one channel whose foreground is noise of several densities or a shape: a spiral, a
 * comb, rings and others. SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_PATTERNS_H
#define GI_TESTS_PATTERNS_H

#include "primitives.h"

/* Returns the level above which a sample of this type is foreground. */
float pattern_level(enum gi_type type);

/* Fills an image so that the samples of the pattern are above pattern_level(); c->turn selects the
 * pattern. In GI_F32 some of the other samples are NaN. */
void draw_pattern(struct walk_case *c, struct gi_image *image);

/* Returns whether a pixel is foreground: above the level `above`, or not above it if `invert`. */
bool is_on(const struct gi_image *image, float above, bool invert, int x, int y);

#endif
