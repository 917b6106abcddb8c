/* Statistics of the samples of several images together.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/statistics/stats.h"

/* What one image contributes: the exact sums of its channels. */
struct gi_stats_part {
    int nchannels;
    struct gi_stats_sums {
        char name[GI_CHANNEL_NAME];
        struct gi_reduction sums; /* in the units of GI_F32 */
    } channels[];
};

/* The exact sums of each channel, in the order in which their names appeared. Zeroed: no images. */
struct gi_stats_total {
    uint64_t images;
    int nchannels;
    struct gi_stats_sums *channels; /* owned */
};

/* Makes the sums of an image that is not grouped, which the caller frees by free(). */
struct gi_stats_part *gi_stats_part_new(const struct gi_stats *stats);
/* Adds the sums of an image. Images may differ in type and channels; samples keep their values.
 */
void gi_stats_total_add(struct gi_stats_total *total, const struct gi_stats_part *part);
/* Fills in the statistics of channel c as if one image had all samples. Positions, entropy, median
 * and percentiles are missing. */
void gi_stats_total_channel(struct gi_stats_channel *channel, const struct gi_stats_total *total,
                            int c, const struct gi_stats_params *p);
