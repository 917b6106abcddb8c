/* Adds the exact sums of images.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/stats_total.h"

#include <string.h>

#include "filters/statistics/stats_channel.h"

/* Returns a * 2^shift of an integer that is not negative. */
static struct gi_exact shifted(const struct gi_exact *a, unsigned shift)
{
    struct gi_exact made = {{0}};
    for (unsigned i = 0; i < GI_EXACT_WORDS; i++)
        if (a->w[i])
            gi_exact_add(&made, a->w[i], 64 * i + shift, false);
    return made;
}

void gi_stats_total_add(struct gi_stats_total *total, const struct gi_stats *stats)
{
    total->images++;
    for (int c = 0; c < stats->nchannels; c++) {
        const char *name = stats->channels[c].name;
        struct gi_reduction sums = stats->sums[c];
        int i = 0;
        while (i < total->nchannels && strcmp(total->names[i], name) != 0)
            i++;
        if (stats->type != GI_F32) { /* the units of GI_F32 are finer */
            sums.sum = shifted(&sums.sum, -GI_EXACT_SUM);
            sums.magnitude = shifted(&sums.magnitude, -GI_EXACT_SUM);
            sums.square = shifted(&sums.square, -GI_EXACT_SQUARES);
        }
        total->names[i] = name;
        total->nchannels += i == total->nchannels;
        gi_reduction_add(&total->sums[i], &sums);
    }
}

void gi_stats_total_channel(struct gi_stats_channel *channel, const struct gi_stats_total *total,
                            int c, const struct gi_stats_params *p)
{
    const struct gi_image shape = {.width = 1, .height = 1, .channels = 1, .type = GI_F32};
    gi_stats_from_sums(channel, &total->sums[c], &shape, 0, p);
    channel->name = total->names[c];
    channel->min_x = channel->min_y = channel->max_x = channel->max_y = -1;
}
