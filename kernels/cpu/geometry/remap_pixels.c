/* Geometric transforms one pixel at a time, for any map and any border mode.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/geometry/remap.h"

#include <math.h>

enum { TAPS_MAX = 4 };

/* The taps of one pixel: columns and rows of the source, or -1 for the border value. */
struct taps {
    int n;
    int column[TAPS_MAX], row[TAPS_MAX]; /* relative to `src`, which may be a part of the source */
    float wx[TAPS_MAX], wy[TAPS_MAX];    /* GI_CUBIC */
    float t, u;                          /* GI_LINEAR */
};

static inline float load(const void *row, size_t i, enum gi_type type)
{
    return (float)gi_sample(row, i, type);
}

static inline void store(void *row, size_t i, float v, enum gi_type type)
{
    float full = gi_type_full_scale(type);
    if (type == GI_F32) {
        ((float *)row)[i] = v != v ? NAN : v;
        return;
    }
    long whole = lrintf(v > 0 ? v < full ? v : full : 0);
    if (type == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)whole;
    else
        ((uint16_t *)row)[i] = (uint16_t)whole;
}

/* Finds the taps of a pixel. Returns false if no tap is in the source, or if the pixel has no
 * position. */
static inline bool taps_of(struct taps *taps, const struct remap_work *work,
                           const struct remap_places *places, int i)
{
    const struct gi_remap *spec = work->spec;
    enum gi_border border = spec->border.mode;
    enum gi_border of_rows = spec->map.kind == GI_MAP_RINGS ? GI_BORDER_WRAP : border;
    enum gi_interpolation how = spec->interpolation;
    bool across = false, down = false;
    if (places->x[i] == GI_PLACE_NONE)
        return false;
    taps->n = how == GI_NEAREST ? 1 : how == GI_LINEAR ? 2 : 4;
    for (int k = 0; k < taps->n; k++) {
        long long x = places->x[i] + k - (how == GI_CUBIC);
        long long y = places->y[i] + k - (how == GI_CUBIC);
        taps->column[k] = gi_border_index(x, work->src->width, border);
        taps->row[k] = gi_border_index(y, spec->height, of_rows);
        across |= taps->column[k] >= 0;
        if (taps->row[k] >= 0) {
            taps->row[k] = gi_band_row(taps->row[k], spec->src_y, spec->height);
            down = true;
        }
    }
    if (how == GI_LINEAR) {
        taps->t = places->t[i];
        taps->u = places->u[i];
    } else if (how == GI_CUBIC) {
        gi_cubic_weights(taps->wx, &spec->cubic, places->t[i]);
        gi_cubic_weights(taps->wy, &spec->cubic, places->u[i]);
    }
    return across && down;
}

/* Returns channel c of a tap, multiplied by alpha if the alpha rule says so. */
static inline float tap(const struct remap_work *work, const struct taps *taps, int j, int k, int c,
                        enum gi_type type)
{
    const struct gi_image *src = work->src;
    int channels = src->channels;
    float v, alpha = 1;
    if (taps->column[k] < 0 || taps->row[j] < 0) {
        v = work->spec->border.value[c];
        alpha = work->spec->border.value[channels - 1];
    } else {
        const void *row = gi_row(src, taps->row[j]);
        size_t at = (size_t)taps->column[k] * (size_t)channels;
        v = load(row, at + (size_t)c, type);
        if (work->weigh)
            alpha = load(row, at + (size_t)channels - 1, type);
    }
    return work->weigh && c < channels - 1 ? v * alpha : v;
}

static inline float lerp(float a, float b, float t)
{
    return t == 0 ? a : fmaf(t, b - a, a);
}

static inline float sum(const float *w, const float *v)
{
    float f = 0;
    for (int k = 0; k < TAPS_MAX; k++)
        f = w[k] == 0 ? f : fmaf(w[k], v[k], f);
    return f;
}

static inline float value(const struct remap_work *work, const struct taps *taps, int c,
                          enum gi_type type)
{
    float v[TAPS_MAX], r[TAPS_MAX];
    if (taps->n == 1)
        return tap(work, taps, 0, 0, c, type);
    for (int j = 0; j < taps->n; j++) {
        for (int k = 0; k < taps->n; k++)
            v[k] = tap(work, taps, j, k, c, type);
        r[j] = taps->n == 2 ? lerp(v[0], v[1], taps->t) : sum(taps->wx, v);
    }
    return taps->n == 2 ? lerp(r[0], r[1], taps->u) : sum(taps->wy, r);
}

static inline void pixels(const struct remap_work *work, const struct remap_places *places,
                          int first, int last, void *out, enum gi_type type)
{
    int channels = work->src->channels;
    size_t nbytes = (size_t)channels * gi_type_nbytes(type);
    for (int i = first; i < last; i++) {
        struct taps taps;
        char *to = (char *)out + (size_t)i * nbytes;
        if (!taps_of(&taps, work, places, i)) {
            memcpy(to, work->background, nbytes);
            continue;
        }
        float alpha = work->weigh ? value(work, &taps, channels - 1, type) : 0;
        for (int c = 0; c < channels; c++) {
            bool color = c < channels - 1;
            float f = work->weigh && !color ? alpha : value(work, &taps, c, type);
            if (work->weigh)
                f = !(alpha > 0) ? 0 : color ? f / alpha : alpha;
            store(to, (size_t)c, f, type);
        }
    }
}

void GI_CPU(remap_pixels)(const struct remap_work *work, const struct remap_places *places,
                          int first, int last, void *out)
{
    GI_CPU_TYPES(work->src->type, pixels(work, places, first, last, out, TYPE));
}
