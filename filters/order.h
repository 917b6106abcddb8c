/* Statistics from exact integers: mean and deviation from sums, values of a given rank from counts.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_ORDER_H
#define GI_FILTERS_ORDER_H

#include "kernels/kernels.h"

/* Mean and population deviation in sample units; both NAN where nothing was counted. `lo` and `hi`
 * are the ends that a GI_F32 image was quantised by; unused for integer types. */
void gi_sums_stats(double *mean, double *stddev, const struct gi_sums *sums, enum gi_type type,
                   float lo, float hi);

/* What GI_KEY_FLOAT_HIGH counts of one channel say at once. */
struct gi_float_totals {
    uint64_t n;                             /* samples that are no NaN */
    uint64_t minus_infinite, plus_infinite; /* of them */
};

struct gi_float_totals gi_float_totals(const uint64_t *high);

/* Asks for the value that stands at place `rank` (from 0) of a channel's samples in ascending
 * order, NaN left out. */
struct gi_rank {
    int channel;
    uint64_t rank; /* less than the channel's gi_float_totals.n */
    float value;   /* the answer */
};

/* Answers n questions about a GI_F32 image by one pass for each different upper half among the
 * answers; `high` holds the GI_KEY_FLOAT_HIGH counts of all channels. Errors: as the primitives'.
 */
enum gi_status gi_float_ranks(struct gi_context *cx, struct gi_rank *ranks, int n,
                              const struct gi_image *src, const uint64_t *high, struct gi_err *err);

/* The smallest and largest finite sample of each channel, 0 and 0 where there is none. */
enum gi_status gi_float_extremes(struct gi_context *cx, float *lo, float *hi,
                                 const struct gi_image *src, const uint64_t *high,
                                 struct gi_err *err);

#endif
