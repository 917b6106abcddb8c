/* Reads sizes and positions.
 * SPDX-License-Identifier: MIT */
#include "filters/option_size.h"

#include <math.h>
#include <string.h>

#include "filters/option.h"

static bool starts_number(const char *text)
{
    return (*text >= '0' && *text <= '9') || *text == '.';
}

/* Reads a length such as "800" or "12.5%", without a sign, and moves *text past it. */
static bool read_length(struct gi_length *length, const char **text)
{
    const char *at = *text, *end = at + strspn(at, "0123456789.");
    if (!starts_number(at) || !gi_number_read(&length->value, at, text) || *text != end)
        return false; /* no exponents: 1e3x5 is probably a mistake */
    length->percent = **text == '%';
    *text += length->percent;
    return length->value <= GI_PIXELS_MAX &&
           (length->percent || length->value == floor(length->value));
}

static bool read_side(struct gi_length *length, const char **text)
{
    return read_length(length, text) && length->value > 0;
}

/* Reads "+10" or "-5%". */
static bool read_offset(struct gi_length *length, const char **text)
{
    bool minus = **text == '-';
    if (!minus && **text != '+')
        return false;
    ++*text;
    if (!read_length(length, text))
        return false;
    length->value = minus ? -length->value : length->value;
    return true;
}

static bool read_sides(struct gi_extent *extent, const char **text)
{
    *extent = GI_EXTENT_UNSET;
    if (starts_number(*text) && !read_side(&extent->width, text))
        return false;
    if (**text != 'x') {
        extent->height = extent->width;
        return gi_extent_is_set(extent);
    }
    ++*text;
    if (starts_number(*text) && !read_side(&extent->height, text))
        return false;
    return gi_extent_is_set(extent);
}

bool gi_extent_read(struct gi_extent *extent, const char *text)
{
    if (!read_sides(extent, &text))
        return false;
    extent->at_least = *text == '^' && text[-1] != 'x' && !gi_length_is_open(&extent->width) &&
                       !gi_length_is_open(&extent->height);
    return text[extent->at_least] == '\0';
}

bool gi_rect_read(struct gi_rect *rect, const char *text)
{
    *rect = (struct gi_rect){0};
    if (!read_sides(&rect->extent, &text))
        return false;
    if (*text == '\0')
        return true;
    rect->placed = true;
    return read_offset(&rect->x, &text) && read_offset(&rect->y, &text) && *text == '\0';
}

int gi_length_pixels(const struct gi_length *length, int whole)
{
    double pixels = length->percent ? length->value / 100 * whole : length->value;
    pixels = floor(pixels + 0.5);
    return pixels > GI_PIXELS_MAX    ? GI_PIXELS_MAX
           : pixels < -GI_PIXELS_MAX ? -GI_PIXELS_MAX
                                     : (int)pixels;
}

int gi_side_pixels(const struct gi_length *length, int whole)
{
    int pixels = gi_length_is_open(length) ? whole : gi_length_pixels(length, whole);
    return pixels < 1 ? 1 : pixels;
}

void gi_extent_pixels(const struct gi_extent *extent, int *width, int *height)
{
    *width = gi_side_pixels(&extent->width, *width);
    *height = gi_side_pixels(&extent->height, *height);
}
