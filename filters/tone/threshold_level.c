/* Histograms of images of any type for automatic thresholds, and conversion of levels to sample
 * values.
 * SPDX-License-Identifier: MIT */
#include "filters/tone/threshold_level.h"

#include "filters/statistics/opaque.h"
#include "filters/tone/luma.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT_BINS = 256 }; /* as in scikit-image */

enum gi_status gi_level_check_positive(const struct gi_level *level, const char *name,
                                       struct gi_err *err)
{
    if (!(level->value > 0))
        return gi_fail(err, GI_E_USAGE, "--%s %g: want more than 0", name, level->value);
    return GI_OK;
}

double gi_level_number(const struct gi_level *level, enum gi_type type)
{
    switch (level->kind) {
    case GI_LEVEL_VALUE:
        return level->value;
    case GI_LEVEL_PERCENT:
        return level->value * (double)gi_type_full_scale(type) / 100;
    default:
        return 0;
    }
}

float gi_level_value(double level, enum gi_type type)
{
    if (type != GI_F32) /* integers are compared with an integer, limited to a range that float
                           holds exactly */
        return (float)fmin(fmax(floor(level), -1), (double)gi_type_full_scale(type));
    float below = (float)level;
    return (double)below > level ? nextafterf(below, -INFINITY) : below;
}

/* Integers are counted value by value, in one pass. Floats take three passes: the first two find
 * the smallest and the largest finite value, and the third counts in bins between these values. A
 * fourth pass finds their sum for the mean. */
static int passes_of(const struct gi_level *level, enum gi_type type)
{
    if (level->kind != GI_LEVEL_AUTO)
        return 0;
    return type != GI_F32 ? 1 : level->method == GI_THRESHOLD_MEAN ? 4 : 3;
}

/* Ends a pass. Keeps its answers, and clears the counts for the next pass. */
static void next_pass(struct gi_level_state *state)
{
    if (state->pass == 0) {
        struct gi_float_totals totals = gi_float_totals(state->counts[0]);
        gi_ranks_of_ends(state->ends, 0, &totals);
        gi_ranks_find(state->ends, 2, state->counts[0]);
    } else if (state->pass == 1) {
        gi_ranks_answer(state->ends, 2, state->counts[0]);
    }
    if (state->pass < 2)
        memset(state->counts, 0, sizeof state->counts);
    state->pass++;
}

static enum gi_status count(struct gi_queue *queue, struct gi_level_state *state,
                            const struct gi_image *gray, struct gi_err *err)
{
    float lo = state->ends[0].value, hi = state->ends[1].value;
    if (gray->type != GI_F32 || state->pass == 0)
        return gi_counts_add(queue, state->counts[0], gray, err);
    if (state->pass == 1)
        return gi_ranks_count(queue, state->counts[0], state->ends, 2, gray, err);
    if (!(lo < hi))
        return GI_OK; /* no pass is needed if no sample is finite, or all are equal */
    if (state->pass == 3)
        return queue->k->sums(queue, &state->sums, gray, &(struct gi_sums_range){&lo, &hi}, err);
    struct gi_histogram_spec spec = {
        .key = GI_KEY_RANGE, .nbins = FLOAT_BINS, .lo = (double)lo, .hi = (double)hi};
    return queue->k->histogram(queue, state->counts[0], gray, &spec, err);
}

/* Counts `band`; colours are counted by their luma, and alpha is not counted. */
static enum gi_status measure(struct gi_queue *queue, struct gi_level_state *state, int pass,
                              const struct gi_image *band, struct gi_err *err)
{
    state->type = band->type;
    while (state->pass < pass)
        next_pass(state);
    bool by_luma = gi_luma_decides(band, false);
    struct gi_image judge;
    enum gi_status status = gi_judge_make(queue, &judge, band, by_luma, err);
    if (status)
        return status;
    status = count(queue, state, &judge, err);
    gi_judge_release(queue, &judge, by_luma);
    return status;
}

void gi_level_plan(struct gi_plan *plan, const struct gi_level *level)
{
    int passes = passes_of(level, plan->sources[0].type);
    if (passes <= plan->passes)
        return;
    plan->cost.other += 8 * (passes - plan->passes);
    plan->passes = passes;
    plan->state_nbytes = sizeof(struct gi_level_state);
}

