/* Resampling in Pillow's integer arithmetic: first horizontally, to bytes, and then vertically, or
 * in the opposite order. In the horizontal pass a vector holds one sample of each of GI_LANES rows;
 * in the vertical pass it holds neighbouring samples of one row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/products.h"
#include "kernels/cpu/common/lane_transpose.h"
#include "kernels/cpu/geometry/resample.h"

enum {
    STRIP = 4096,          /* samples: of a strip's source or result */
    HALF = 1 << 21,        /* half of a weight of 1 */
    BITS = 22,             /* fractional bits of a weight */
    BAND_NBYTES = 1 << 19, /* approximate size of the bytes between the passes */
};

struct resample_integer_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_resample *spec;
    bool weigh;
    struct gi_strips strips;
    int band;      /* rows of the result */
    int rows;      /* maximum number of source rows of a band, a multiple of GI_LANES */
    size_t stride; /* bytes of a row between the passes */
};

struct resample_integer_group {
    const struct resample_integer_work *work;
    struct gi_strip strip;
    int y0, y1;       /* rows of the result */
    int sy0, sy1;     /* source rows */
    uint32_t *square; /* GI_LANES rows of GI_LANES samples */
    uint32_t *turned; /* transposed: a vector per source sample of the strip */
    uint8_t *between; /* rows after the horizontal pass, `stride` bytes apart */
};

static void turn(uint32_t *to, const uint32_t *from)
{
    GI_VEC v[GI_LANES];
#pragma GCC unroll 16
    for (size_t i = 0; i < GI_LANES; i++)
        v[i] = ints_vec(ints_load(from + i * GI_LANES));
    vec_transpose(v);
#pragma GCC unroll 16
    for (size_t i = 0; i < GI_LANES; i++)
        ints_store(to + i * GI_LANES, ints_bits(v[i]));
}

/* Loads n samples, at most GI_LANES, without reading a byte past them. */
static GI_INTS load_some(const uint8_t *p, size_t n)
{
    uint8_t last[4 * GI_LANES] = {0};
    if (n >= GI_LANES)
        return ints_load_u8(p);
    memcpy(last, p, n);
    return ints_load_u8(last);
}

static void store_some(uint8_t *p, GI_INTS v, size_t n)
{
    uint8_t last[4 * GI_LANES];
    if (n >= GI_LANES) {
        ints_store_u8(p, v);
        return;
    }
    ints_store_u8(last, v);
    memcpy(p, last, n);
}

static GI_INTS premultiply(GI_INTS v, int channels)
{
    GI_INTS a = ints_bits(vec_alpha(ints_vec(v), channels));
    GI_INTS t = ints_fma(v, a, ints_set(128));
    t = ints_shift(ints_add(ints_shift(t, 8), t), 8);
    return ints_bits(vec_with_alpha(ints_vec(t), ints_vec(v), channels));
}

static GI_INTS finish(GI_INTS sum)
{
    return ints_to_u8(ints_shift(sum, BITS));
}

/* Loads n samples (at most GI_LANES) of source row y, from sample i of the strip on, and multiplies
 * colours by alpha. */
static GI_INTS load_source(const struct resample_integer_group *g, int y, size_t i, size_t n)
{
    const struct gi_image *src = g->work->src;
    size_t channels = (size_t)src->channels;
    const uint8_t *row = gi_row(src, y);
    GI_INTS v = load_some(row + (size_t)g->strip.sx0 * channels + i, n);
    return g->work->weigh ? premultiply(v, src->channels) : v;
}

/* The vertical pass, if it comes first. Computes result rows y to y + GI_LANES - 1 (or the
 * remaining rows) at all source columns of the strip, and transposes these rows. */
static void turn_columns(const struct resample_integer_group *g, int y)
{
    const struct gi_resample_side *col = &g->work->spec->col;
    size_t n = (size_t)(g->strip.sx1 - g->strip.sx0) * (size_t)g->work->src->channels;
    int nrows = g->y1 - y < GI_LANES ? g->y1 - y : GI_LANES;
    for (size_t i = 0; i < n; i += GI_LANES) {
        for (int r = 0; r < nrows; r++) {
            const int32_t *weights = gi_resample_integers(col, y + r);
            int from = col->first[y + r] - col->origin;
            GI_INTS sum = ints_set(HALF);
            for (int t = 0; t < col->taps; t++)
                sum = ints_fma(ints_set((uint32_t)weights[t]), load_source(g, from + t, i, n - i),
                               sum);
            ints_store(g->square + (size_t)r * GI_LANES, finish(sum));
        }
        turn(g->turned + i * GI_LANES, g->square);
    }
}

