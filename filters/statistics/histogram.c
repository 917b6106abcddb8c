/* Histogram: counts at full resolution on the backend, from which the host computes all statistics.
 * Float images have too many values for that. They take three passes over the image, whole or in
 * bands. Order statistics follow from two-step radix counts, mean and deviation from quantised
 * sums.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/histogram.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/statistics/opaque.h"
#include "filters/statistics/order.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

/* Order statistics of a channel: minimum and maximum of all samples, minimum and maximum of the
 * finite samples, and two neighbouring ranks each for the median and every percentile. */
enum { ENDS, FINITE_ENDS = 2, ANSWERS = 4, RANKS_MAX = ANSWERS + 2 * (1 + GI_REALS_MAX) };

/* The measurements. For integer samples these are only counts, 256 or 65536 per channel. */
struct histogram_state {
    /* For GI_F32: */
    int pass;                                          /* the last pass that was begun */
    struct gi_float_totals totals[GI_MAX_CHANNELS];    /* from pass 1 on */
    struct gi_rank ranks[GI_MAX_CHANNELS * RANKS_MAX]; /* answered from pass 2 on */
    float least[GI_MAX_CHANNELS],
        most[GI_MAX_CHANNELS]; /* range of finite samples, from pass 2 on; 0 if there are none */
    double smallest, largest;  /* of the finite samples of all channels, or NAN; from pass 2 on */
    double lo, hi;             /* range of the bins; from pass 2 on */
    uint64_t left_out;         /* number of pixels that are left out; from pass 1 on */
    struct gi_sums sums[GI_MAX_CHANNELS];
    uint64_t counts[]; /* counts of pass 0 for each channel, then counts of pass 1 for each rank,
                          then the bins */
};

static int channels_of(const struct gi_image *src, const struct gi_histogram_params *p)
{
    return p->luminance ? 1 : src->channels;
}

/* Returns how many of them are in the result. */
static int shown_of(const struct gi_image *src, const struct gi_histogram_params *p)
{
    return p->luminance ? 1 : gi_shown_channels(src);
}

static int ranks_a_channel(const struct gi_histogram_params *p)
{
    return ANSWERS + 2 * (1 + p->percentiles.n);
}

static size_t state_nbytes(const struct gi_image *src, const struct gi_histogram_params *p)
{
    size_t tables = (size_t)gi_counts_n(src->type), bins = 0;
    if (src->type == GI_F32) {
        tables += (size_t)ranks_a_channel(p) * GI_KEY_HALF;
        bins = (size_t)p->bins;
    }
    return sizeof(struct histogram_state) +
           (size_t)channels_of(src, p) * (tables + bins) * sizeof(uint64_t);
}

static enum gi_status check_range(const struct gi_reals *range, struct gi_err *err)
{
    const double *v = range->v;
    const char *want = range->n != 2           ? "want two numbers LO,HI"
                       : !(v[0] < v[1])        ? "want LO below HI"
                       : v[1] - v[0] > DBL_MAX ? "want ends less than 1.7e308 apart"
                                               : NULL;
    if (range->n == 0 || !want)
        return GI_OK;
    char given[GI_REALS_MAX * 24] = "";
    for (int i = 0; i < range->n; i++) {
        size_t used = strlen(given);
        snprintf(given + used, sizeof given - used, "%s%.15g", i ? "," : "", v[i]);
    }
    return gi_fail(err, GI_E_USAGE, "--range %s: %s", given, want);
}

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_histogram_params *p = params;
    return check_range(&p->range, err);
}

/* Costs are measured on two threads: 0.3 ns per integer sample, and 14 ns per float, because floats
 * are read about twenty times for the median and percentiles. A nanosecond is 46 multiply-adds. */
static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    const struct gi_histogram_params *p = plan->params;
    if (gi_only_opaque(src, p->opaque) && (uint64_t)src->width * (uint64_t)src->height > UINT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%d x %d: want fewer than 2^32 pixels, if some are left out", src->width,
                       src->height);
    plan->passes = src->type == GI_F32 ? 3 : 1;
    plan->state_nbytes = state_nbytes(src, plan->params);
    plan->cost.other = src->type == GI_F32 ? 640 : 14;
    return GI_OK;
}

static double edge(const struct gi_histogram_channel *channel, int nbins, int i)
{
    return i == nbins ? channel->hi : channel->lo + i * ((channel->hi - channel->lo) / nbins);
}

/* Returns the entropy of the distribution `counts` in bits, which is the sum of -p * log2(p). */
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

/* Returns percentile i of a list in which the median is number 0. */
static double percent_at(const struct gi_histogram_params *p, int i)
{
    return i == 0 ? 50 : p->percentiles.v[i - 1];
}

