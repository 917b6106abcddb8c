/* Parameters of paste: the points, or the table and the crops, that are put into an image.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_PASTE_H
#define GI_FILTERS_PASTE_H

#include "filters/filter.h"

struct gi_paste_params {
    const char *points, *table, *crops; /* points; or a table and the folder with its crops */
    const char *crop_format;
    int crop_margin; /* pixels */
    struct gi_colour color;
};

/* The further sources have any number of pixels, in raster order: for --points x, y and sample
 * values; for --table x and y of every pixel of the crops; for --crops these pixels. */
extern const struct gi_filter gi_filter_paste;

#endif
