/* Images of one channel whose foreground is a pattern: noise of several densities, or a shape such
 * as a spiral, a comb or rings.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "primitives.h"

/* Returns the level above which a sample of this type is foreground. */
float pattern_level(enum gi_type type);

/* Fills an image so that exactly the samples of the pattern are above pattern_level(). c->turn
 * selects the pattern. In GI_F32 some of the other samples are NaN. */
void draw_pattern(struct walk_case *c, struct gi_image *image);

/* Returns whether the pixel is foreground, which means that its sample is above the level `above`.
 * With `invert`, foreground means that the sample is not above the level. */
bool is_on(const struct gi_image *image, float above, bool invert, int x, int y);
