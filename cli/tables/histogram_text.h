/* Shared by the outputs of gpuimg histogram.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "cli/tables/cells.h"
#include "filters/statistics/histogram.h"

/* A histogram and the options for printing it. */
struct gi_histogram_view {
    const struct gi_histogram *histogram;
    const struct gi_image *image; /* only its shape */
    const char *file;
    unsigned maxval;           /* full scale of the file, or of `image` if its depth differs */
    const double *percentiles; /* histogram->npercentiles */
    bool cumulative;           /* the bins hold cumulative counts */
    bool ranged;               /* --range was given */
    bool log, bars;
    bool unicode, color; /* abilities of the terminal */
};

/* The columns of a struct gi_histogram_channel except the percentiles, in the order of JSON, in
 * which the percentiles precede the last. */
enum { GI_HISTOGRAM_COLUMNS = 9 };
extern const struct gi_column gi_histogram_columns[GI_HISTOGRAM_COLUMNS];

/* Returns the lower end of bin i. If i is nbins, returns the upper end of the last bin. */
double gi_histogram_edge(const struct gi_histogram *histogram, int i);

/* Prints statistics, and then either counts in at most 64 lines, or bars
 * (cli/tables/histogram_text.c). */
void gi_histogram_text(FILE *out, const struct gi_histogram_view *view);
