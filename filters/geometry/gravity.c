/* Gravity: the position of a smaller rectangle within a larger one, at a corner, a side or the
 * centre.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/gravity.h"

const struct gi_choice gi_gravity_choices[] = {
    {"northwest", NULL, "at the top, left"},
    {"north", NULL, "at the top"},
    {"northeast", NULL, "at the top, right"},
    {"west", NULL, "on the left"},
    {"center", NULL, "in the middle"},
    {"east", NULL, "on the right"},
    {"southwest", NULL, "at the bottom, left"},
    {"south", NULL, "at the bottom"},
    {"southeast", NULL, "at the bottom, right"},
    {"top-left", "northwest", NULL},
    {"top", "north", NULL},
    {"top-right", "northeast", NULL},
    {"left", "west", NULL},
    {"centre", "center", NULL},
    {"middle", "center", NULL},
    {"right", "east", NULL},
    {"bottom-left", "southwest", NULL},
    {"bottom", "south", NULL},
    {"bottom-right", "southeast", NULL},
    {NULL, NULL, NULL},
};

/* Returns how much of `spare` precedes the rectangle along an axis. `third` is 0 if the rectangle
 * is at the beginning, 1 if it is in the middle, and 2 if it is at the end. */
static int before(int third, int spare)
{
    int half = spare / 2 - (spare < 0 && spare % 2 != 0);
    return third == 0 ? 0 : third == 1 ? half : spare;
}

int gi_gravity_left(enum gi_gravity gravity, int spare)
{
    return before((int)gravity % 3, spare);
}

int gi_gravity_above(enum gi_gravity gravity, int spare)
{
    return before((int)gravity / 3, spare);
}

int gi_gravity_right_is(enum gi_gravity gravity)
{
    return gravity % 3 == 2 ? -1 : 1;
}

int gi_gravity_down_is(enum gi_gravity gravity)
{
    return gravity / 3 == 2 ? -1 : 1;
}
