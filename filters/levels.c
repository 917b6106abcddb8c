/* Otsu's threshold of an image of any type, and levels as sample values.
 * SPDX-License-Identifier: MIT */
#include "filters/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* scikit-image's count of bins for floats. */
enum { FLOAT_BINS = 256, NKEYS = 65536 };

/* The upper halves of gi_float_key() that finite floats have: -inf (0x007fffff) and the NaNs beyond
 * it lie below, +inf (0xff800000) and its NaNs above. */
enum { FINITE_FIRST = 0x0080, FINITE_LAST = 0xff7f };

float gi_level_value(const struct gi_level *level, enum gi_type type, double otsu)
{
    double value = 0;
    if (level->kind == GI_LEVEL_VALUE)
        value = level->value;
    else if (level->kind == GI_LEVEL_PERCENT)
        value = level->value * (double)gi_type_full_scale(type) / 100;
    else if (level->kind == GI_LEVEL_OTSU)
        value = otsu;
    if (type != GI_F32) /* whole numbers beyond these two say the same, and a float holds these */
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
        if (low_n == 0)
            continue;
        if (high_n == 0) /* the last bin that has counts: the answer only if it is the first too */
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

int gi_level_passes(enum gi_type type)
{
    return type == GI_F32 ? 3 : 1;
}

/* The first (step 1) or last (step -1) key of those from..to that has counts; -1: none. */
static int key_found(const uint64_t *counts, int from, int to, int step)
{
    for (int i = from; i != to + step; i += step)
        if (counts[i])
            return i;
    return -1;
}

static float key_float(uint32_t high, uint32_t low)
{
    uint32_t bits = gi_float_key_bits(high << 16 | low);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The upper half of a float's key: of lo's for which = 0, of hi's for 1. */
static uint16_t key_high(const struct gi_level_state *state, int which)
{
    uint32_t bits;
    memcpy(&bits, which ? &state->hi : &state->lo, sizeof bits);
    return (uint16_t)(gi_float_key(bits) >> 16);
}

/* Draws the sum of the pass that ended and clears the counts for the next one. */
static void next_pass(struct gi_level_state *state)
{
    if (state->pass == 0) { /* lo and hi to their upper 16 bits; lo > hi: nothing finite */
        int first = key_found(state->counts[0], FINITE_FIRST, FINITE_LAST, 1);
        int last = key_found(state->counts[0], FINITE_LAST, FINITE_FIRST, -1);
        state->lo = first < 0 ? 1 : key_float((uint32_t)first, 0);
        state->hi = first < 0 ? 0 : key_float((uint32_t)last, 0);
    } else if (state->lo <= state->hi) {
        int first = key_found(state->counts[0], 0, NKEYS - 1, 1);
        int last = key_found(state->counts[1], NKEYS - 1, 0, -1);
        state->lo = key_float(key_high(state, 0), (uint32_t)first);
        state->hi = key_float(key_high(state, 1), (uint32_t)last);
    }
    memset(state->counts, 0, sizeof state->counts);
    state->pass++;
}

static enum gi_status count(struct gi_context *cx, struct gi_level_state *state,
                            const struct gi_image *gray, struct gi_err *err)
{
    struct gi_histogram_spec spec = {.key = GI_KEY_VALUE,
                                     .nbins = gray->type == GI_U8 ? 256 : NKEYS};
    if (gray->type != GI_F32)
        return cx->k->histogram(cx, state->counts[0], gray, &spec, err);
    if ((state->pass > 0 && state->lo > state->hi) || (state->pass > 1 && state->lo == state->hi))
        return GI_OK; /* nothing finite, or one value: no more to find out */
    if (state->pass == 0) {
        spec.key = GI_KEY_FLOAT_HIGH;
    } else if (state->pass == 1) {
        spec.key = GI_KEY_FLOAT_LOW;
        spec.prefix = key_high(state, 1);
        enum gi_status status = cx->k->histogram(cx, state->counts[1], gray, &spec, err);
        if (status)
            return status;
        spec.prefix = key_high(state, 0);
    } else {
        spec = (struct gi_histogram_spec){
            .key = GI_KEY_RANGE, .nbins = FLOAT_BINS, .lo = state->lo, .hi = state->hi};
    }
    return cx->k->histogram(cx, state->counts[0], gray, &spec, err);
}

enum gi_status gi_level_measure(struct gi_context *cx, struct gi_level_state *state, int pass,
                                const struct gi_image *band, struct gi_err *err)
{
    state->type = band->type;
    while (state->pass < pass)
        next_pass(state);
    if (band->channels == 1)
        return count(cx, state, band, err);
    struct gi_image gray;
    enum gi_status status = cx->k->alloc(cx, &gray, band->width, band->height, 1, band->type, err);
    if (status)
        return status;
    status = cx->k->luma(cx, &gray, band, err);
    if (!status)
        status = count(cx, state, &gray, err);
    cx->k->release(cx, &gray);
    return status;
}

double gi_level_otsu(const struct gi_level_state *state)
{
    if (state->type != GI_F32)
        return gi_otsu(state->counts[0], state->type == GI_U8 ? 256 : NKEYS);
    double lo = state->lo, hi = state->hi;
    if (lo >= hi) /* one value, or none */
        return lo > hi ? 0 : lo;
    return lo + (gi_otsu(state->counts[0], FLOAT_BINS) + 0.5) * ((hi - lo) / FLOAT_BINS);
}

enum gi_status gi_level_find_otsu(struct gi_context *cx, double *otsu, const struct gi_image *src,
                                  struct gi_err *err)
{
    struct gi_level_state *state = calloc(1, sizeof *state);
    if (!state)
        return gi_fail(err, GI_E_MEMORY, "out of memory: counts for Otsu's threshold");
    enum gi_status status = GI_OK;
    for (int pass = 0; pass < gi_level_passes(src->type) && !status; pass++)
        status = gi_level_measure(cx, state, pass, src, err);
    if (!status)
        *otsu = gi_level_otsu(state);
    free(state);
    return status;
}
