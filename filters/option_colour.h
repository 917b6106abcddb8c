/* Colours as text.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_OPTION_COLOUR_H
#define GI_FILTERS_OPTION_COLOUR_H

#include <stdbool.h>

#include "imgio/image.h"

/* A colour: sample values as in an image, or a named colour as fractions of full scale. */
struct gi_colour {
    bool named;
    int n;                     /* number of values in v: 4 if named, else 1 to GI_MAX_CHANNELS;
                                  0: unset */
    double v[GI_MAX_CHANNELS]; /* named: red, green, blue, alpha, each 0 to 1 */
};

/* Reads a colour from all of `text`: sample values separated by commas; hexadecimal digits "#rgb",
 * "#rgba", "#rrggbb" or "#rrggbbaa"; or a name. The names are the 16 basic colours of CSS and cyan,
 * magenta, grey, orange and transparent (https://www.w3.org/TR/css-color-4/#named-colors). Returns
 * false for any other text, and *colour is undefined then. */
bool gi_colour_read(struct gi_colour *colour, const char *text);

/* Converts a colour to the sample values of a pixel of `image`'s type and channels. A single value
 * is used for all channels. If there are several values, but fewer than channels, the last one is
 * repeated, and alpha is opaque. A named colour in a gray image becomes its luma (ITU-R BT.709),
 * rounded half up if samples are integers. */
void gi_colour_pixel(float pixel[GI_MAX_CHANNELS], const struct gi_colour *colour,
                     const struct gi_image *image);

#endif