/* Transposes source rows y to y + GI_LANES - 1 (or the remaining rows). */
static void turn_rows(const struct resample_integer_group *g, int y)
{
    size_t n = (size_t)(g->strip.sx1 - g->strip.sx0) * (size_t)g->work->src->channels;
    int nrows = g->sy1 - y < GI_LANES ? g->sy1 - y : GI_LANES;
    for (size_t i = 0; i < n; i += GI_LANES) {
        for (int r = 0; r < nrows; r++)
            ints_store(g->square + (size_t)r * GI_LANES, load_source(g, y + r, i, n - i));
        turn(g->turned + i * GI_LANES, g->square);
    }
}

/* Computes sample c of result pixel x in all transposed rows. */
static inline __attribute__((always_inline)) void
row_sums(GI_INTS *sum, const struct resample_integer_group *g, int x, int channels)
{
    const struct gi_resample_side *row = &g->work->spec->row;
    const int32_t *weights = gi_resample_integers(row, x);
    const uint32_t *p = g->turned + (row->first[x] - g->strip.sx0) * channels * GI_LANES;
    for (int c = 0; c < channels; c++)
        sum[c] = ints_set(HALF);
    for (int t = 0; t < row->taps; t++)
#pragma GCC unroll 4
        for (int c = 0; c < channels; c++, p += GI_LANES)
            sum[c] = ints_fma(ints_set((uint32_t)weights[t]), ints_load(p), sum[c]);
    for (int c = 0; c < channels; c++)
        sum[c] = finish(sum[c]);
}

/* Filters the transposed rows horizontally into the rows between the passes, from row `at` on. */
static inline __attribute__((always_inline)) void rows(const struct resample_integer_group *g,
                                                       int at, int channels)
{
    uint32_t side[GI_LANES * GI_LANES];
    GI_INTS sum[4];
    size_t n = 0, done = 0; /* number of samples in `square`, and of samples already stored */
    for (int x = g->strip.x0; x < g->strip.x1; x++) {
        row_sums(sum, g, x, channels);
        for (int c = 0; c < channels; c++) {
            ints_store(g->square + n * GI_LANES, sum[c]);
            n++;
            if (n < GI_LANES && (x + 1 < g->strip.x1 || c + 1 < channels))
                continue;
            turn(side, g->square);
            for (size_t r = 0; r < GI_LANES; r++)
                store_some(g->between + ((size_t)at + r) * g->work->stride + done,
                           ints_load(side + r * GI_LANES), GI_LANES);
            done += n;
            n = 0;
        }
    }
}

static void all_rows(const struct resample_integer_group *g, int at)
{
    switch (g->work->src->channels) {
    case 1:
        rows(g, at, 1);
        break;
    case 2:
        rows(g, at, 2);
        break;
    case 3:
        rows(g, at, 3);
        break;
    default:
        rows(g, at, 4);
    }
}

static void unpremultiply(uint8_t *row, size_t n, int channels)
{
    for (size_t i = 0; i < n; i += (size_t)channels) {
        unsigned a = row[i + (size_t)channels - 1];
        for (int c = 0; c < channels - 1 && a != 0 && a != 255; c++) {
            unsigned v = 255u * row[i + (size_t)c] / a;
            row[i + (size_t)c] = (uint8_t)(v < 255 ? v : 255);
        }
    }
}

static void column(const struct resample_integer_group *g, int y)
{
    const struct gi_resample_side *col = &g->work->spec->col;
    struct gi_image *dst = g->work->dst;
    size_t channels = (size_t)dst->channels, stride = g->work->stride;
    size_t n = (size_t)(g->strip.x1 - g->strip.x0) * channels;
    const int32_t *weights = gi_resample_integers(col, y);
    const uint8_t *from = g->between + (size_t)(col->first[y] - col->origin - g->sy0) * stride;
    uint8_t *out = (uint8_t *)gi_row(dst, y) + (size_t)g->strip.x0 * channels;
    for (size_t i = 0; i < n; i += 2 * GI_LANES) {
        GI_INTS a = ints_set(HALF), b = a;
        for (int t = 0; t < col->taps; t++) {
            const uint8_t *p = from + (size_t)t * stride + i;
            GI_INTS w = ints_set((uint32_t)weights[t]);
            a = ints_fma(w, ints_load_u8(p), a);
            b = ints_fma(w, ints_load_u8(p + GI_LANES), b);
        }
        store_some(out + i, finish(a), n - i);
        if (n - i > GI_LANES)
            store_some(out + i + GI_LANES, finish(b), n - i - GI_LANES);
    }
    if (g->work->weigh)
        unpremultiply(out, n, dst->channels);
}

