/* Gravity: one of nine positions of a smaller rectangle within a larger one.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"

/* Row by row from the upper left. */
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

/* In the order of enum gi_gravity, followed by aliases. */
extern const struct gi_choice gi_gravity_choices[];

/* The option row of --gravity; `params` is a struct with the member `int gravity`. */
#define GI_GRAVITY_OPTION(params, by_default, what)                                                \
    {                                                                                              \
        GI_OPTION("gravity", CHOICE, params, gravity), .default_text = by_default,                 \
                                                       .choices = gi_gravity_choices, .help = what \
    }

/* Return how many of the `spare` pixels are to the left of the rectangle (gi_gravity_left) and
 * above it (gi_gravity_above). If the rectangle is in the middle and `spare` is odd, there is one
 * pixel less on the left (or above) than on the opposite side. If `spare` is negative, the
 * rectangle extends past both sides. */
int gi_gravity_left(enum gi_gravity gravity, int spare);
int gi_gravity_above(enum gi_gravity gravity, int spare);

/* Return the sign of an offset. It is +1 if positive offsets move the rectangle to the right (or
 * down). It is -1 if positive offsets move the rectangle to the left (or up), because they count
 * inward from the right (or lower) side. */
int gi_gravity_right_is(enum gi_gravity gravity);
int gi_gravity_down_is(enum gi_gravity gravity);
