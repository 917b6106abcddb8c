/* The histogram of an image and statistics derived from it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "filters/statistics/parts.h"

enum { GI_BINS_MAX = 65536, GI_CHANNEL_NAME = 16 /* bytes of a channel's name */ };

struct gi_histogram_params {
    int bins;
    struct gi_reals range; /* lo and hi in sample units; n = 0: full scale, or for GI_F32 the range
                              of the data */
    struct gi_reals percentiles;
    bool luminance;
    bool opaque; /* leave out pixels whose alpha is not > 0 */
    /* For a histogram of one image: without `range`, the bins of a 16-bit image end at the smallest
     * 2^k
     * - 1, from 255 on, that no sample exceeds, because many such images hold samples of 10 to 14
     * bits. */
    bool fit;
};

/* One channel. Statistics include all samples, also those outside the bins; NaN is not a sample. If
 * there are no samples, statistics are NAN. If there are infinite samples, mean and deviation are
 * infinite or NAN. */
struct gi_histogram_channel {
    /* "gray", "red", "green", "blue", "alpha", "luminance", or the name of a band */
    char name[GI_CHANNEL_NAME];
    double lo, hi;  /* range of the bins */
    uint64_t *bins; /* nbins entries; bin i counts samples lo + i * w <= v < lo + (i + 1) * w, where
                       w = (hi - lo) / nbins in double; the last bin includes v == hi */
    uint64_t total; /* number of samples, including samples outside lo..hi */
    uint64_t nan;   /* not included in total */
    double mean, stddev; /* population deviation */
    double min, max, median;
    double percentiles[GI_REALS_MAX]; /* percentile p is interpolated linearly between the
                                         neighbours of rank (total - 1) * p / 100, counted from 0 */
    double entropy; /* entropy in bits, of integer values, or of the bins for GI_F32 */
};

struct gi_histogram {
    int nchannels, nbins, npercentiles;
    struct gi_histogram_channel *channels; /* owned */
    double least, most; /* smallest and largest finite sample of GI_F32; NAN if there are none */
};

/* Returns what channel c of `image` is: "gray", "red", "green", "blue" or "alpha". */
const char *gi_channel_name(const struct gi_image *image, int c);

/* Makes the range of the bins of the range of the samples: an empty range is widened to 1, as in
 * numpy, and no samples, NAN, are 0 to 1. */
void gi_histogram_widen(double *lo, double *hi);

/* Result: struct gi_histogram. */
extern const struct gi_filter gi_filter_histogram;

/* Histograms of an image of several bands, from those of its parts (filters/statistics/parts.h). */
extern const struct gi_parts_join gi_histogram_parts;
