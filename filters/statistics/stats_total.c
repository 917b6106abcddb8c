/* Adds the exact sums of images.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/stats_total.h"

#include <stdlib.h>
#include <string.h>

#include "filters/statistics/stats_channel.h"
#include "imgio/small.h"

/* Returns a * 2^shift of an integer that is not negative. */
static struct gi_exact shifted(const struct gi_exact *a, unsigned shift)
{
    struct gi_exact made = {{0}};
    for (unsigned i = 0; i < GI_EXACT_WORDS; i++)
        if (a->w[i])
            gi_exact_add(&made, a->w[i], 64 * i + shift, false);
    return made;
}

struct gi_stats_part *gi_stats_part_new(const struct gi_stats *stats)
{
    size_t n = (size_t)stats->nchannels;
    const struct gi_stats_channel *channels = gi_stats_channels(stats);
    struct gi_stats_part *part = gi_small_alloc(sizeof *part + n * sizeof part->channels[0]);
    for (size_t c = 0; c < n; c++) {
        struct gi_reduction *sums = &part->channels[c].sums;
        memcpy(part->channels[c].name, channels[c].name, GI_CHANNEL_NAME);
        *sums = stats->sums_of_bands ? stats->sums_of_bands[c] : stats->sums[c];
        if (stats->type != GI_F32) { /* the units of GI_F32 are finer */
            sums->sum = shifted(&sums->sum, -GI_EXACT_SUM);
            sums->magnitude = shifted(&sums->magnitude, -GI_EXACT_SUM);
            sums->square = shifted(&sums->square, -GI_EXACT_SQUARES);
        }
    }
    part->nchannels = stats->nchannels;
    return part;
}

void gi_stats_total_add(struct gi_stats_total *total, const struct gi_stats_part *part)
{
    size_t room = (size_t)(total->nchannels + part->nchannels);
    struct gi_stats_sums *channels = total->channels =
        gi_small_realloc(total->channels, room, sizeof *channels);
    total->images++;
    for (int c = 0; c < part->nchannels; c++) {
        const struct gi_stats_sums *from = &part->channels[c];
        int i = 0;
        while (i < total->nchannels && strcmp(channels[i].name, from->name) != 0)
            i++;
        if (i == total->nchannels) {
            memset(&channels[i], 0, sizeof channels[i]);
            memcpy(channels[i].name, from->name, sizeof from->name);
            total->nchannels++;
        }
        gi_reduction_add(&channels[i].sums, &from->sums);
    }
}

void gi_stats_total_channel(struct gi_stats_channel *channel, const struct gi_stats_total *total,
                            int c, const struct gi_stats_params *p)
{
    const struct gi_image shape = {.width = 1, .height = 1, .channels = 1, .type = GI_F32};
    gi_stats_from_sums(channel, &total->channels[c].sums, &shape, 0, p);
    memcpy(channel->name, total->channels[c].name, sizeof channel->name);
    channel->min_x = channel->min_y = channel->max_x = channel->max_y = -1;
}
