/* Colours as text.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "imgio/image.h"
#include "imgio/status.h"

/* A colour: either sample values in sample units, or a named colour in fractions of full scale. */
struct gi_color {
    bool named;
    int n;                     /* number of values: 4 if `named`, else 1 to GI_MAX_CHANNELS; 0:
                                  unset */
    double v[GI_MAX_CHANNELS]; /* if `named`: red, green, blue, alpha, each 0 to 1 */
};

/* Reads a colour from all of `text`. This may be sample values that are separated by commas,
 * hexadecimal digits such as "#rgb", "#rgba", "#rrggbb" or "#rrggbbaa", or a name of CSS in upper
 * or lower case. For other texts returns false, and *colour is undefined. */
bool gi_color_read(struct gi_color *color, const char *text);

/* Checks that a colour, the value of --option, suits an image with these channels. Gray images take
 * 1 number, or 2 with alpha. If a colour with a hue becomes gray there, stores that in *warning.
 * Errors: GI_E_USAGE. */
enum gi_status gi_color_check(struct gi_err *warning, const struct gi_color *color,
                              const char *option, const struct gi_image *image, struct gi_err *err);

/* Converts a colour to a pixel of the type and channels of `image`. A single value is used for all
 * channels. If there are several values, but not enough, the last value is repeated for the
 * remaining colours, and alpha is opaque. In a gray image a named colour becomes its luma (ITU-R
 * BT.709). For integer samples the values of a named colour are rounded half up. */
void gi_color_pixel(float pixel[GI_MAX_CHANNELS], const struct gi_color *color,
                    const struct gi_image *image);
