/* Rolling ball (Sternberg's background estimate), which computes how high a ball below the image
 * surface can rise at each sample. Rows are floats in a ring buffer. Vectors run across samples; a
 * block of samples visits all offsets of the ball.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/morphology.h"

enum {
    VECTORS = 4,                /* vectors per block */
    BLOCK = VECTORS * GI_LANES, /* samples */
    STRIP = 1024,               /* pixels of a tile's row */
};

struct rolling_ball {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_rolling_ball *spec;
    struct gi_tiling tiling;
    size_t pitch;                       /* floats from one row to the next */
    int reach[GI_ROLLING_BALL_MAX + 1]; /* half the width of the ball in row |j|, in pixels */
};

struct rolling_ball_worker {
    const struct rolling_ball *b;
    struct gi_tile tile;
    float *ring; /* 2 * radius + 1 rows with the halo of the ball */
    float *out;  /* a row of results */
    float *in;   /* a row as in the image, and as floats */
};

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct rolling_ball_worker *w, const struct rolling_ball *b, void *scratch)
{
    size_t rows = 2 * (size_t)b->spec->radius + 1;
    w->b = b;
    if (scratch) {
        w->ring = scratch;
        w->out = w->ring + rows * b->pitch;
        w->in = w->out + b->pitch;
    }
    return (rows + 2) * b->pitch * sizeof(float);
}

/* Returns row y, which may be outside the image. */
static float *row_of(const struct rolling_ball_worker *w, long long y)
{
    long long rows = 2LL * w->b->spec->radius + 1;
    return w->ring + (size_t)((y + rows) % rows) * w->b->pitch;
}

/* Loads row y with its halo. */
static void load(const struct rolling_ball_worker *w, long long y)
{
    const struct gi_image *src = w->b->src;
    size_t pixels = (size_t)(w->tile.x1 - w->tile.x0 + 2 * w->b->spec->radius);
    long long x0 = (long long)w->tile.x0 - w->b->spec->radius;
    GI_CPU(row_copy)(w->in, src, &w->b->spec->border, y, x0, pixels);
    GI_CPU(samples_load)(row_of(w, y), w->in, pixels * (size_t)src->channels, src->type);
}

/* Sets out[0 .. BLOCK) to the height of the ball at the samples from x on in row y. */
static void roll(const struct rolling_ball_worker *w, float *out, size_t x, int y)
{
    const struct rolling_ball *b = w->b;
    int r = b->spec->radius, channels = b->src->channels;
    GI_VEC best[VECTORS];
    for (int v = 0; v < VECTORS; v++)
        best[v] = vec_set(INFINITY);
    for (int j = -r; j <= r; j++) {
        int away = j < 0 ? -j : j, reach = b->reach[away];
        const float *heights = b->spec->heights + (size_t)away * (size_t)(r + 1);
        const float *middle = row_of(w, y + j) + x + (size_t)r * (size_t)channels;
        for (int i = -reach; i <= reach; i++) {
            GI_VEC height = vec_set(heights[i < 0 ? -i : i]);
            const float *at = middle + i * channels;
            for (int v = 0; v < VECTORS; v++) {
                GI_VEC f = vec_add(vec_load(at + v * GI_LANES), height);
                best[v] = vec_if_greater(best[v], f, f, best[v]);
            }
        }
    }
    for (int v = 0; v < VECTORS; v++)
        vec_store(out + v * GI_LANES, best[v]);
}

static void make_row(const struct rolling_ball_worker *w, int y)
{
    const struct rolling_ball *b = w->b;
    const struct gi_image *src = b->src;
    size_t channels = (size_t)src->channels, sample = gi_type_nbytes(src->type);
    size_t n = (size_t)(w->tile.x1 - w->tile.x0) * channels;
    size_t first = (size_t)w->tile.x0 * channels * sample;
    char *to = (char *)gi_row(b->dst, y) + first;
    const char *from = (const char *)gi_row(src, y) + first;
    for (size_t x = 0; x < n; x += BLOCK)
        roll(w, w->out + x, x, y);
    GI_CPU(samples_load)(w->in, from, n, src->type);
    for (size_t i = 0; !b->spec->keep && i < n; i++)
        w->out[i] = w->in[i] - w->out[i];
    GI_CPU(samples_store)(to, w->out, n, src->type);
    if (gi_has_alpha(src))
        for (size_t i = channels - 1; i < n; i += channels)
            memcpy(to + i * sample, from + i * sample, sample);
}

static void rolling_ball_tile(void *arg, int index, void *scratch)
{
    const struct rolling_ball *b = arg;
    struct rolling_ball_worker w = {0};
    int r = b->spec->radius;
    lay_out(&w, b, scratch);
    w.tile = GI_CPU(tile)(&b->tiling, b->src, index);
    for (int y = w.tile.y0 - r; y < w.tile.y0 + r; y++)
        load(&w, y);
    for (int y = w.tile.y0; y < w.tile.y1; y++) {
        load(&w, (long long)y + r);
        make_row(&w, y);
    }
}

static enum gi_status rolling(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_rolling_ball *spec,
                              struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct rolling_ball b = {.dst = dst, .src = src, .spec = spec};
    struct rolling_ball_worker w = {0};
    int r = spec->radius;
    for (int j = 0; j <= r; j++)
        b.reach[j] = gi_rolling_ball_reach(spec, j);
    b.tiling = GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP, 2 * r);
    b.pitch =
        ((size_t)(b.tiling.strip + 2 * r) * (size_t)src->channels + 2 * BLOCK) / BLOCK * BLOCK;
    return gi_pool_run(pool, b.tiling.nstrips * b.tiling.nbands, rolling_ball_tile, &b,
                       lay_out(&w, &b, NULL), err);
}

GI_CPU_ONE_WAY(rolling_ball, "rolling", rolling);
