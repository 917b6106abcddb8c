/* The parameters of paste: the points, or the table and crops, that it puts into an image.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_PASTE_H
#define GI_FILTERS_PASTE_H

#include "filters/filter.h"

struct gi_paste_params {
    const char *points, *table, *crops; /* points, or a table and the folder of its crops */
    const char *crop_format;
    int crop_margin; /* pixels */
    struct gi_colour color;
};

/* Further sources, any number of pixels read in raster order: of --points x, y and sample values;
 * of --table x and y of every pixel of the crops, and of --crops these pixels. */
extern const struct gi_filter gi_filter_paste;

#endif
