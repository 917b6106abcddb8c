/* Statistics from exact integers. The 128-bit products lose nothing: n < 2^32 and q < 2^31, so
 * n * sum(q^2) and (sum q)^2 stay below 2^126, and their difference suffers no cancellation.
 * SPDX-License-Identifier: MIT */
#include "filters/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = 65536, MINUS_INFINITY_HIGH = 0x007f, PLUS_INFINITY_HIGH = 0xff80 };

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

struct gi_float_totals gi_float_totals(const uint64_t *high)
{
    /* Every other value whose key has the upper half of an infinity's is a NaN, which isn't there.
     */
    struct gi_float_totals totals = {.minus_infinite = high[MINUS_INFINITY_HIGH],
                                     .plus_infinite = high[PLUS_INFINITY_HIGH]};
    for (int i = 0; i < HALF; i++)
        totals.n += high[i];
    return totals;
}

/* The bin in which the sample of that rank lies; *rank becomes its rank inside the bin. */
static int find_bin(uint64_t *rank, const uint64_t *counts)
{
    int bin = 0;
    while (bin < HALF - 1 && *rank >= counts[bin])
        *rank -= counts[bin++];
    return bin;
}

static float value_of(int high, int low)
{
    uint32_t bits = gi_float_key_bits((uint32_t)high << 16 | (uint32_t)low);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

enum gi_status gi_float_ranks(struct gi_context *cx, struct gi_rank *ranks, int n,
                              const struct gi_image *src, const uint64_t *high, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    size_t ncounts = (size_t)src->channels * HALF;
    uint64_t *low = malloc(ncounts * sizeof *low);
    struct place {
        int bin; /* upper half of the answer; -1 once answered */
        uint64_t rest;
    } *places = malloc((size_t)(n ? n : 1) * sizeof *places);
    if (!low || !places)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: counts of a histogram");
    for (int i = 0; i < n && !status; i++) {
        places[i].rest = ranks[i].rank;
        places[i].bin = find_bin(&places[i].rest, high + (size_t)ranks[i].channel * HALF);
    }
    for (int i = 0; i < n && !status; i++) {
        int bin = places[i].bin;
        if (bin < 0)
            continue;
        struct gi_histogram_spec spec = {
            .key = GI_KEY_FLOAT_LOW, .nbins = HALF, .prefix = (uint16_t)bin};
        memset(low, 0, ncounts * sizeof *low);
        status = cx->k->histogram(cx, low, src, &spec, err);
        for (int j = i; j < n && !status; j++) {
            if (places[j].bin != bin)
                continue;
            int rest = find_bin(&places[j].rest, low + (size_t)ranks[j].channel * HALF);
            ranks[j].value = value_of(bin, rest);
            places[j].bin = -1;
        }
    }
    free(places);
    free(low);
    return status;
}

enum gi_status gi_float_extremes(struct gi_context *cx, float *lo, float *hi,
                                 const struct gi_image *src, const uint64_t *high,
                                 struct gi_err *err)
{
    struct gi_rank ranks[2 * GI_MAX_CHANNELS];
    int n = 0;
    for (int c = 0; c < src->channels; c++) {
        struct gi_float_totals totals = gi_float_totals(high + (size_t)c * HALF);
        lo[c] = hi[c] = 0;
        if (totals.n == totals.minus_infinite + totals.plus_infinite)
            continue;
        ranks[n++] = (struct gi_rank){.channel = c, .rank = totals.minus_infinite};
        ranks[n++] = (struct gi_rank){.channel = c, .rank = totals.n - totals.plus_infinite - 1};
    }
    enum gi_status status = gi_float_ranks(cx, ranks, n, src, high, err);
    for (int i = 0; i < n && !status; i += 2) {
        lo[ranks[i].channel] = ranks[i].value;
        hi[ranks[i].channel] = ranks[i + 1].value;
    }
    return status;
}
