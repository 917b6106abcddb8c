/* Statistics from exact integers: mean and deviation from sums, values of a given rank from counts.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_ORDER_H
#define GI_FILTERS_ORDER_H

#include "kernels/kernels.h"

/* Mean and population deviation in sample units; both NAN where nothing was counted. `lo` and `hi`
 * are the ends that a GI_F32 image was quantised by; unused for integer types. */
void gi_sums_stats(double *mean, double *stddev, const struct gi_sums *sums, enum gi_type type,
                   float lo, float hi);

/* Where a percentile, 0 to 100, stands among n > 0 sorted samples: between the ranks r, which is
 * returned, and r + 1 (or n - 1), at fraction *t. Definition 7 of Hyndman and Fan, 1996, American
 * Statistician 50(4), as numpy's. */
uint64_t gi_percentile_rank(double *t, double percent, uint64_t n);
/* What stands there, of the values at these ranks: exact at the ends and where they are equal. */
double gi_between(double a, double b, double t);

/* The value at place `rank` (from 0) of the samples in ascending order, counts[v] of them v; there
 * are more than `rank`. */
int gi_counts_value(const uint64_t *counts, uint64_t rank);

/* Bins of GI_KEY_FLOAT_HIGH and of GI_KEY_FLOAT_LOW. */
enum { GI_KEY_HALF = 65536 };

/* What GI_KEY_FLOAT_HIGH counts of one channel say at once. */
struct gi_float_totals {
    uint64_t n;                             /* samples that are no NaN */
    uint64_t minus_infinite, plus_infinite; /* of them */
};

struct gi_float_totals gi_float_totals(const uint64_t *high);

/* Asks for the value that stands at place `rank` (from 0) of a channel's samples in ascending
 * order, NaN left out. The answer takes two looks at the whole image, each in bands or at once:
 * counts by GI_KEY_FLOAT_HIGH and gi_ranks_find(); then gi_ranks_count() and gi_ranks_answer(). */
struct gi_rank {
    int channel;
    uint64_t rank;
    float value; /* the answer; NAN where the channel has no so many samples */
    /* Found on the way: */
    int high;      /* upper half of the answer's key; -1: none */
    uint64_t rest; /* rank among the samples with this half */
    int slot;      /* the first question of this channel with this half */
};

/* Of the smallest and of the largest finite sample; past the end where there is none. */
void gi_ranks_of_extremes(struct gi_rank ends[2], int channel,
                          const struct gi_float_totals *totals);

/* After the first look; `high` holds the counts of all channels. */
void gi_ranks_find(struct gi_rank *ranks, int n, const uint64_t *high);

/* The second look: adds a band's counts to `low`, GI_KEY_HALF for each of n, zeroed before the
 * first band; reads the band once for GI_PREFIXES_MAX different upper halves. Errors: as the
 * primitives'. */
enum gi_status gi_ranks_count(struct gi_queue *queue, uint64_t *low, const struct gi_rank *ranks,
                              int n, const struct gi_image *band, struct gi_err *err);

/* After the second look. */
void gi_ranks_answer(struct gi_rank *ranks, int n, const uint64_t *low);

#endif
