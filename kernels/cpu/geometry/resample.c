/* Resampling (separable, any filter). Vectors run across rows of the result. GI_LANES result rows
 * are first summed down their columns, in memory order, then transposed: a vector then holds one
 * sample of each row, and a horizontal tap is one multiply-add of such a vector by a weight.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/geometry/resample.h"
#include "kernels/cpu/common/blocks.h"
#include "kernels/cpu/common/lane_transpose.h"
#include "kernels/cpu/convolution/padded_rows.h"

enum {
    WIDE = 4, /* vectors of a row that are summed at once, to hide the latency of fmaf */
    BLOCK = WIDE * GI_LANES,
    STRIP = 4096, /* samples of a strip's source or result, which stay in a core's cache */
};

struct resample_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_resample *spec;
    bool weigh;
    struct gi_strips strips;
    int rows; /* maximum number of source rows for GI_LANES result rows */
};

/* A job: GI_LANES rows of the result (in the last job, the remaining rows) in a strip of
 * columns. */
struct resample_group {
    const struct resample_work *work;
    struct gi_strip strip;
    int y0, n;                /* rows of the result */
    int sy0, sy1;             /* source rows */
    float *rows;              /* sy1 - sy0 source rows of one block of columns, BLOCK floats each */
    float *sums;              /* GI_LANES result rows of one block of columns, BLOCK floats each */
    float *turned;            /* transposed: a vector per source sample of the strip */
    float *out;               /* a vector per sample of the result */
    float divisors[GI_LANES]; /* of the result rows */
};

/* Loads n samples of source row y, from sample i of the strip on, as floats, with colours
 * multiplied by alpha. */
static inline __attribute__((always_inline)) void
load_row(const struct resample_group *g, float *out, int y, size_t i, size_t n, enum gi_type type)
{
    const struct gi_image *src = g->work->src;
    size_t channels = (size_t)src->channels;
    const char *in =
        (const char *)gi_row(src, y) + ((size_t)g->strip.sx0 * channels + i) * gi_type_nbytes(type);
    if (n == BLOCK)
        for (int v = 0; v < WIDE; v++)
            vec_store(out + v * GI_LANES, vec_load_samples(in, (size_t)v * GI_LANES, type));
    else
        GI_CPU(samples_load)(out, in, n, type);
    for (int v = 0; g->work->weigh && v < WIDE; v++) {
        GI_VEC s = vec_load(out + v * GI_LANES), a = vec_alpha(s, src->channels);
        vec_store(out + v * GI_LANES, vec_with_alpha(vec_mul(s, a), a, src->channels));
    }
}

static inline __attribute__((always_inline)) void column_chains(GI_VEC *sum, const float *p,
                                                                const float *weights, int taps)
{
#pragma GCC unroll 4
    for (int v = 0; v < WIDE; v++)
        sum[v] = vec_set(0);
    for (int t = 0; t < taps; t++, p += BLOCK) {
        GI_VEC w = vec_set(weights[t]);
#pragma GCC unroll 4
        for (int v = 0; v < WIDE; v++)
            sum[v] = vec_fma(w, vec_load(p + v * GI_LANES), sum[v]);
    }
}

/* Computes the column sums of one result row of a block from its source rows. */
static void column_sums(float *out, const float *p, const float *weights, int taps)
{
    GI_VEC sum[WIDE], carry[WIDE], more[WIDE];
    column_chains(sum, p, weights, taps_of_block(taps, 0));
    for (int v = 0; v < WIDE; v++)
        carry[v] = vec_set(0);
    for (int t = GI_TAPS_BLOCK; t < taps; t += GI_TAPS_BLOCK) {
        column_chains(more, p + (size_t)t * BLOCK, weights + t, taps_of_block(taps, t));
        for (int v = 0; v < WIDE; v++)
            sum[v] = vec_add_block(sum[v], &carry[v], more[v]);
    }
    for (int v = 0; v < WIDE; v++)
        vec_store(out + v * GI_LANES, sum[v]);
}

