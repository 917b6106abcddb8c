/* Otsu's threshold (N. Otsu, 1979) for images of any type, and conversion of levels to sample
 * values.
 * SPDX-License-Identifier: MIT */
#include "filters/tone/otsu.h"

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

double gi_level_number(const struct gi_level *level, enum gi_type type, double otsu)
{
    switch (level->kind) {
    case GI_LEVEL_VALUE:
        return level->value;
    case GI_LEVEL_PERCENT:
        return level->value * (double)gi_type_full_scale(type) / 100;
    case GI_LEVEL_OTSU:
        return otsu;
    default:
        return 0;
    }
}

float gi_level_value(const struct gi_level *level, enum gi_type type, double otsu)
{
    double value = gi_level_number(level, type, otsu);
    if (type != GI_F32) /* integers are compared with an integer, limited to a range that float
                           holds exactly */
        return (float)fmin(fmax(floor(value), -1), (double)gi_type_full_scale(type));
    float below = (float)value;
    return (double)below > value ? nextafterf(below, -INFINITY) : below;
}

int gi_otsu(const uint64_t *counts, int nbins)
{
    double all_n = 0, all_sum = 0;
    for (int i = 0; i < nbins; i++) {
        all_n += (double)counts[i];
        all_sum += (double)counts[i] * i;
    }
    int best = 0;
    double best_variance = -1, low_n = 0, low_sum = 0;
    for (int i = 0; i < nbins; i++) {
        low_n += (double)counts[i];
        low_sum += (double)counts[i] * i;
        double high_n = all_n - low_n;
        if (counts[i] ==
            0) /* an empty bin has the split of the previous bin, except for rounding */
            continue;
        if (high_n == 0) /* i is the last bin with counts: the answer if no other has any */
            return best_variance < 0 ? i : best;
        double gap = low_sum / low_n - (all_sum - low_sum) / high_n;
        double variance = low_n * high_n * gap * gap;
        if (variance > best_variance) {
            best_variance = variance;
            best = i;
        }
    }
    return best;
}

/* Integers are counted value by value, in one pass. Floats take three passes: the first two find
 * the smallest and the largest finite value, and the third counts in bins between these values. */
static int passes_of(enum gi_type type)
{
    return type == GI_F32 ? 3 : 1;
}

/* Ends a pass. Keeps its answers, and clears the counts for the next pass. */
static void next_pass(struct gi_level_state *state)
{
    if (state->pass == 0) {
        struct gi_float_totals totals = gi_float_totals(state->counts[0]);
        gi_ranks_of_ends(state->ends, 0, &totals);
        gi_ranks_find(state->ends, 2, state->counts[0]);
    } else {
        gi_ranks_answer(state->ends, 2, state->counts[0]);
    }
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

void gi_otsu_plan(struct gi_plan *plan)
{
    plan->passes = passes_of(plan->sources[0].type);
    plan->state_nbytes = sizeof(struct gi_level_state);
    plan->cost.other += 8 * plan->passes;
}

enum gi_status gi_otsu_measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
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

double gi_level_otsu(const struct gi_level_state *state)
{
    if (state->type != GI_F32)
        return gi_otsu(state->counts[0], gi_counts_n(state->type));
    double lo = (double)state->ends[0].value, hi = (double)state->ends[1].value;
    if (!(lo < hi)) /* one value, or none */
        return isnan(lo) ? 0 : lo;
    return lo + (gi_otsu(state->counts[0], FLOAT_BINS) + 0.5) * ((hi - lo) / FLOAT_BINS);
}

enum gi_status gi_level_find(struct gi_queue *queue, double *otsu, float *lo, float *hi,
                             const struct gi_image *src, struct gi_err *err)
{
    struct gi_level_state *state = gi_small_calloc(1, sizeof *state);
    enum gi_status status = GI_OK;
    int passes = otsu ? passes_of(src->type) : src->type == GI_F32 ? 2 : 0;
    for (int pass = 0; pass < passes && !status; pass++)
        status = measure(queue, state, pass, src, err);
    *lo = *hi = 0;
    if (!status && src->type == GI_F32) {
        while (state->pass < 2)
            next_pass(state);
        *lo = isnan(state->ends[0].value) ? 0 : state->ends[0].value;
        *hi = isnan(state->ends[1].value) ? 0 : state->ends[1].value;
    }
    if (!status && otsu)
        *otsu = gi_level_otsu(state);
    free(state);
    return status;
}