static double *answer_at(struct gi_histogram_channel *channel, int i)
{
    return i == 0 ? &channel->median : &channel->percentiles[i - 1];
}

/* Fills in everything for a channel of integers from its full counts. */
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
    for (int v = min; min >= 0 && v <= max; v++)
        squares += (double)counts[v] * (v - channel->mean) * (v - channel->mean);
    channel->stddev = sqrt(squares / n);
    channel->min = min < 0 ? NAN : min; /* no sample is counted */
    channel->max = min < 0 ? NAN : max;
    channel->entropy = entropy(counts, nvalues);
    for (int i = 0; i <= p->percentiles.n; i++)
        *answer_at(channel, i) = gi_counts_percentile(counts, channel->total, percent_at(p, i));
}

/* Returns the upper end of the bins, of nvalues possible values. */
static double end_of_bins(const struct histogram_state *state, int nchannels, int nvalues,
                          const struct gi_histogram_params *p)
{
    int last = p->fit ? 255 : nvalues - 1;
    if (p->range.n)
        return p->range.v[1];
    for (int c = 0; c < nchannels; c++) {
        int most = nvalues - 1;
        while (most > last && !state->counts[(size_t)c * (size_t)nvalues + (size_t)most])
            most--;
        while (last < most)
            last = 2 * last + 1;
    }
    return last;
}

static void from_integers(struct gi_histogram *result, enum gi_type type,
                          const struct histogram_state *state, const struct gi_histogram_params *p)
{
    int nvalues = gi_counts_n(type);
    for (int c = 0; c < result->nchannels; c++) {
        struct gi_histogram_channel *channel = &result->channels[c];
        channel->lo = p->range.n ? p->range.v[0] : 0;
        channel->hi = end_of_bins(state, result->nchannels, nvalues, p);
        from_counts(channel, state->counts + (size_t)c * (size_t)nvalues, nvalues, p);
    }
}

static uint64_t *low_counts(struct histogram_state *state, int nchannels)
{
    return state->counts + (size_t)nchannels * GI_KEY_HALF;
}

/* Returns the index in `counts` at which the bins begin. */
static size_t bins_at(int nchannels, const struct gi_histogram_params *p)
{
    return (size_t)nchannels * (size_t)(1 + ranks_a_channel(p)) * GI_KEY_HALF;
}

/* Asks for the minimum, maximum, median and percentiles of every channel. */
static void ask_ranks(struct histogram_state *state, int nchannels,
                      const struct gi_histogram_params *p)
{
    int each = ranks_a_channel(p);
    for (int c = 0; c < nchannels; c++) {
        struct gi_rank *ranks = &state->ranks[c * each];
        state->totals[c] = gi_float_totals(state->counts + (size_t)c * GI_KEY_HALF);
        uint64_t total = state->totals[c].n;
        ranks[ENDS] = (struct gi_rank){.channel = c, .rank = 0};
        ranks[ENDS + 1] = (struct gi_rank){.channel = c, .rank = total - 1};
        gi_ranks_of_ends(&ranks[FINITE_ENDS], c, &state->totals[c]);
        for (int i = 0; i <= p->percentiles.n; i++)
            gi_ranks_of_percentile(&ranks[ANSWERS + 2 * i], c, percent_at(p, i), total, 0);
    }
    gi_ranks_find(state->ranks, nchannels * each, state->counts);
}

void gi_histogram_widen(double *lo, double *hi)
{
    if (isnan(*lo)) {
        *lo = 0;
        *hi = 1;
    } else if (*lo == *hi) {
        *lo -= 0.5;
        *hi += 0.5;
    }
}

/* Sets the range of the bins to the requested range, or to the range of the finite samples of the
 * first `shown` channels. */
static void find_range(struct histogram_state *state, int nchannels, int shown,
                       const struct gi_histogram_params *p)
{
    int each = ranks_a_channel(p);
    double lo = NAN, hi = NAN;
    for (int c = 0; c < nchannels; c++) {
        const struct gi_rank *ends = &state->ranks[c * each + FINITE_ENDS];
        state->least[c] = state->most[c] = 0;
        if (isnan(ends[0].value))
            continue;
        state->least[c] = ends[0].value;
        state->most[c] = ends[1].value;
        if (c >= shown)
            continue;
        lo = fmin(lo, (double)ends[0].value);
        hi = fmax(hi, (double)ends[1].value);
    }
    state->smallest = lo;
    state->largest = hi;
    gi_histogram_widen(&lo, &hi);
    state->lo = p->range.n ? p->range.v[0] : lo;
    state->hi = p->range.n ? p->range.v[1] : hi;
}

