/* Parameters of paste: the points, or the table and the crops, that are put into an image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

struct gi_paste_params {
    const char *points, *table, *crops; /* points; or a table and the folder with its crops */
    const char *crop_format;
    int crop_margin; /* pixels */
    struct gi_color color;
};

/* The further sources have any number of pixels, in raster order. For --points their channels are
 * x, y and sample values. For --table they are x and y of every pixel of the crops, and for --crops
 * they are the samples of these pixels. */
extern const struct gi_filter gi_filter_paste;
