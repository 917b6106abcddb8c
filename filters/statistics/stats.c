/* Statistics. The backend computes exact sums, minimum and maximum. Order statistics follow from
 * counts, which take two passes for floats, as in the histogram.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/stats_channel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/regions/labels.h"
#include "filters/statistics/histogram.h"
#include "filters/statistics/opaque.h"
#include "filters/statistics/order.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

enum {
    RANKS_MAX = 2 * (1 + GI_REALS_MAX)
}; /* two neighbouring ranks for the median and each percentile */

struct stats_state {
    int pass, rows; /* `pass` is the last pass that has begun; `rows` is how many rows pass 0 has
                       measured */
    struct gi_reduction found[GI_MAX_CHANNELS];
    struct gi_rank ranks[GI_MAX_CHANNELS * RANKS_MAX]; /* GI_F32, from pass 1 on */
    uint64_t counts[]; /* counts of pass 0 for each channel, then counts of pass 1 for each rank */
};

static int ranks_a_channel(const struct gi_stats_params *p)
{
    return 2 * (1 + p->percentiles.n);
}

static enum gi_status plan_zones(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0], *labels = &plan->sources[1];
    const struct gi_stats_params *p = plan->params;
    struct gi_zones zones = {.n = 0};
    plan->on_host = true;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->cost.other = src->type == GI_F32 ? 4000 : 1000;
    enum gi_status status = p->by ? gi_zones_read(&zones, p->by, src->width, src->height, err)
                                  : gi_labels_fit(labels, src, err);
    if (status && !p->by)
        gi_err_prefix(err, "--labels");
    /* The memory of the list of pixels and of the statistics. The number of labels is not known
     * yet. */
    size_t channels = (size_t)src->channels * sizeof(struct gi_stats_channel);
    plan->scratch_nbytes = (size_t)src->width * (size_t)src->height * sizeof(uint32_t) +
                           (size_t)zones.n * (sizeof(struct gi_stats_zone) + channels);
    return status;
}

/* Costs are measured on two threads: 1.1 ns per sample of 8 bits, 2.8 ns per sample of 16 bits, and
 * 10.6 ns per float, which is 0.76 of the time that the histogram of floats takes. A nanosecond is
 * 46 multiply-adds. */
static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    const struct gi_stats_params *p = plan->params;
    if ((uint64_t)src->width * (uint64_t)src->height > UINT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d: want fewer than 2^32 pixels", src->width,
                       src->height);
    if (p->by || p->labels)
        return plan_zones(plan, err);
    size_t tables = (size_t)gi_counts_n(src->type);
    if (src->type == GI_F32)
        tables += (size_t)ranks_a_channel(p) * GI_KEY_HALF;
    plan->passes = src->type == GI_F32 ? 2 : 1;
    plan->state_nbytes =
        sizeof(struct stats_state) + (size_t)src->channels * tables * sizeof(uint64_t);
    plan->cost.other = src->type == GI_F32 ? 490 : src->type == GI_U16 ? 130 : 50;
    return GI_OK;
}

/* ---- measuring ---- */

/* Requests the median and the percentiles of the finite samples. */
static void ask_ranks(struct stats_state *state, int nchannels, const struct gi_stats_params *p)
{
    int each = ranks_a_channel(p);
    for (int c = 0; c < nchannels; c++)
        for (int i = 0; i <= p->percentiles.n; i++) {
            const struct gi_reduction *found = &state->found[c];
            gi_ranks_of_percentile(&state->ranks[c * each + 2 * i], c, gi_stats_percent(p, i),
                                   found->n, found->below);
        }
    gi_ranks_find(state->ranks, nchannels * each, state->counts);
}

static enum gi_status measure_counts(struct gi_queue *queue, struct stats_state *state, int pass,
                                     const struct gi_image *band, const struct gi_stats_params *p,
                                     struct gi_err *err)
{
    int nranks = band->channels * ranks_a_channel(p);
    uint64_t *low = state->counts + (size_t)band->channels * GI_KEY_HALF;
    return pass ? gi_ranks_count(queue, low, state->ranks, nranks, band, err)
                : gi_counts_add(queue, state->counts, band, err);
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *arg,
                              const struct gi_look *look, struct gi_err *err)
{
    const struct gi_image *band = look->srcs;
    struct stats_state *state = arg;
    const struct gi_stats_params *p = plan->params;
    bool opaque = gi_only_opaque(&plan->sources[0], p->opaque);
    struct gi_image kept = *band;
    enum gi_status status = GI_OK;
    if (state->pass < look->pass) {
        state->pass = look->pass;
        ask_ranks(state, band->channels, p);
    }
    if (look->pass == 0) {
        struct gi_reduce spec = {.opaque = opaque, .y = state->rows};
        status = queue->k->reduce(queue, state->found, band, &spec, err);
        state->rows += band->height;
    }
    if (!status && opaque)
        status = gi_keep_opaque(queue, &kept, band, err);
    if (status)
        return status;
    status = measure_counts(queue, state, look->pass, &kept, p, err);
    if (opaque)
        queue->k->release(queue, &kept);
    return status;
}

