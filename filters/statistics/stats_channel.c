/* Statistics derived from the sums of a channel.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/stats_channel.h"

#include <math.h>
#include <stdio.h>

#include "filters/statistics/exact.h"
#include "filters/statistics/histogram.h"

void gi_stats_from_sums(struct gi_stats_channel *channel, const struct gi_reduction *found,
                        const struct gi_image *src, int c, const struct gi_stats_params *p)
{
    *channel = (struct gi_stats_channel){.count = found->n,
                                         .nan = found->nan,
                                         .positive_infinity = found->above,
                                         .negative_infinity = found->below,
                                         .mean = NAN,
                                         .variance = NAN,
                                         .stddev = NAN,
                                         .min = NAN,
                                         .max = NAN,
                                         .min_x = -1,
                                         .min_y = -1,
                                         .max_x = -1,
                                         .max_y = -1,
                                         .range = NAN,
                                         .rms = NAN,
                                         .median = NAN,
                                         .entropy = NAN};
    snprintf(channel->name, sizeof channel->name, "%s", gi_channel_name(src, c));
    for (int i = 0; i < p->percentiles.n; i++)
        channel->percentiles[i] = NAN;
    int sums = src->type == GI_F32 ? GI_EXACT_SUM : 0;
    int squares = src->type == GI_F32 ? GI_EXACT_SQUARES : 0;
    channel->sum = gi_exact_quotient(&found->sum, sums, 1);
    channel->l1 = gi_exact_quotient(&found->magnitude, sums, 1);
    channel->l2 = sqrt(gi_exact_quotient(&found->square, squares, 1));
    if (!found->n)
        return;
    struct gi_exact spread = gi_exact_spread(found);
    channel->mean = gi_exact_quotient(&found->sum, sums, found->n);
    /* n^2 has 64 bits in one image. With more samples, the second division rounds a second time. */
    channel->variance = found->n >> 32
                            ? gi_exact_quotient(&spread, squares, found->n) / (double)found->n
                            : gi_exact_quotient(&spread, squares, found->n * found->n);
    channel->stddev = sqrt(channel->variance);
    channel->rms = sqrt(gi_exact_quotient(&found->square, squares, found->n));
    channel->min = (double)found->min;
    channel->max = (double)found->max;
    channel->range = channel->max - channel->min;
    channel->min_x = (int)(found->min_at % (uint64_t)src->width);
    channel->min_y = (int)(found->min_at / (uint64_t)src->width);
    channel->max_x = (int)(found->max_at % (uint64_t)src->width);
    channel->max_y = (int)(found->max_at / (uint64_t)src->width);
}
