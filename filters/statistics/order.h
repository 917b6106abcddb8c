/* Statistics from exact integers: mean and deviation from sums, values of a given rank from counts.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_ORDER_H
#define GI_FILTERS_ORDER_H

#include "kernels/kernels.h"
#include "kernels/statistics.h"

/* Computes mean and population deviation in sample units; both NAN if nothing was counted. `lo` and
 * `hi` are the range in which a GI_F32 image was quantised; unused for integer types. */
void gi_sums_stats(double *mean, double *stddev, const struct gi_sums *sums, enum gi_type type,
                   float lo, float hi);

/* Finds the position of a percentile, 0 to 100, among n > 0 sorted samples: between rank r, which
 * is returned, and r + 1 (or n - 1), at fraction *t. Definition 7 of Hyndman and Fan, 1996,
 * American Statistician 50(4), as in numpy. */
uint64_t gi_percentile_rank(double *t, double percent, uint64_t n);
/* Interpolates between the values at these ranks: exact at the ends and if they are equal. */
double gi_between(double a, double b, double t);

/* Returns the sample of rank `rank` (from 0) in ascending order, where counts[v] samples have the
 * value v; there are more than `rank` samples. */
int gi_counts_value(const uint64_t *counts, uint64_t rank);

/* Numbers of bins of GI_KEY_FLOAT_HIGH and of GI_KEY_FLOAT_LOW. */
enum { GI_KEY_HALF = 65536 };

/* Totals that follow directly from the GI_KEY_FLOAT_HIGH counts of one channel. */
struct gi_float_totals {
    uint64_t n;                             /* samples that are not NaN */
    uint64_t minus_infinite, plus_infinite; /* infinities among them */
};

struct gi_float_totals gi_float_totals(const uint64_t *high);

/* Asks for the sample of rank `rank` (from 0) of a channel in ascending order, without NaN. The
 * answer takes two passes over the whole image, in bands or at once: counts by GI_KEY_FLOAT_HIGH
 * and gi_ranks_find(); then gi_ranks_count() and gi_ranks_answer(). */
struct gi_rank {
    int channel;
    uint64_t rank;
    float value; /* the answer; NAN if the channel has fewer samples */
    /* Intermediate results: */
    int high;      /* upper half of the answer's key; -1: none */
    uint64_t rest; /* rank among the samples with this half */
    int slot;      /* the first question of this channel with this half */
};

/* Asks for the minimum and the maximum finite sample; their rank is past the end if no sample is
 * finite. */
void gi_ranks_of_ends(struct gi_rank ends[2], int channel, const struct gi_float_totals *totals);

/* To be called after the first pass; `high` holds the counts of all channels. */
void gi_ranks_find(struct gi_rank *ranks, int n, const uint64_t *high);

/* The second pass: adds a band's counts to `low`, GI_KEY_HALF entries for each of n, zeroed before
 * the first band; reads the band once per GI_PREFIXES_MAX different upper halves. Errors: as the
 * primitives'. */
enum gi_status gi_ranks_count(struct gi_queue *queue, uint64_t *low, const struct gi_rank *ranks,
                              int n, const struct gi_image *band, struct gi_err *err);

/* To be called after the second pass; fills the answers. */
void gi_ranks_answer(struct gi_rank *ranks, int n, const uint64_t *low);

#endif
