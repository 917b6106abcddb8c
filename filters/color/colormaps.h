/* Colour maps: tables of colours for gray images.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Colours of a map. A colour is 0xRRGGBB. */
enum { GI_COLORMAP_COLORS = 256 };

enum gi_colormap {
    GI_COLORMAP_VIRIDIS,
    GI_COLORMAP_MAGMA,
    GI_COLORMAP_INFERNO,
    GI_COLORMAP_PLASMA,
    GI_COLORMAP_CIVIDIS,
    GI_COLORMAP_TURBO,
    GI_COLORMAP_JET,
    GI_COLORMAP_GRAY,
};

/* Copies the colours of `map` to `colors`, which has GI_COLORMAP_COLORS entries. */
void gi_colormap_fill(uint32_t *colors, enum gi_colormap map);

/* Makes a map from rows of three numbers from 0 to 255 (red, green, blue), which are separated by
 * blanks or commas. Rows end with the line or with a semicolon, and there are 2 to
 * GI_COLORMAP_COLORS of them. Entry i of `colors` is interpolated linearly between the rows at
 * i * (rows - 1) / 255 and rounded half to even. For other texts returns false, and sets *row to
 * the number of the row with the error, counted from 1. */
bool gi_colormap_read(uint32_t *colors, const char *text, int *row);
