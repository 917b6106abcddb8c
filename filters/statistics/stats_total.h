/* Statistics of the samples of several images together.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/statistics/stats.h"

enum { GI_STATS_TOTAL_CHANNELS = 8 }; /* gi_channel_name() has fewer names */

/* The exact sums of each channel, in the order in which their names appeared. Zeroed: no images. */
struct gi_stats_total {
    uint64_t images;
    int nchannels;
    const char *names[GI_STATS_TOTAL_CHANNELS];
    struct gi_reduction sums[GI_STATS_TOTAL_CHANNELS]; /* in the units of GI_F32 */
};

/* Adds the sums of an image that is not grouped. Images may differ in type and channels; samples
 * keep their values. */
void gi_stats_total_add(struct gi_stats_total *total, const struct gi_stats *stats);
/* Fills in the statistics of channel c as if one image had all samples. Positions, entropy, median
 * and percentiles are missing. */
void gi_stats_total_channel(struct gi_stats_channel *channel, const struct gi_stats_total *total,
                            int c, const struct gi_stats_params *p);
