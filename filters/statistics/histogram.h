/* The histogram of an image and what follows from it.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_HISTOGRAM_H
#define GI_FILTERS_HISTOGRAM_H

#include "filters/filter.h"

enum { GI_BINS_MAX = 65536 };

struct gi_histogram_params {
    int bins;
    struct gi_reals range; /* lo, hi in sample units; n = 0: full scale, or the data's for GI_F32 */
    struct gi_reals percentiles;
    bool luminance;
};

/* One channel. The statistics are of all its samples, whatever the range of the bins; NaN is no
 * sample. Where there is none they are NAN, and infinite samples make mean and deviation so. */
struct gi_histogram_channel {
    const char *name; /* static: "gray", "red", "green", "blue", "alpha", "luminance" */
    double lo, hi;    /* ends of the bins */
    uint64_t *bins; /* nbins; bin i counts lo + i * w <= v < lo + (i + 1) * w, w = (hi - lo) / nbins
                       in double, the last one v == hi too */
    uint64_t total; /* samples, also those outside lo..hi */
    uint64_t nan;   /* not among them */
    double mean, stddev; /* population deviation */
    double min, max, median;
    double percentiles[GI_REALS_MAX]; /* between neighbours in rank by straight line: at p per cent
                                         rank (total - 1) * p / 100, counted from 0 */
    double entropy;                   /* bits: of the values for integers, of the bins for GI_F32 */
};

struct gi_histogram {
    int nchannels, nbins, npercentiles;
    struct gi_histogram_channel channels[GI_MAX_CHANNELS];
};

/* "gray", "red", "green", "blue" or "alpha": what channel c of `image` holds. */
const char *gi_channel_name(const struct gi_image *image, int c);

/* Result: struct gi_histogram. */
extern const struct gi_filter gi_filter_histogram;

#endif