static enum gi_status measure_floats(struct gi_queue *queue, struct histogram_state *state,
                                     int pass, const struct gi_image *band, int shown,
                                     const struct gi_histogram_params *p, struct gi_err *err)
{
    int n = band->channels, nranks = n * ranks_a_channel(p);
    for (; state->pass < pass; state->pass++) {
        if (state->pass == 0) {
            ask_ranks(state, n, p);
        } else {
            gi_ranks_answer(state->ranks, nranks, low_counts(state, n));
            find_range(state, n, shown, p);
        }
    }
    if (pass == 1)
        return gi_ranks_count(queue, low_counts(state, n), state->ranks, nranks, band, err);
    if (pass == 0)
        return gi_counts_add(queue, state->counts, band, err);
    struct gi_histogram_spec spec = {
        .key = GI_KEY_RANGE, .nbins = p->bins, .lo = state->lo, .hi = state->hi};
    struct gi_sums_range range = {state->least, state->most};
    enum gi_status status = queue->k->sums(queue, state->sums, band, &range, err);
    return status ? status
                  : queue->k->histogram(queue, state->counts + bins_at(n, p), band, &spec, err);
}

static enum gi_status count(const struct gi_plan *plan, struct gi_queue *queue, void *arg, int pass,
                            const struct gi_image *band, struct gi_err *err)
{
    const struct gi_histogram_params *p = plan->params;
    struct histogram_state *state = arg;
    int shown = shown_of(&plan->sources[0], p);
    return band->type == GI_F32 ? measure_floats(queue, state, pass, band, shown, p, err)
                                : gi_counts_add(queue, state->counts, band, err);
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *arg,
                              const struct gi_look *look, struct gi_err *err)
{
    const struct gi_histogram_params *p = plan->params;
    struct histogram_state *state = arg;
    const struct gi_image *src = &plan->sources[0];
    const struct gi_opaque_counting how = {.opaque = gi_only_opaque(src, p->opaque),
                                           .by_luma = p->luminance,
                                           .count = count,
                                           .counts = src->type == GI_F32 ? NULL : state->counts,
                                           .left_out = &state->left_out};
    return gi_count_opaque(plan, queue, state, look, &how, err);
}

/* Fills in one channel of floats. The backend counts an infinite sample as the finite minimum or
 * maximum that is nearest to it. If there are infinite samples, mean and deviation follow from how
 * many there are. */
static void from_float_state(struct gi_histogram_channel *channel,
                             const struct histogram_state *state, int c,
                             const struct gi_histogram_params *p)
{
    const struct gi_rank *ranks = &state->ranks[c * ranks_a_channel(p)];
    const struct gi_float_totals *totals = &state->totals[c];
    channel->lo = state->lo;
    channel->hi = state->hi;
    channel->total = totals->n;
    channel->min = (double)ranks[ENDS].value;
    channel->max = (double)ranks[ENDS + 1].value;
    for (int i = 0; i <= p->percentiles.n; i++)
        *answer_at(channel, i) =
            gi_ranks_percentile(&ranks[ANSWERS + 2 * i], percent_at(p, i), totals->n);
    gi_sums_stats(&channel->mean, &channel->stddev, &state->sums[c], GI_F32, state->least[c],
                  state->most[c]);
    if (totals->minus_infinite || totals->plus_infinite) {
        channel->mean =
            (totals->plus_infinite ? INFINITY : 0) - (totals->minus_infinite ? INFINITY : 0);
        channel->stddev = NAN;
    }
    channel->entropy = entropy(channel->bins, p->bins);
}

static void from_floats(struct gi_histogram *result, const struct gi_image *src,
                        const struct histogram_state *state, const struct gi_histogram_params *p)
{
    size_t nbins = (size_t)p->bins;
    result->least = state->smallest;
    result->most = state->largest;
    for (int c = 0; c < result->nchannels; c++) {
        struct gi_histogram_channel *channel = &result->channels[c];
        memcpy(channel->bins, state->counts + bins_at(channels_of(src, p), p) + (size_t)c * nbins,
               nbins * sizeof *channel->bins);
        from_float_state(channel, state, c, p);
        channel->nan =
            (uint64_t)src->width * (uint64_t)src->height - channel->total - state->left_out;
    }
}

const char *gi_channel_name(const struct gi_image *image, int c)
{
    static const char *const colors[] = {"red", "green", "blue"};
    if (c == gi_color_channels(image))
        return "alpha";
    return image->channels < 3 ? "gray" : colors[c];
}

