/* gpuimg histogram: what its outputs share.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_HISTOGRAM_H
#define GI_CLI_COMMANDS_HISTOGRAM_H

#include <stdio.h>

#include "filters/statistics/histogram.h"

/* One histogram and what was asked of its print. */
struct gi_histogram_view {
    const struct gi_histogram *histogram;
    const struct gi_image *image; /* its shape only */
    const char *file;
    unsigned maxval;           /* of the file's own samples; those of `image` where they differ in
                                  depth */
    const double *percentiles; /* histogram->npercentiles */
    bool cumulative;           /* the bins hold running sums */
    bool log, bars;
    bool unicode, colour; /* what standard output shows */
};

/* The lower end of bin i; of bin nbins the upper end of the last. */
double gi_histogram_edge(const struct gi_histogram *histogram, int i);

/* For people: statistics, then counts in at most 64 lines, or bars (cli/commands/histogram_text.c).
 */
void gi_histogram_text(FILE *out, const struct gi_histogram_view *view);

#endif
