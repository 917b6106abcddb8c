/* Scatters values to computed positions. Every job reads all positions in order, and processes the
 * positions in its own rows.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"
#include "kernels/regions.h"

#include <math.h>
#include <string.h>

struct scatter_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_scatter *spec;
    int njobs;
};

/* Returns channel c of the value at pixel x of a row of values, or channel c of the constant value
 * if `row` is NULL. */
static inline float value_of(const struct scatter_work *work, const void *row, size_t x, int c)
{
    const struct gi_scatter *spec = work->spec;
    if (!row)
        return spec->value[c];
    const struct gi_image *values = spec->values;
    int from = gi_scatter_channel(c, work->dst->channels, values->channels - spec->first);
    if (from < 0)
        return gi_type_full_scale(work->dst->type);
    size_t at = x * (size_t)values->channels + (size_t)(spec->first + from);
    return (float)gi_sample(row, at, values->type) * spec->scale;
}

/* Rounds and stores a sample (the last step of kernels/rules.h). */
static inline void store(void *row, size_t at, enum gi_type type, float v)
{
    float full = gi_type_full_scale(type);
    if (type != GI_F32)
        v = v > 0 ? v < full ? rintf(v) : full : 0;
    GI_CPU_TYPES(type, {
        static const union {
            uint32_t bits;
            float v;
        } nan = {0x7fc00000};
        ((T *)row)[at] = TYPE == GI_F32 && isnan(v) ? (T)nan.v : (T)v;
    })
}

/* Position i is pixel (x, y) of the band. */
static void put(const struct scatter_work *work, int x, int y, uint64_t i)
{
    const struct gi_image *values = work->spec->values;
    const void *row = NULL;
    size_t at = 0, channels = (size_t)work->dst->channels;
    if (values) {
        row = gi_row(values, (int)(i / (uint64_t)values->width));
        at = (size_t)(i % (uint64_t)values->width);
    }
    for (size_t c = 0; c < channels; c++)
        store(gi_row(work->dst, y), (size_t)x * channels + c, work->dst->type,
              value_of(work, row, at, (int)c));
}

static void scatter_rows(void *arg, int job, void *scratch)
{
    const struct scatter_work *work = arg;
    const struct gi_image *src = work->src, *dst = work->dst, *places = work->spec->places;
    int top = (int)((int64_t)src->height * job / work->njobs);
    int bottom = (int)((int64_t)src->height * (job + 1) / work->njobs), y0 = work->spec->y;
    size_t step = (size_t)places->channels;
    for (int y = top; y < bottom && dst->data != src->data; y++)
        memcpy(gi_row(dst, y), gi_row(src, y), gi_row_nbytes(src));
    for (int row = 0; row < places->height; row++) {
        uint64_t first = (uint64_t)row * (uint64_t)places->width;
        GI_CPU_TYPES(places->type, {
            const T *at = gi_row(places, row);
            for (size_t i = 0; i < (size_t)places->width; i++) {
                int y = gi_scatter_index((float)at[i * step + 1], y0 + bottom) - y0;
                if (y < top)
                    continue;
                int x = gi_scatter_index((float)at[i * step], src->width);
                if (x >= 0)
                    put(work, x, y, first + i);
            }
        })
    }
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_scatter *spec,
                              struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    int threads = gi_pool_threads(pool);
    struct scatter_work work = {dst, src, spec, threads < src->height ? threads : src->height};
    return gi_pool_run(pool, work.njobs, scatter_rows, &work, 0, err);
}

GI_CPU_ONE_WAY(scatter, "rows", by_rows);
