/* Sizes and positions as text: "800x600", "800x", "x600", "50%", "40%x30%", "256x256^",
 * "400x300+10-20".
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

enum { GI_PIXELS_MAX = 1000000000 }; /* maximum of a side, and of an offset in either direction */

/* A length in pixels, or as a percentage of another length. */
struct gi_length {
    double value; /* NAN: left open */
    bool percent;
};

struct gi_extent {
    struct gi_length width, height; /* both open: unset */
    bool at_least;                  /* "256x256^": both sides are minimums, as in ImageMagick */
};

struct gi_rect {
    struct gi_extent extent;
    bool placed;           /* x and y were given; else they are 0 */
    struct gi_length x, y; /* position of the upper left corner, of either sign */
};

#define GI_EXTENT_UNSET ((struct gi_extent){{NAN, false}, {NAN, false}, false})

static inline bool gi_length_is_open(const struct gi_length *length)
{
    return !(length->value == length->value);
}

static inline bool gi_extent_is_set(const struct gi_extent *extent)
{
    return !gi_length_is_open(&extent->width) || !gi_length_is_open(&extent->height);
}

/* Reads a size from all of `text`. If `text` is no size, returns false, and *extent is undefined. A
 * single "50%" or "400" is the length of both sides. Only two sides may be followed by "^". */
bool gi_extent_read(struct gi_extent *extent, const char *text);
/* Reads a size that a position "+X+Y" may follow. If `text` has another form, returns false, and
 * *rect is undefined. */
bool gi_rect_read(struct gi_rect *rect, const char *text);

/* Returns a length of n pixels. */
static inline struct gi_length gi_length_of(int n)
{
    return (struct gi_length){.value = n};
}

/* Returns a length, which must not be open, in pixels. 100% is `whole`. The result is rounded half
 * up and limited to the range from -GI_PIXELS_MAX to GI_PIXELS_MAX. */
int gi_length_pixels(const struct gi_length *length, int whole);
/* Returns a side in pixels, which is at least 1. If the side is open, returns `whole`. */
int gi_side_pixels(const struct gi_length *length, int whole);
/* Replaces *width and *height, which are the sides of an image, by the sides of the extent. */
void gi_extent_pixels(const struct gi_extent *extent, int *width, int *height);