/* ---- results ---- */

static void from_counts(struct gi_stats_channel *channel, const uint64_t *counts, int nvalues,
                        const struct gi_stats_params *p)
{
    double n = (double)channel->count, entropy = 0;
    for (int v = 0; v < nvalues; v++)
        if (counts[v]) {
            channel->unique++;
            entropy -= (double)counts[v] / n * log2((double)counts[v] / n);
        }
    channel->entropy = entropy + 0.0;
    for (int i = 0; i <= p->percentiles.n; i++)
        *gi_stats_answer(channel, i) =
            gi_counts_percentile(counts, channel->count, gi_stats_percent(p, i));
}

static void from_ranks(struct gi_stats_channel *channel, const struct gi_rank *ranks,
                       const struct gi_stats_params *p)
{
    for (int i = 0; i <= p->percentiles.n; i++) /* -0 becomes 0 */
        *gi_stats_answer(channel, i) =
            gi_ranks_percentile(&ranks[2 * i], gi_stats_percent(p, i), channel->count) + 0.0;
}

/* Completes a channel of integers. The samples that gi_keep_opaque() set to 0 are removed from the
 * counts. */
static void conclude_integers(struct gi_stats_channel *channel, const struct gi_reduction *found,
                              const struct gi_image *src, const uint64_t *counts,
                              const struct gi_stats_params *p)
{
    int nvalues = gi_counts_n(src->type);
    /* too large for small stacks */
    uint64_t *own = gi_small_alloc((size_t)nvalues * sizeof *own);
    memcpy(own, counts, (size_t)nvalues * sizeof *own);
    own[0] -= (uint64_t)src->width * (uint64_t)src->height - found->n;
    if (found->n)
        from_counts(channel, own, nvalues, p);
    free(own);
}

static enum gi_status conclude(const struct gi_plan *plan, void *result, const void *arg,
                               struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    const struct gi_stats_params *p = plan->params;
    const struct stats_state *state = arg;
    struct gi_stats *stats = result;
    struct gi_rank ranks[GI_MAX_CHANNELS * RANKS_MAX];
    int each = ranks_a_channel(p);
    memcpy(ranks, state->ranks, sizeof ranks);
    if (src->type == GI_F32)
        gi_ranks_answer(ranks, src->channels * each,
                        state->counts + (size_t)src->channels * GI_KEY_HALF);
    *stats = (struct gi_stats){
        .nchannels = gi_shown_channels(src), .npercentiles = p->percentiles.n, .type = src->type};
    for (int c = 0; c < stats->nchannels; c++) {
        const struct gi_reduction *found = &state->found[c];
        struct gi_stats_channel *channel = &stats->channels[c];
        stats->sums[c] = *found;
        gi_stats_from_sums(channel, found, src, c, p);
        if (src->type != GI_F32)
            conclude_integers(channel, found, src,
                              state->counts + (size_t)c * (size_t)gi_counts_n(src->type), p);
        else if (found->n)
            from_ranks(channel, &ranks[c * each], p);
    }
    return GI_OK;
}

/* Computes statistics of parts of the image, without primitives, because each part has few
 * samples. */
static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    struct gi_image src = srcs[0];
    src.mask = plan->sources[0].mask;
    return gi_zones_measure(result, &src, &srcs[1], plan->params, err);
}

static void result_free(void *result)
{
    struct gi_stats *stats = result;
    free(stats->zones);
    free(stats->of_zones);
    free(stats->of_bands);
    free(stats->sums_of_bands);
}

static enum gi_status check(void *arg, struct gi_err *err)
{
    const struct gi_stats_params *p = arg;
    struct gi_zones zones;
    if (p->by && p->labels)
        return gi_fail(err, GI_E_USAGE, "--group-by and --labels: want one of them");
    if (p->total && (p->by || p->labels))
        return gi_fail(err, GI_E_USAGE, "--total: want no --%s with it",
                       p->by ? "group-by" : "labels");
    return p->by ? gi_zones_read(&zones, p->by, 1, 1, err) : GI_OK;
}

static enum gi_status admit(const void *params, int j, struct gi_image *labels, struct gi_err *err)
{
    uint32_t largest;
    return gi_labels_check(&largest, labels, err);
}