static inline __attribute__((always_inline)) void turn(float *to, size_t to_step, const float *from,
                                                       size_t from_step)
{
    GI_VEC v[GI_LANES];
#pragma GCC unroll 16
    for (size_t i = 0; i < GI_LANES; i++)
        v[i] = vec_load(from + i * from_step);
    vec_transpose(v);
#pragma GCC unroll 16
    for (size_t i = 0; i < GI_LANES; i++)
        vec_store(to + i * to_step, v[i]);
}

/* Filters the columns of the block that begins at sample i of the strip's source. */
GI_PER_KIND void columns(const struct resample_group *g, size_t i, size_t n, enum gi_type type)
{
    const struct gi_resample_side *col = &g->work->spec->col;
    for (int y = g->sy0; y < g->sy1; y++)
        load_row(g, g->rows + (size_t)(y - g->sy0) * BLOCK, y, i, n, type);
    for (int r = 0; r < g->n; r++) {
        int first = col->first[g->y0 + r] - col->origin - g->sy0;
        column_sums(g->sums + (size_t)r * BLOCK, g->rows + (size_t)first * BLOCK,
                    gi_resample_weights(col, g->y0 + r), col->taps);
    }
    for (size_t v = 0; v < WIDE; v++)
        turn(g->turned + (i + v * GI_LANES) * GI_LANES, GI_LANES, g->sums + v * GI_LANES, BLOCK);
}

/* Computes `pixels` result pixels from the transposed rows. */
static inline __attribute__((always_inline)) void row_chains(GI_VEC *sum, const float *const *p,
                                                             const float *const *weights, int from,
                                                             int taps, int channels, int pixels)
{
#pragma GCC unroll 4
    for (int i = 0; i < pixels * channels; i++)
        sum[i] = vec_set(0);
    for (int t = from; t < from + taps; t++)
#pragma GCC unroll 4
        for (int i = 0; i < pixels; i++)
#pragma GCC unroll 4
            for (int c = 0; c < channels; c++)
                sum[i * channels + c] =
                    vec_fma(vec_set(weights[i][t]), vec_load(p[i] + (t * channels + c) * GI_LANES),
                            sum[i * channels + c]);
}

static inline __attribute__((always_inline)) void row_sums(const struct resample_group *g, int x,
                                                           int channels, int pixels)
{
    const struct gi_resample_side *row = &g->work->spec->row;
    const float *p[4], *weights[4];
    GI_VEC sum[4], carry[4], more[4];
    for (int i = 0; i < pixels; i++) {
        p[i] = g->turned + (row->first[x + i] - g->strip.sx0) * channels * GI_LANES;
        weights[i] = gi_resample_weights(row, x + i);
    }
    row_chains(sum, p, weights, 0, taps_of_block(row->taps, 0), channels, pixels);
    for (int i = 0; i < 4; i++)
        carry[i] = vec_set(0);
    for (int t = GI_TAPS_BLOCK; t < row->taps; t += GI_TAPS_BLOCK) {
        row_chains(more, p, weights, t, taps_of_block(row->taps, t), channels, pixels);
        for (int i = 0; i < pixels * channels; i++)
            sum[i] = vec_add_block(sum[i], &carry[i], more[i]);
    }
    if (row->sums)
        for (int i = 0; i < pixels * channels; i++)
            sum[i] = vec_div(sum[i], vec_mul(vec_load(g->divisors),
                                             vec_set(gi_resample_sum(row, x + i / channels))));
    if (g->work->weigh) {
        GI_VEC zero = vec_set(0), a = sum[channels - 1];
        for (int c = 0; c < channels - 1; c++)
            sum[c] = vec_if_greater(a, zero, vec_div(sum[c], a), zero);
        sum[channels - 1] = vec_if_greater(a, zero, a, zero);
    }
    float *out = g->out + (size_t)(x - g->strip.x0) * (size_t)(channels * GI_LANES);
    for (int i = 0; i < pixels * channels; i++)
        vec_store(out + i * GI_LANES, sum[i]);
}

