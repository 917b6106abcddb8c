/* Statistics of one channel, of a whole image or of a part of it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/statistics/stats.h"
#include "kernels/statistics.h"

/* Fills in the statistics that follow from sums, minimum and maximum of channel c of `src`.
 * Statistics that need counts are set to their values without counts. */
void gi_stats_from_sums(struct gi_stats_channel *channel, const struct gi_reduction *found,
                        const struct gi_image *src, int c, const struct gi_stats_params *p);

/* Returns where the answer to request i belongs, which is the median if i is 0, else percentile i -
 * 1. */
static inline double *gi_stats_answer(struct gi_stats_channel *channel, int i)
{
    return i == 0 ? &channel->median : &channel->percentiles[i - 1];
}

/* Returns its percentage. */
static inline double gi_stats_percent(const struct gi_stats_params *p, int i)
{
    return i == 0 ? 50 : p->percentiles.v[i - 1];
}

/* Zones, which are rows, columns or tiles. Tiles at the right and at the bottom may be smaller. */
struct gi_zones {
    enum gi_stats_by by;
    int width, height; /* size of one zone */
    int n;             /* number of zones */
};

/* Reads the zones that `text` requests, for an image of width x height. Errors: GI_E_USAGE, and
 * GI_E_UNSUPPORTED if there are more than GI_STATS_ZONES_MAX. */
enum gi_status gi_zones_read(struct gi_zones *zones, const char *text, int width, int height,
                             struct gi_err *err);

/* Computes the statistics of each zone of the host image `src` into `stats`, which must be zeroed.
 * The zones are the rectangles of p->by. If p->by is NULL, the zones are the labels from 1 on in
 * the image `labels`, which has the size of `src`. Errors: GI_E_MEMORY; GI_E_UNSUPPORTED if there
 * are too many zones or `labels` is not a label image (filters/regions/labels.h). */
enum gi_status gi_zones_measure(struct gi_stats *stats, const struct gi_image *src,
                                const struct gi_image *labels, const struct gi_stats_params *p,
                                struct gi_err *err);