static void digest_channel(struct gi_digest *digest, const struct gi_stats_channel *channel,
                           int npercentiles)
{
    const struct gi_stats_channel *c = channel;
    const uint64_t counts[] = {c->count, c->nan, c->positive_infinity, c->negative_infinity,
                               c->unique};
    const int places[] = {c->min_x, c->min_y, c->max_x, c->max_y};
    const double reals[] = {c->sum,   c->mean, c->variance, c->stddev, c->min,    c->max,
                            c->range, c->l1,   c->l2,       c->rms,    c->median, c->entropy};
    for (int i = 0; i < 5; i++)
        gi_digest_integer(digest, (int64_t)counts[i]);
    for (int i = 0; i < 4; i++)
        gi_digest_integer(digest, places[i]);
    gi_digest_reals(digest, reals, 12);
    gi_digest_reals(digest, c->percentiles, npercentiles);
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_stats *stats = result;
    for (int c = 0; c < stats->nchannels && !stats->by; c++)
        digest_channel(digest, &stats->channels[c], stats->npercentiles);
    for (int i = 0; i < stats->nzones; i++) {
        const struct gi_stats_zone *zone = &stats->zones[i];
        const int64_t members[] = {zone->label, zone->x, zone->y, zone->width, zone->height};
        for (int j = 0; j < 5; j++)
            gi_digest_integer(digest, members[j]);
    }
    for (int i = 0; i < stats->nzones * stats->nchannels; i++)
        digest_channel(digest, &stats->of_zones[i], stats->npercentiles);
}

static const struct gi_option options[] = {
    {GI_OPTION("percentiles", REALS, struct gi_stats_params, percentiles),
     .default_text = "1,5,25,75,95,99", .min = 0, .max = 100, .metavar = "P[,P...]",
     .help = "Percentiles to print besides the median"},
    {GI_OPTION("opaque", FLAG, struct gi_stats_params, opaque),
     .help = "Ignore fully transparent pixels"},
    {GI_OPTION("total", FLAG, struct gi_stats_params, total),
     .help = "With --table: add a row per channel for all images together, named total. Positions, "
             "entropy, median and percentiles are missing in it"},
    {GI_OPTION("group-by", TEXT, struct gi_stats_params, by), .also = "by",
     .metavar = "row|column|WxH",
     .help = "Print statistics of each row, each column or each tile of W x H pixels (W and H "
             "may be percentages of the image)"},
    {GI_OPTION("labels", IMAGE, struct gi_stats_params, labels), .labels = true, .metavar = "IMAGE",
     .help = "Print statistics of the pixels of each label in this label image, which gpuimg "
             "extract --labels writes; label 0 is left out"},
    {0},
};

const struct gi_filter gi_filter_stats = {
    .name = "stats",
    .group = GI_GROUP_MEASUREMENT,
    .summary = "Exact statistics of each channel: mean, stddev, percentiles",
    .manual = "Prints for each channel: number of samples, sum, mean, variance, standard "
              "deviation, minimum, maximum, range, L1 (sum of |v|), L2 (root of the sum of v * "
              "v), root mean square, median, percentiles, entropy in bits per sample, and number "
              "of distinct values. Variance and standard deviation are those of the population "
              "(divided by n, the default of numpy). For the minimum and the maximum the "
              "position of the first occurrence is printed too: column and row, counted from 0. "
              "Float images have no entropy and no number of distinct values.\n\n"
              "--group-by prints these statistics for each row, each column or each tile of the "
              "image; tiles at the right and at the bottom may be smaller. --labels prints them "
              "for the pixels of each label (zonal statistics). There may be at most 262144 "
              "rows, columns, tiles or labels. Positions always count from the upper left of the "
              "whole image.\n\n"
              "In float images NaN and infinite samples are counted, but left out of all other "
              "numbers; -0 is 0. The percentile p of n sorted samples is the sample at index (n "
              "- 1) * p / 100, counted from 0, with linear interpolation (numpy's default).\n\n"
              "Sums of samples and of their squares are exact integers; for float images these "
              "integers have 640 bits (after R. Neal, \"Fast exact summation using small and "
              "large superaccumulators\", arXiv:1505.05571, 2015). Sum, mean and variance are "
              "rounded once, to the nearest double.",
    .options = options,
    .params_nbytes = sizeof(struct gi_stats_params),
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_stats),
    .check = check,
    .sources.admit = admit,
    .measure = measure,
    .analysis.conclude = conclude,
    .analysis.run = analyse,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
    .analysis.leaves_out_masked = true,
};