static enum gi_status conclude(const struct gi_plan *plan, void *result, const void *state,
                               struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    const struct gi_histogram_params *p = plan->params;
    struct gi_histogram *histogram = result;
    int nchannels = shown_of(src, p);
    *histogram = (struct gi_histogram){
        .nbins = p->bins,
        .npercentiles = p->percentiles.n,
        .channels = gi_small_calloc((size_t)nchannels, sizeof *histogram->channels),
        .least = NAN,
        .most = NAN};
    histogram->nchannels = nchannels;
    for (int c = 0; c < histogram->nchannels; c++) {
        struct gi_histogram_channel *channel = &histogram->channels[c];
        snprintf(channel->name, sizeof channel->name, "%s",
                 p->luminance ? "luminance" : gi_channel_name(src, c));
        channel->bins = gi_small_calloc((size_t)p->bins, sizeof *channel->bins);
    }
    if (src->type == GI_F32)
        from_floats(histogram, src, state, p);
    else
        from_integers(histogram, src->type, state, p);
    return GI_OK;
}

static void result_free(void *result)
{
    struct gi_histogram *histogram = result;
    for (int c = 0; c < histogram->nchannels; c++)
        free(histogram->channels[c].bins);
    free(histogram->channels);
    *histogram = (struct gi_histogram){0};
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_histogram *histogram = result;
    for (int c = 0; c < histogram->nchannels; c++) {
        const struct gi_histogram_channel *x = &histogram->channels[c];
        const double reals[] = {x->lo,  x->hi,  x->mean,   x->stddev,
                                x->min, x->max, x->median, x->entropy};
        gi_digest_integer(digest, (int64_t)x->total);
        gi_digest_integer(digest, (int64_t)x->nan);
        gi_digest_reals(digest, reals, 8);
        gi_digest_reals(digest, x->percentiles, histogram->npercentiles);
        for (int i = 0; i < histogram->nbins; i++)
            gi_digest_integer(digest, (int64_t)x->bins[i]);
    }
}

static const struct gi_option options[] = {
    {GI_OPTION("bins", INT, struct gi_histogram_params, bins), .default_text = "256", .min = 1,
     .max = GI_BINS_MAX, .help = "Number of bins"},
    {GI_OPTION("range", REALS, struct gi_histogram_params, range), .least = 2, .most = 2,
     .metavar = "LO,HI",
     .help =
         "Lower end of the first bin and upper end of the last, as sample values, both "
         "included. By default these are 0 and full scale, or for float images the smallest "
         "and the largest finite sample. For a single image of 16 bits the "
         "end is the full scale of the bits that its samples need: 4095 if they have 12 bits. With "
         "--table and other options for many images it is 65535 for all, so that their bins "
         "compare"},
    {GI_OPTION("percentiles", REALS, struct gi_histogram_params, percentiles),
     .default_text = "1,5,25,75,95,99", .min = 0, .max = 100, .metavar = "P[,P...]",
     .help = "Percentiles to print besides the median"},
    {GI_OPTION("luminance", FLAG, struct gi_histogram_params, luminance),
     .help = "Use the luma (ITU-R BT.709) in place of the channels"},
    {GI_OPTION("opaque", FLAG, struct gi_histogram_params, opaque),
     .help = "Ignore fully transparent pixels"},
    {0}};

const struct gi_filter gi_filter_histogram = {
    .name = "histogram",
    .group = GI_GROUP_MEASUREMENT,
    .summary = "Histogram and statistics of each channel",
    .manual = "Counts how often the sample values of each channel, or of the luma, occur. The "
              "range from lo to hi (--range) is divided into n bins (--bins) of the width w = "
              "(hi - lo) / n, and bin i counts the samples with lo + i * w <= v < lo + (i + 1) * "
              "w; the last bin counts hi too. With the default range, 256 bins count each value "
              "of an 8-bit image, and 65536 bins count each value of a 16-bit image.\n\n"
              "Mean, standard deviation (of the population), minimum, maximum, median, "
              "percentiles and entropy are printed too. They are computed from all samples, "
              "including those outside --range. Entropy is in bits per sample; in float images "
              "it is computed from the bins. NaN is counted separately, and left out of all "
              "other numbers.\n\n"
              "Counts are exact. The percentile p of n sorted samples is the sample at index (n "
              "- 1) * p / 100, counted from 0, with linear interpolation (numpy's default).",
    .options = options,
    .params_nbytes = sizeof(struct gi_histogram_params),
    .check = check,
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_histogram),
    .measure = measure,
    .analysis.conclude = conclude,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
    .analysis.leaves_out_masked = true,
};
