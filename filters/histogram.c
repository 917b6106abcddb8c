/* Histogram: counts at full resolution through the backend, everything else from them on the host.
 * Float images have no full resolution that fits; their order statistics come from two-step radix
 * counts, mean and deviation from quantised sums.
 * SPDX-License-Identifier: MIT */
#include "filters/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/order.h"

enum { HALF = 65536, RANKS_MAX = 2 * (GI_REALS_MAX + 2) };

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_histogram_params *p = params;
    if (p->range.n != 0 && (p->range.n != 2 || !(p->range.v[0] < p->range.v[1]) ||
                            !isfinite(p->range.v[1] - p->range.v[0])))
        return gi_fail(err, GI_E_USAGE, "--range: want two numbers LO,HI with LO below HI");
    return GI_OK;
}

/* Measured on two threads: 0.3 ns a sample, and 14 ns for floats, which are looked at about twenty
 * times for the median and percentiles; 46 multiply-adds a nanosecond. */
static struct gi_cost cost(const struct gi_image *src, const void *params)
{
    (void)params;
    return (struct gi_cost){.flops = src->type == GI_F32 ? 640 : 14};
}

static double edge(const struct gi_histogram_channel *channel, int nbins, int i)
{
    return i == nbins ? channel->hi : channel->lo + i * ((channel->hi - channel->lo) / nbins);
}

/* Entropy in bits of a distribution given by counts: - sum of p * log2(p). */
static double entropy(const uint64_t *counts, int n)
{
    double total = 0, sum = 0;
    for (int i = 0; i < n; i++)
        total += (double)counts[i];
    for (int i = 0; i < n; i++)
        if (counts[i])
            sum -= (double)counts[i] / total * log2((double)counts[i] / total);
    return total > 0 ? sum + 0.0 : NAN;
}

/* Where a percentile stands among n sorted samples: between the ranks `at` and `at` + 1 (or n - 1),
 * at fraction t. Definition 7 of Hyndman and Fan, 1996, American Statistician 50(4), as numpy's. */
static uint64_t percentile_rank(double *t, double percent, uint64_t n)
{
    double place = (double)(n - 1) * (percent / 100), at = floor(place);
    if (at >= (double)(n - 1)) {
        *t = 0;
        return n - 1;
    }
    *t = place - at;
    return (uint64_t)at;
}

