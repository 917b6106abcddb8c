/* Statistics of the channels of an image.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/statistics/histogram.h"
#include "kernels/statistics.h"

struct gi_stats_params {
    struct gi_reals percentiles;
    bool opaque;
    bool total;     /* for tables of many images: a table row per channel for all images together */
    const char *by; /* "row", "column" or "WxH"; NULL: no grouping by rectangles */
    const char *labels; /* an image with the label of each pixel; NULL: no grouping by labels */
};

/* One channel. Everything except the last three counts refers to finite samples. If there are no
 * finite samples, sums are 0 and all other members are NAN. */
struct gi_stats_channel {
    char name[GI_CHANNEL_NAME]; /* gi_channel_name(), or the name of a band */
    uint64_t count;             /* finite samples */
    uint64_t nan, positive_infinity, negative_infinity;
    double sum, mean, variance, stddev; /* population variance and deviation */
    double min, max;
    int min_x, min_y, max_x, max_y; /* positions of the first minimum and maximum in raster order;
                                       -1 if there are none */
    double range;                   /* max - min */
    /* Sum of |v|; square root of the sum of v^2; square root of the mean of v^2. */
    double l1, l2, rms;
    double median;
    double percentiles[GI_REALS_MAX]; /* as in gi_histogram_channel */
    double entropy;  /* entropy of the values, in bits per sample; NAN for GI_F32 */
    uint64_t unique; /* number of different values; 0 for GI_F32 (not counted) */
};

/* A part of the image, in pixels. It is a rectangle, or the pixels of one label within a rectangle.
 * Positions in the statistics of the part are relative to the image. */
struct gi_stats_zone {
    uint32_t label; /* 0: none */
    int x, y, width, height;
};

/* How the image is grouped. */
enum gi_stats_by { GI_STATS_WHOLE, GI_STATS_ROW, GI_STATS_COLUMN, GI_STATS_TILE, GI_STATS_LABEL };

enum { GI_STATS_ZONES_MAX = 1 << 18 };

struct gi_stats {
    int nchannels, npercentiles;
    /* Statistics of the image, if it is not grouped. */
    struct gi_stats_channel channels[GI_MAX_CHANNELS];
    struct gi_reduction sums[GI_MAX_CHANNELS]; /* from which these follow */
    enum gi_type type;                         /* of the image */
    enum gi_stats_by by;
    int nzones;                  /* number of zones; 0: no grouping */
    struct gi_stats_zone *zones; /* nzones entries, in raster order or by ascending label; owned */
    struct gi_stats_channel *of_zones; /* nchannels entries per zone; owned */
    /* These replace the arrays above for an image of several bands that is not grouped, nchannels
     * entries; owned. NULL for other images. */
    struct gi_stats_channel *of_bands;
    struct gi_reduction *sums_of_bands;
};

/* Returns the statistics of the channels of the image, or of the first zone. */
static inline const struct gi_stats_channel *gi_stats_channels(const struct gi_stats *stats)
{
    return stats->by ? stats->of_zones : stats->of_bands ? stats->of_bands : stats->channels;
}

/* Result: struct gi_stats. */
extern const struct gi_filter gi_filter_stats;

/* Statistics of an image of several bands, from those of its parts (filters/statistics/parts.h). */
extern const struct gi_parts_join gi_stats_parts;