/* Stores result rows y to y + GI_LANES - 1 (or the remaining rows) if the horizontal pass comes
 * second. all_rows() has left these rows in the first rows of `between`. */
static void store_rows(const struct resample_integer_group *g, int y)
{
    struct gi_image *dst = g->work->dst;
    size_t channels = (size_t)dst->channels, n = (size_t)(g->strip.x1 - g->strip.x0) * channels;
    for (int r = 0; r < GI_LANES && y + r < g->y1; r++) {
        uint8_t *out = (uint8_t *)gi_row(dst, y + r) + (size_t)g->strip.x0 * channels;
        memcpy(out, g->between + (size_t)r * g->work->stride, n);
        if (g->work->weigh)
            unpremultiply(out, n, dst->channels);
    }
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct resample_integer_group *g, const struct resample_integer_work *work,
                      uint32_t *scratch)
{
    size_t square = GI_LANES * GI_LANES;
    size_t samples = (size_t)work->strips.source * (size_t)work->src->channels;
    size_t turned = (samples + GI_LANES) * GI_LANES;
    if (scratch) {
        g->square = scratch;
        g->turned = scratch + square;
        g->between = (uint8_t *)(g->turned + turned);
    }
    return (square + turned) * sizeof(uint32_t) + (size_t)work->rows * work->stride;
}

static void group(void *arg, int index, void *scratch)
{
    const struct resample_integer_work *work = arg;
    const struct gi_resample_side *col = &work->spec->col;
    struct resample_integer_group g = {.work = work};
    g.strip = gi_strip_at(&work->strips, &work->spec->row, index % work->strips.n);
    g.y0 = index / work->strips.n * work->band;
    g.y1 = work->dst->height - g.y0 < work->band ? work->dst->height : g.y0 + work->band;
    g.sy0 = col->first[g.y0] - col->origin;
    g.sy1 = col->first[g.y1 - 1] - col->origin + col->taps;
    lay_out(&g, work, scratch);
    memset(g.square, 0, GI_LANES * GI_LANES * sizeof *g.square);
    if (work->spec->columns_first) {
        for (int y = g.y0; y < g.y1; y += GI_LANES) {
            turn_columns(&g, y);
            all_rows(&g, 0);
            store_rows(&g, y);
        }
        return;
    }
    for (int y = g.sy0; y < g.sy1; y += GI_LANES) {
        turn_rows(&g, y);
        all_rows(&g, y - g.sy0);
    }
    for (int y = g.y0; y < g.y1; y++)
        column(&g, y);
}

/* Returns the number of result rows per job. It is large enough that few source rows are filtered
 * twice, and small enough that all threads have jobs. */
static int band_of(const struct resample_integer_work *work, int threads)
{
    const struct gi_resample_side *col = &work->spec->col;
    double reach = (double)(col->first[col->n - 1] - col->first[0] + col->taps) / col->n;
    double most = (double)BAND_NBYTES / (double)work->stride; /* source rows */
    double least = 4.0 * col->taps;
    double rows = (most > least ? most : least) / reach;
    double share = (double)col->n * work->strips.n / (4.0 * threads);
    rows = threads > 1 && share < rows ? share : rows;
    return rows < 1 ? 1 : rows < col->n ? (int)rows : col->n;
}

enum gi_status GI_CPU(resample_integer)(struct gi_queue *queue, struct gi_image *dst,
                                        const struct gi_image *src, const struct gi_resample *spec,
                                        struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct resample_integer_work work = {.dst = dst,
                                         .src = src,
                                         .spec = spec,
                                         .weigh =
                                             gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH,
                                         .strips = gi_strips(&spec->row, STRIP / src->channels)};
    work.stride =
        ((size_t)work.strips.result * (size_t)src->channels + 4 * GI_LANES) / 16 * 16 + 64;
    work.band = spec->columns_first ? GI_LANES : band_of(&work, gi_pool_threads(pool));
    int rows = spec->columns_first ? GI_LANES : gi_resample_span(&spec->col, work.band);
    work.rows = (rows + GI_LANES - 1) / GI_LANES * GI_LANES;
    struct resample_integer_group g;
    int nbands = (dst->height + work.band - 1) / work.band;
    return gi_pool_run(pool, nbands * work.strips.n, group, &work, lay_out(&g, &work, NULL), err);
}
