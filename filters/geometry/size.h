/* Sizes and places as text: "800x600", "800x", "x600", "50%", "40%x30%", "400x300+10-20".
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_SIZE_H
#define GI_FILTERS_SIZE_H

#include <stdbool.h>

enum { GI_PIXELS_MAX = 1000000000 }; /* of a side, and of an offset either way */

/* Pixels, or per cent of something. */
struct gi_length {
    double value; /* NAN: left open */
    bool percent;
};

struct gi_extent {
    struct gi_length width, height; /* both open: unset */
};

struct gi_rect {
    struct gi_extent extent;
    bool placed;           /* x and y were given; else they are 0 */
    struct gi_length x, y; /* of the upper left corner; either sign */
};

#define GI_EXTENT_UNSET ((struct gi_extent){{NAN, false}, {NAN, false}})

static inline bool gi_length_is_open(const struct gi_length *length)
{
    return !(length->value == length->value);
}

static inline bool gi_extent_is_set(const struct gi_extent *extent)
{
    return !gi_length_is_open(&extent->width) || !gi_length_is_open(&extent->height);
}

/* Reads all of `text`; false where it is none, and then *extent or *rect is rubbish. "50%" alone is
 * both sides. */
bool gi_extent_read(struct gi_extent *extent, const char *text);
/* The same, with "+X+Y" behind it or not. */
bool gi_rect_read(struct gi_rect *rect, const char *text);

/* The length in pixels, `whole` being 100%: rounded half up, within GI_PIXELS_MAX either way.
 * `length` is not open. */
int gi_length_pixels(const struct gi_length *length, int whole);
/* The same of a side: at least 1; `whole` where it is left open. */
int gi_side_pixels(const struct gi_length *length, int whole);
/* Both sides of an image of *width x *height. */
void gi_extent_pixels(const struct gi_extent *extent, int *width, int *height);

#endif
