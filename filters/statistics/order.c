/* Mean and deviation from exact integers, and order statistics of floats by radix selection in two
 * steps (first the upper half of the keys, then the lower).
 *
 * The variance is (n * sum(q^2) - (sum q)^2) / n^2. A sample q is an integer below 2^31 in absolute
 * value, and the number n of samples is below 2^32. Both products are below 2^126, so they are
 * exact in integers of 128 bits, and their difference has no cancellation error.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/order.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MINUS_INFINITY_HIGH = 0x007f, PLUS_INFINITY_HIGH = 0xff80 };

void gi_sums_stats(double *mean, double *stddev, const struct gi_sums *sums, enum gi_type type,
                   float lo, float hi)
{
    if (sums->n == 0) {
        *mean = *stddev = NAN;
        return;
    }
    double n = (double)sums->n;
    __extension__ unsigned __int128 squares =
        ((unsigned __int128)sums->q2_high << 32) + sums->q2_low;
    __extension__ unsigned __int128 spread =
        squares * sums->n - (unsigned __int128)sums->q * sums->q;
    double mean_q = (double)sums->q / n, stddev_q = sqrt((double)spread) / n;
    double step = 1;
    if (type == GI_F32)
        step = hi > lo ? ((double)hi - lo) / 2147483647.0 : 0;
    *mean = type == GI_F32 ? lo + mean_q * step : mean_q;
    *stddev = stddev_q * step;
}

uint64_t gi_percentile_rank(double *t, double percent, uint64_t n)
{
    double place = (double)(n - 1) * (percent / 100), at = floor(place);
    if (at >= (double)(n - 1)) {
        *t = 0;
        return n - 1;
    }
    *t = place - at;
    return (uint64_t)at;
}

double gi_between(double a, double b, double t)
{
    if (t == 0 || a == b)
        return a;
    return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

/* Returns the sample of rank `rank` (from 0) in ascending order. There are more than `rank`. */
static int counts_value(const uint64_t *counts, uint64_t rank)
{
    int v = 0;
    for (uint64_t seen = counts[0]; seen <= rank; seen += counts[v])
        v++;
    return v;
}

double gi_counts_percentile(const uint64_t *counts, uint64_t n, double percent)
{
    double t;
    if (n == 0)
        return NAN;
    uint64_t rank = gi_percentile_rank(&t, percent, n);
    int v = counts_value(counts, rank);
    return gi_between(v, t > 0 ? counts_value(counts, rank + 1) : v, t);
}

enum gi_status gi_counts_add(struct gi_queue *queue, uint64_t *counts, const struct gi_image *band,
                             struct gi_err *err)
{
    const struct gi_histogram_spec spec = {.key = band->type == GI_F32 ? GI_KEY_FLOAT_HIGH
                                                                       : GI_KEY_VALUE,
                                           .nbins = gi_counts_n(band->type)};
    return queue->k->histogram(queue, counts, band, &spec, err);
}

struct gi_float_totals gi_float_totals(const uint64_t *high)
{
    /* Other keys with the same upper half as the key of an infinity are NaNs, which are not
     * counted. */
    struct gi_float_totals totals = {.minus_infinite = high[MINUS_INFINITY_HIGH],
                                     .plus_infinite = high[PLUS_INFINITY_HIGH]};
    for (int i = 0; i < GI_KEY_HALF; i++)
        totals.n += high[i];
    return totals;
}

void gi_ranks_of_ends(struct gi_rank ends[2], int channel, const struct gi_float_totals *totals)
{
    uint64_t infinite = totals->minus_infinite + totals->plus_infinite;
    bool none = totals->n == infinite;
    ends[0] =
        (struct gi_rank){.channel = channel, .rank = none ? UINT64_MAX : totals->minus_infinite};
    ends[1] = (struct gi_rank){.channel = channel,
                               .rank = none ? UINT64_MAX : totals->n - totals->plus_infinite - 1};
}

void gi_ranks_of_percentile(struct gi_rank two[2], int channel, double percent, uint64_t n,
                            uint64_t below)
{
    double t;
    uint64_t rank = n ? below + gi_percentile_rank(&t, percent, n) : UINT64_MAX;
    two[0] = (struct gi_rank){.channel = channel, .rank = rank};
    two[1] = (struct gi_rank){.channel = channel, .rank = rank + (n && rank + 1 < below + n)};
}