enum gi_status gi_level_measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                                const struct gi_look *look, struct gi_err *err)
{
    const struct gi_image *band = look->srcs;
    struct gi_level_state *level = state;
    struct gi_image kept;
    uint64_t left_out = 0;
    if (!plan->sources[0].mask)
        return measure(queue, level, look->pass, band, err);
    enum gi_status status = gi_keep_opaque(queue, &kept, band, err);
    if (status)
        return status;
    status = measure(queue, level, look->pass, &kept, err);
    queue->k->release(queue, &kept);
    return status || band->type == GI_F32
               ? status
               : gi_left_out(queue, &left_out, level->counts[0], 1, band, err);
}

static struct gi_bins bins_of(const struct gi_level_state *state)
{
    if (state->type != GI_F32)
        return (struct gi_bins){state->counts[0], gi_counts_n(state->type), 0, 1, 0};
    double lo = (double)state->ends[0].value, hi = (double)state->ends[1].value;
    double width = (hi - lo) / FLOAT_BINS;
    return (struct gi_bins){state->counts[0], FLOAT_BINS, lo + 0.5 * width, width, 0.5 * width};
}

/* Returns whether all finite samples are equal, and *value is that sample, or 0 if there are
 * none. */
static bool is_flat(double *value, const struct gi_level_state *state)
{
    double lo = (double)state->ends[0].value, hi = (double)state->ends[1].value;
    *value = isnan(lo) ? 0 : lo;
    return state->type == GI_F32 && !(lo < hi);
}

enum gi_status gi_level_resolve(double *value, const struct gi_level *level, enum gi_type type,
                                const struct gi_level_state *state, struct gi_err *err)
{
    *value = gi_level_number(level, type);
    if (level->kind != GI_LEVEL_AUTO || is_flat(value, state))
        return GI_OK;
    struct gi_bins bins = bins_of(state);
    double deviation;
    if (type == GI_F32 && level->method == GI_THRESHOLD_MEAN)
        gi_sums_stats(value, &deviation, &state->sums, type, state->ends[0].value,
                      state->ends[1].value);
    else
        *value = gi_auto_threshold((enum gi_threshold_method)level->method, &bins);
    return !isnan(*value) ? GI_OK
                          : gi_fail(err, GI_E_UNSUPPORTED,
                                    "the method %s finds no threshold: want a histogram that has "
                                    "two peaks when it is smoothed",
                                    gi_threshold_methods[level->method].name);
}

void gi_level_multi_otsu(double *levels, int classes, const struct gi_level_state *state)
{
    struct gi_bins bins = bins_of(state);
    double value;
    if (!is_flat(&value, state)) {
        gi_multi_otsu(levels, classes, &bins);
        return;
    }
    for (int i = 0; i < classes - 1; i++)
        levels[i] = value;
}

enum gi_status gi_level_find(struct gi_queue *queue, double *value, const struct gi_level *level,
                             float *lo, float *hi, const struct gi_image *src, struct gi_err *err)
{
    struct gi_level_state *state = gi_small_calloc(1, sizeof *state);
    enum gi_status status = GI_OK;
    int passes = level ? passes_of(level, src->type) : 0, least = src->type == GI_F32 ? 2 : 0;
    for (int pass = 0; pass < (passes > least ? passes : least) && !status; pass++)
        status = measure(queue, state, pass, src, err);
    *lo = *hi = 0;
    if (!status && src->type == GI_F32) {
        while (state->pass < 2)
            next_pass(state);
        *lo = isnan(state->ends[0].value) ? 0 : state->ends[0].value;
        *hi = isnan(state->ends[1].value) ? 0 : state->ends[1].value;
    }
    if (!status && level)
        status = gi_level_resolve(value, level, src->type, state, err);
    free(state);
    return status;
}

enum gi_status gi_level_above(struct gi_queue *queue, float *above, const struct gi_level *level,
                              const struct gi_image *src, struct gi_err *err)
{
    double value = gi_level_number(level, src->type);
    float lo, hi;
    enum gi_status status = GI_OK;
    if (level->kind == GI_LEVEL_AUTO)
        status = gi_level_find(queue, &value, level, &lo, &hi, src, err);
    *above = gi_level_value(value, src->type);
    return status;
}
