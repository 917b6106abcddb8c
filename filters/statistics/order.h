/* Statistics from exact integers: mean and deviation from sums, and samples of a given rank from
 * counts.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/statistics.h"

/* Computes mean and population deviation in sample units. Both are NAN if nothing was counted. `lo`
 * and `hi` are the range in which a GI_F32 image was quantised; they are unused for integers. */
void gi_sums_stats(double *mean, double *stddev, const struct gi_sums *sums, enum gi_type type,
                   float lo, float hi);

/* Finds the position of a percentile, 0 to 100, among n > 0 sorted samples. Returns a rank r. The
 * position is at fraction *t between rank r and rank r + 1 (at most n - 1). Definition 7 of Hyndman
 * and Fan, 1996, American Statistician 50(4), as in numpy. */
uint64_t gi_percentile_rank(double *t, double percent, uint64_t n);
/* Interpolates between two values. The result is exact at the ends, and if the values are equal. */
double gi_between(double a, double b, double t);

/* Returns a percentile of n samples, of which counts[v] have the value v, or NAN if n is 0. */
double gi_counts_percentile(const uint64_t *counts, uint64_t n, double percent);

/* The number of bins of GI_KEY_FLOAT_HIGH, and of GI_KEY_FLOAT_LOW. */
enum { GI_KEY_HALF = 65536 };

/* Returns the number of counts of a channel in the first pass: one per value of integers, and one
 * per upper half of a key of GI_F32. */
static inline int gi_counts_n(enum gi_type type)
{
    return type == GI_U8 ? 256 : GI_KEY_HALF;
}

/* Adds the counts of a band to `counts`, which has gi_counts_n() entries per channel. Errors: those
 * of the primitive. */
enum gi_status gi_counts_add(struct gi_queue *queue, uint64_t *counts, const struct gi_image *band,
                             struct gi_err *err);

/* Totals that follow from the GI_KEY_FLOAT_HIGH counts of one channel. */
struct gi_float_totals {
    uint64_t n;                             /* samples that are not NaN */
    uint64_t minus_infinite, plus_infinite; /* infinities among them */
};

struct gi_float_totals gi_float_totals(const uint64_t *high);

/* A request for the sample of rank `rank`, from 0, among the samples of a channel in ascending
 * order, without NaN. The answer takes two passes over the whole image or its bands. The first pass
 * calls gi_counts_add(), and after it gi_ranks_find() is called. The second pass calls
 * gi_ranks_count(), and after it gi_ranks_answer() is called. */
struct gi_rank {
    int channel;
    uint64_t rank;
    float value; /* the answer; NAN if the channel has too few samples */
    /* Intermediate results: */
    int high;      /* upper half of the key of the answer; -1 if there is no answer */
    uint64_t rest; /* rank among the samples with this upper half */
    int slot;      /* index of the first request for this channel and upper half */
};

/* Requests the minimum and the maximum of the finite samples. If there are none, the ranks are past
 * the end. */
void gi_ranks_of_ends(struct gi_rank ends[2], int channel, const struct gi_float_totals *totals);

/* Requests the two samples next to a percentile of n samples, which follow `below` others in
 * ascending order. If n is 0, the ranks are past the end. gi_ranks_percentile() returns the
 * percentile from the answers, or NAN. */
void gi_ranks_of_percentile(struct gi_rank two[2], int channel, double percent, uint64_t n,
                            uint64_t below);
double gi_ranks_percentile(const struct gi_rank two[2], double percent, uint64_t n);

/* Called after the first pass. `high` has the counts of all channels. */
void gi_ranks_find(struct gi_rank *ranks, int n, const uint64_t *high);

/* The second pass. Adds the counts of a band to `low`, which has GI_KEY_HALF entries for each of
 * the n requests and is zeroed before the first band. Reads the band once per GI_PREFIXES_MAX
 * different upper halves. Errors: those of the primitives. */
enum gi_status gi_ranks_count(struct gi_queue *queue, uint64_t *low, const struct gi_rank *ranks,
                              int n, const struct gi_image *band, struct gi_err *err);

/* Called after the second pass. Fills in the answers. */
void gi_ranks_answer(struct gi_rank *ranks, int n, const uint64_t *low);