double gi_ranks_percentile(const struct gi_rank two[2], double percent, uint64_t n)
{
    double t = 0;
    if (n)
        gi_percentile_rank(&t, percent, n);
    return gi_between((double)two[0].value, (double)two[1].value, t);
}

/* Returns the bin that contains the sample at index *rank in ascending order, or -1 if *rank is
 * past the last sample. *rank becomes the index within the bin. */
static int find_bin(uint64_t *rank, const uint64_t *counts)
{
    for (int bin = 0; bin < GI_KEY_HALF; bin++) {
        if (*rank < counts[bin])
            return bin;
        *rank -= counts[bin];
    }
    return -1;
}

void gi_ranks_find(struct gi_rank *ranks, int n, const uint64_t *high)
{
    for (int i = 0; i < n; i++) {
        struct gi_rank *rank = &ranks[i];
        rank->rest = rank->rank;
        rank->high = find_bin(&rank->rest, high + (size_t)rank->channel * GI_KEY_HALF);
        rank->slot = 0;
        while (ranks[rank->slot].channel != rank->channel || ranks[rank->slot].high != rank->high)
            rank->slot++;
    }
}

/* Adds up to GI_PREFIXES_MAX upper halves to `spec`. Requests from *next on need these halves, in
 * any channel, and no earlier request needed them. *next becomes the first request that remains. */
static void take_prefixes(struct gi_histogram_spec *spec, int *next, const struct gi_rank *ranks,
                          int n)
{
    spec->nprefixes = 0;
    for (; *next < n && spec->nprefixes < GI_PREFIXES_MAX; ++*next) {
        int first = 0;
        while (ranks[first].high != ranks[*next].high)
            first++;
        if (first == *next && ranks[first].high >= 0)
            spec->prefixes[spec->nprefixes++] = (uint16_t)ranks[first].high;
    }
}

/* Adds the counts of each prefix to `low`, for the requests that the prefix answers. */
static void add_prefixes(uint64_t *low, const struct gi_rank *ranks, int n, const uint64_t *counts,
                         const struct gi_histogram_spec *spec, int channels)
{
    for (int p = 0; p < spec->nprefixes; p++)
        for (int i = 0; i < n; i++) {
            if (ranks[i].high != spec->prefixes[p] || ranks[i].slot != i)
                continue;
            const uint64_t *from = counts + (size_t)(p * channels + ranks[i].channel) * GI_KEY_HALF;
            uint64_t *to = low + (size_t)i * GI_KEY_HALF;
            for (int k = 0; k < GI_KEY_HALF; k++)
                if (from[k]) /* most are 0, and memory that is never written takes no space */
                    to[k] += from[k];
        }
}

enum gi_status gi_ranks_count(struct gi_queue *queue, uint64_t *low, const struct gi_rank *ranks,
                              int n, const struct gi_image *band, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    struct gi_histogram_spec spec = {.key = GI_KEY_FLOAT_LOW, .nbins = GI_KEY_HALF};
    for (int next = 0; next < n && !status;) {
        take_prefixes(&spec, &next, ranks, n);
        if (spec.nprefixes == 0)
            break;
        uint64_t *counts =
            calloc((size_t)(spec.nprefixes * band->channels) * GI_KEY_HALF, sizeof *counts);
        if (!counts)
            return gi_fail(err, GI_E_MEMORY, "out of memory: counts of a histogram");
        status = queue->k->histogram(queue, counts, band, &spec, err);
        if (!status)
            add_prefixes(low, ranks, n, counts, &spec, band->channels);
        free(counts);
    }
    return status;
}

void gi_ranks_answer(struct gi_rank *ranks, int n, const uint64_t *low)
{
    for (int i = 0; i < n; i++) {
        struct gi_rank *rank = &ranks[i];
        rank->value = NAN;
        if (rank->high < 0)
            continue;
        uint64_t rest = rank->rest;
        int half = find_bin(&rest, low + (size_t)rank->slot * GI_KEY_HALF);
        uint32_t bits = gi_float_key_bits((uint32_t)rank->high << 16 | (uint32_t)half);
        memcpy(&rank->value, &bits, sizeof bits);
    }
}
