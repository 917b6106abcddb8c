/* Statistics of one channel, whether of an image or of a part of it.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_STATS_CHANNEL_H
#define GI_FILTERS_STATS_CHANNEL_H

#include "filters/statistics/stats.h"

/* All that sums and extremes say of channel c of `src`; the rest as where nothing was counted. */
void gi_stats_from_sums(struct gi_stats_channel *channel, const struct gi_reduction *found,
                        const struct gi_image *src, int c, const struct gi_stats_params *p);

/* Where what is asked for by percent stands between two samples: the median (i is 0), percentile
 * i - 1. */
static inline double *gi_stats_answer(struct gi_stats_channel *channel, int i)
{
    return i == 0 ? &channel->median : &channel->percentiles[i - 1];
}

/* By how many per cent. */
static inline double gi_stats_percent(const struct gi_stats_params *p, int i)
{
    return i == 0 ? 50 : p->percentiles.v[i - 1];
}

/* Zones that are rows, columns or tiles, of which those at the right and at the bottom may be
 * smaller. */
struct gi_zones {
    enum gi_stats_by by;
    int width, height; /* of one */
};

/* Those that `text` asks for, of an image of width x height. Errors: GI_E_USAGE, and
 * GI_E_UNSUPPORTED where there are more than GI_STATS_ZONES_MAX. */
enum gi_status gi_zones_read(struct gi_zones *zones, const char *text, int width, int height,
                             struct gi_err *err);

/* Statistics of each zone of the host image `src`, into `stats`, zeroed: of the rectangles of
 * p->by, or where that is NULL of the label image `labels` of src's size, from 1 on. Errors:
 * GI_E_MEMORY, GI_E_UNSUPPORTED where there are too many zones or `labels` is none
 * (filters/regions/labels.h). */
enum gi_status gi_zones_measure(struct gi_stats *stats, const struct gi_image *src,
                                const struct gi_image *labels, const struct gi_stats_params *p,
                                struct gi_err *err);

#endif
