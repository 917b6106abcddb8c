/* Where something smaller stands in something larger: one of nine places.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_GRAVITY_H
#define GI_FILTERS_GRAVITY_H

#include "filters/option.h"

/* By rows, from the upper left on. */
enum gi_gravity {
    GI_NORTHWEST,
    GI_NORTH,
    GI_NORTHEAST,
    GI_WEST,
    GI_CENTER,
    GI_EAST,
    GI_SOUTHWEST,
    GI_SOUTH,
    GI_SOUTHEAST,
};

extern const struct gi_choice gi_gravity_choices[]; /* in that order, then other names */

/* The row of --gravity; `params` is the struct that holds it as `int gravity`. */
#define GI_GRAVITY_OPTION(params, by_default, what)                                                \
    {                                                                                              \
        .name = "gravity", .type = GI_OPT_CHOICE, .offset = offsetof(params, gravity),             \
        .default_text = by_default, .choices = gi_gravity_choices, .help = what                    \
    }

/* Pixels to the left of it, and rows above it, of `spare` in all; of an odd number there is one
 * less on that side in the middle. `spare` below 0: the larger one stands in the smaller. */
int gi_gravity_left(enum gi_gravity gravity, int spare);
int gi_gravity_above(enum gi_gravity gravity, int spare);

/* An offset inwards from such a place: +1 where it counts to the right (down), -1 where to the left
 * (up). */
int gi_gravity_right_is(enum gi_gravity gravity);
int gi_gravity_down_is(enum gi_gravity gravity);

#endif