static double between(double a, double b, double t)
{
    if (t == 0 || a == b)
        return a;
    return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

/* Percentile p of a channel: answer i of the list that starts with the median. */
static double percent_at(const struct gi_histogram_params *p, int i)
{
    return i == 0 ? 50 : p->percentiles.v[i - 1];
}

static double *answer_at(struct gi_histogram_channel *channel, int i)
{
    return i == 0 ? &channel->median : &channel->percentiles[i - 1];
}

/* All of an integer channel from its full counts. */
static void from_counts(struct gi_histogram_channel *channel, const uint64_t *counts, int nvalues,
                        const struct gi_histogram_params *p)
{
    uint64_t sum = 0;
    int bin = 0, min = -1, max = 0;
    for (int v = 0; v < nvalues; v++) {
        while (bin < p->bins - 1 && v >= edge(channel, p->bins, bin + 1))
            bin++;
        if (v >= channel->lo && v <= channel->hi)
            channel->bins[bin] += counts[v];
        channel->total += counts[v];
        sum += counts[v] * (uint64_t)v;
        if (counts[v]) {
            min = min < 0 ? v : min;
            max = v;
        }
    }
    double n = (double)channel->total, squares = 0;
    channel->mean = (double)sum / n;
    for (int v = min; v <= max; v++)
        squares += (double)counts[v] * (v - channel->mean) * (v - channel->mean);
    channel->stddev = sqrt(squares / n);
    channel->min = min;
    channel->max = max;
    channel->entropy = entropy(counts, nvalues);
    for (int i = 0; i <= p->percentiles.n; i++) {
        double t;
        uint64_t rank = percentile_rank(&t, percent_at(p, i), channel->total), seen = counts[0];
        int v = 0;
        while (seen <= rank)
            seen += counts[++v];
        int next = v;
        if (t > 0 && seen == rank + 1)
            while (counts[++next] == 0)
                ;
        *answer_at(channel, i) = between(v, next, t);
    }
}

static enum gi_status of_integers(struct gi_context *cx, struct gi_histogram *result,
                                  const struct gi_image *src, const struct gi_histogram_params *p,
                                  struct gi_err *err)
{
    int nvalues = src->type == GI_U8 ? 256 : 65536;
    uint64_t *counts = calloc((size_t)src->channels * (size_t)nvalues, sizeof *counts);
    if (!counts)
        return gi_fail(err, GI_E_MEMORY, "out of memory: counts of a histogram");
    struct gi_histogram_spec spec = {.key = GI_KEY_VALUE, .nbins = nvalues};
    enum gi_status status = cx->k->histogram(cx, counts, src, &spec, err);
    for (int c = 0; c < src->channels && !status; c++) {
        struct gi_histogram_channel *channel = &result->channels[c];
        channel->lo = p->range.n ? p->range.v[0] : 0;
        channel->hi = p->range.n ? p->range.v[1] : nvalues - 1;
        from_counts(channel, counts + (size_t)c * (size_t)nvalues, nvalues, p);
    }
    free(counts);
    return status;
}

/* Minimum, maximum, median and percentiles of every channel. */
static enum gi_status float_order(struct gi_context *cx, struct gi_histogram *result,
                                  const struct gi_image *src, const struct gi_histogram_params *p,
                                  const uint64_t *high, struct gi_err *err)
{
    struct gi_rank *ranks = malloc(GI_MAX_CHANNELS * RANKS_MAX * sizeof *ranks);
    if (!ranks)
        return gi_fail(err, GI_E_MEMORY, "out of memory: ranks of a histogram");
    int n = 0;
    double t;
    for (int c = 0; c < src->channels; c++) {
        uint64_t total = result->channels[c].total;
        if (total == 0)
            continue;
        ranks[n++] = (struct gi_rank){.channel = c, .rank = 0};
        ranks[n++] = (struct gi_rank){.channel = c, .rank = total - 1};
        for (int i = 0; i <= p->percentiles.n; i++) {
            uint64_t rank = percentile_rank(&t, percent_at(p, i), total);
            ranks[n++] = (struct gi_rank){.channel = c, .rank = rank};
            ranks[n++] = (struct gi_rank){.channel = c, .rank = rank + (rank < total - 1)};
        }
    }
    enum gi_status status = gi_float_ranks(cx, ranks, n, src, high, err);
    const struct gi_rank *at = ranks;
    for (int c = 0; c < src->channels && !status; c++) {
        struct gi_histogram_channel *channel = &result->channels[c];
        bool none = channel->total == 0;
        channel->min = none ? NAN : at++->value;
        channel->max = none ? NAN : at++->value;
        for (int i = 0; i <= p->percentiles.n; i++, at += none ? 0 : 2) {
            if (!none)
                percentile_rank(&t, percent_at(p, i), channel->total);
            *answer_at(channel, i) = none ? NAN : between(at[0].value, at[1].value, t);
        }
    }
    free(ranks);
    return status;
}

/* Ends of the bins: as asked for, or the finite samples of all channels; a range of no width is
 * made 1 wide, as numpy does. */
static enum gi_status float_range(struct gi_context *cx, struct gi_histogram *result, float *least,
                                  float *most, const struct gi_image *src,
                                  const struct gi_histogram_params *p, const uint64_t *high,
                                  struct gi_err *err)
{
    enum gi_status status = gi_float_extremes(cx, least, most, src, high, err);
    double lo = INFINITY, hi = -INFINITY;
    for (int c = 0; c < src->channels && !status; c++) {
        struct gi_float_totals totals = gi_float_totals(high + (size_t)c * HALF);
        result->channels[c].total = totals.n;
        if (totals.n > totals.minus_infinite + totals.plus_infinite) {
            lo = fmin(lo, least[c]);
            hi = fmax(hi, most[c]);
        }
    }
    if (lo > hi) {
        lo = 0;
        hi = 1;
    } else if (lo == hi) {
        lo -= 0.5;
        hi += 0.5;
    }
    for (int c = 0; c < src->channels && !status; c++) {
        result->channels[c].lo = p->range.n ? p->range.v[0] : lo;
        result->channels[c].hi = p->range.n ? p->range.v[1] : hi;
    }
    return status;
}

/* Mean and deviation. Infinite samples are counted at the nearest finite end by the backend, so
 * where there are any the answer follows from how many. */
static enum gi_status float_moments(struct gi_context *cx, struct gi_histogram *result,
                                    const struct gi_image *src, const float *least,
                                    const float *most, const uint64_t *high, struct gi_err *err)
{
    struct gi_sums sums[GI_MAX_CHANNELS] = {{0}};
    enum gi_status status = cx->k->moments(cx, sums, src, least, most, err);
    for (int c = 0; c < src->channels && !status; c++) {
        struct gi_histogram_channel *channel = &result->channels[c];
        struct gi_float_totals totals = gi_float_totals(high + (size_t)c * HALF);
        gi_sums_stats(&channel->mean, &channel->stddev, &sums[c], GI_F32, least[c], most[c]);
        if (totals.minus_infinite || totals.plus_infinite) {
            channel->mean =
                (totals.plus_infinite ? INFINITY : 0) - (totals.minus_infinite ? INFINITY : 0);
            channel->stddev = NAN;
        }
    }
    return status;
}

static enum gi_status float_bins(struct gi_context *cx, struct gi_histogram *result,
                                 const struct gi_image *src, struct gi_err *err)
{
    size_t nbins = (size_t)result->nbins;
    uint64_t *counts = calloc((size_t)src->channels * nbins, sizeof *counts);
    if (!counts)
        return gi_fail(err, GI_E_MEMORY, "out of memory: counts of a histogram");
    struct gi_histogram_spec spec = {.key = GI_KEY_RANGE,
                                     .nbins = result->nbins,
                                     .lo = result->channels[0].lo,
                                     .hi = result->channels[0].hi};
    enum gi_status status = cx->k->histogram(cx, counts, src, &spec, err);
    for (int c = 0; c < src->channels && !status; c++) {
        struct gi_histogram_channel *channel = &result->channels[c];
        memcpy(channel->bins, counts + (size_t)c * nbins, nbins * sizeof *counts);
        channel->entropy = entropy(channel->bins, result->nbins);
        channel->nan = (uint64_t)src->width * (uint64_t)src->height - channel->total;
    }
    free(counts);
    return status;
}

static enum gi_status of_floats(struct gi_context *cx, struct gi_histogram *result,
                                const struct gi_image *src, const struct gi_histogram_params *p,
                                struct gi_err *err)
{
    uint64_t *high = calloc((size_t)src->channels * HALF, sizeof *high);
    if (!high)
        return gi_fail(err, GI_E_MEMORY, "out of memory: counts of a histogram");
    float least[GI_MAX_CHANNELS], most[GI_MAX_CHANNELS];
    struct gi_histogram_spec spec = {.key = GI_KEY_FLOAT_HIGH, .nbins = HALF};
    enum gi_status status = cx->k->histogram(cx, high, src, &spec, err);
    if (!status)
        status = float_range(cx, result, least, most, src, p, high, err);
    if (!status)
        status = float_order(cx, result, src, p, high, err);
    if (!status)
        status = float_moments(cx, result, src, least, most, high, err);
    if (!status)
        status = float_bins(cx, result, src, err);
    free(high);
    return status;
}

const char *gi_channel_name(const struct gi_image *image, int c)
{
    static const char *const colours[] = {"red", "green", "blue"};
    if (c == gi_colour_channels(image))
        return "alpha";
    return image->channels < 3 ? "gray" : colours[c];
}

static enum gi_status analyse(struct gi_context *cx, void *result, const struct gi_image *src,
                              const void *params, struct gi_err *err)
{
    const struct gi_histogram_params *p = params;
    struct gi_histogram *histogram = result;
    struct gi_image luma = {0};
    enum gi_status status = GI_OK;
    if (p->luminance) {
        status = cx->k->alloc(cx, &luma, src->width, src->height, 1, src->type, err);
        if (!status)
            status = cx->k->luma(cx, &luma, src, err);
    }
    const struct gi_image *image = p->luminance ? &luma : src;
    *histogram = (struct gi_histogram){.nchannels = p->luminance ? 1 : src->channels,
                                       .nbins = p->bins,
                                       .npercentiles = p->percentiles.n};
    for (int c = 0; c < histogram->nchannels && !status; c++) {
        struct gi_histogram_channel *channel = &histogram->channels[c];
        channel->name = p->luminance ? "luminance" : gi_channel_name(src, c);
        channel->bins = calloc((size_t)p->bins, sizeof *channel->bins);
        if (!channel->bins)
            status = gi_fail(err, GI_E_MEMORY, "out of memory: %d bins", p->bins);
    }
    if (!status)
        status = src->type == GI_F32 ? of_floats(cx, histogram, image, p, err)
                                     : of_integers(cx, histogram, image, p, err);
    if (luma.data)
        cx->k->release(cx, &luma);
    return status;
}

static void result_free(void *result)
{
    struct gi_histogram *histogram = result;
    for (int c = 0; c < histogram->nchannels; c++)
        free(histogram->channels[c].bins);
    *histogram = (struct gi_histogram){0};
}

/* The same to the bit: the same number, or both NaN. */
static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool result_equal(const void *a, const void *b)
{
    const struct gi_histogram *h = a, *g = b;
    if (h->nchannels != g->nchannels || h->nbins != g->nbins || h->npercentiles != g->npercentiles)
        return false;
    for (int c = 0; c < h->nchannels; c++) {
        const struct gi_histogram_channel *x = &h->channels[c], *y = &g->channels[c];
        if (x->total != y->total || x->nan != y->nan || !same(x->lo, y->lo) ||
            !same(x->hi, y->hi) || !same(x->mean, y->mean) || !same(x->stddev, y->stddev) ||
            !same(x->min, y->min) || !same(x->max, y->max) || !same(x->median, y->median) ||
            !same(x->entropy, y->entropy) ||
            memcmp(x->bins, y->bins, (size_t)h->nbins * sizeof *x->bins))
            return false;
        for (int i = 0; i < h->npercentiles; i++)
            if (!same(x->percentiles[i], y->percentiles[i]))
                return false;
    }
    return true;
}

static const struct gi_option options[] = {
    {.name = "bins",
     .type = GI_OPT_INT,
     .offset = offsetof(struct gi_histogram_params, bins),
     .default_text = "256",
     .min = 1,
     .max = GI_BINS_MAX,
     .help = "Number of bins, all of the same width"},
    {.name = "range",
     .type = GI_OPT_REALS,
     .offset = offsetof(struct gi_histogram_params, range),
     .metavar = "LO,HI",
     .help = "Ends of the bins in sample units, both included; when left out full scale, or for "
             "float images the smallest and largest finite sample"},
    {.name = "percentiles",
     .type = GI_OPT_REALS,
     .offset = offsetof(struct gi_histogram_params, percentiles),
     .default_text = "1,5,25,75,95,99",
     .min = 0,
     .max = 100,
     .metavar = "P[,P...]",
     .help = "Percentiles to report beside the median"},
    {.name = "luminance",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct gi_histogram_params, luminance),
     .help = "Measure the luma of ITU-R BT.709 instead of every channel"},
    {0}};

const struct gi_filter gi_filter_histogram = {
    .name = "histogram",
    .summary = "Count sample values and print statistics",
    .manual =
        "Counts how often each sample value occurs, exactly, in every channel or in the luma. Bin "
        "i "
        "of n holds lo + i * w <= v < lo + (i + 1) * w with w = (hi - lo) / n; the last one holds "
        "hi "
        "too. So 256 bins of an 8-bit image count each value, and 65536 bins those of a 16-bit "
        "image.\n\n"
        "Mean, deviation (of the population), minimum, maximum, median, percentiles and entropy "
        "are "
        "of all samples, also of those that --range leaves out of the bins. A percentile p of n "
        "samples lies at rank (n - 1) * p / 100 of the sorted samples, on a straight line between "
        "its neighbours (numpy's default). Entropy is in bits a sample: of the values of 8- and "
        "16-bit images, of the bins of float images. NaN is counted apart and left out of "
        "everything.",
    .options = options,
    .params_nbytes = sizeof(struct gi_histogram_params),
    .check = check,
    .cost = cost,
    .result_nbytes = sizeof(struct gi_histogram),
    .analyse = analyse,
    .result_free = result_free,
    .result_equal = result_equal,
};