/* Computes all pixels of a strip, `pixels` pixels (at most 4 samples) at a time. */
GI_PER_KIND void rows(const struct resample_group *g, int channels, int pixels)
{
    int x = g->strip.x0;
    for (; x + pixels <= g->strip.x1 && !g->work->weigh; x += pixels)
        row_sums(g, x, channels, pixels);
    for (; x < g->strip.x1; x++)
        row_sums(g, x, channels, 1);
}

static void store(const struct resample_group *g)
{
    struct gi_image *dst = g->work->dst;
    size_t channels = (size_t)dst->channels, nbytes = gi_type_nbytes(dst->type);
    size_t n = (size_t)(g->strip.x1 - g->strip.x0) * channels;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t some = n - i < BLOCK ? n - i : BLOCK;
        for (size_t v = 0; v < some; v += GI_LANES)
            turn(g->sums + v, BLOCK, g->out + (i + v) * GI_LANES, GI_LANES);
        for (int r = 0; r < g->n; r++)
            GI_CPU(samples_store)
        ((char *)gi_row(dst, g->y0 + r) + ((size_t)g->strip.x0 * channels + i) * nbytes,
         g->sums + (size_t)r * BLOCK, some, dst->type);
    }
}

static size_t round_up(size_t n)
{
    return (n + BLOCK - 1) / BLOCK * BLOCK;
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct resample_group *g, const struct resample_work *work, float *scratch)
{
    size_t channels = (size_t)work->src->channels;
    size_t rows = (size_t)work->rows * BLOCK, sums = (size_t)GI_LANES * BLOCK;
    size_t turned = round_up((size_t)work->strips.source * channels) * GI_LANES;
    size_t out = round_up((size_t)work->strips.result * channels) * GI_LANES;
    if (scratch) {
        g->rows = scratch;
        g->sums = scratch + rows;
        g->turned = g->sums + sums;
        g->out = g->turned + turned;
    }
    return (rows + sums + turned + out) * sizeof(float);
}

static void group(void *arg, int index, void *scratch)
{
    const struct resample_work *work = arg;
    const struct gi_resample_side *col = &work->spec->col;
    struct resample_group g = {.work = work};
    g.strip = gi_strip_at(&work->strips, &work->spec->row, index % work->strips.n);
    g.y0 = index / work->strips.n * GI_LANES;
    g.n = work->dst->height - g.y0 < GI_LANES ? work->dst->height - g.y0 : GI_LANES;
    g.sy0 = col->first[g.y0] - col->origin;
    g.sy1 = col->first[g.y0 + g.n - 1] - col->origin + col->taps;
    for (int r = 0; r < GI_LANES; r++)
        g.divisors[r] = r < g.n ? gi_resample_sum(col, g.y0 + r) : 1;
    lay_out(&g, work, scratch);
    size_t n = (size_t)(g.strip.sx1 - g.strip.sx0) * (size_t)work->src->channels;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t some = n - i < BLOCK ? n - i : BLOCK;
        GI_CPU_TYPES(work->src->type, columns(&g, i, some, TYPE));
    }
    switch (work->src->channels) {
    case 1:
        rows(&g, 1, 4);
        break;
    case 2:
        rows(&g, 2, 2);
        break;
    case 3:
        rows(&g, 3, 1);
        break;
    default:
        rows(&g, 4, 1);
    }
    store(&g);
}

static enum gi_status lanes(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_resample *spec,
                            struct gi_err *err)
{
    struct resample_work work = {.dst = dst,
                                 .src = src,
                                 .spec = spec,
                                 .weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH,
                                 .strips = gi_strips(&spec->row, STRIP / src->channels),
                                 .rows = gi_resample_span(&spec->col, GI_LANES)};
    int ngroups = (dst->height + GI_LANES - 1) / GI_LANES;
    struct resample_group g;
    return gi_pool_run(gi_cpu_pool(queue), ngroups * work.strips.n, group, &work,
                       lay_out(&g, &work, NULL), err);
}

const struct gi_resample_way GI_CPU(resample_ways)[GI_WAYS_MAX] = {
    {{"lanes", "float weights"}, gi_resample_float_takes, lanes},
    {{"integer", "the integers of Pillow"}, gi_resample_integer_takes, GI_CPU(resample_integer)},
};
