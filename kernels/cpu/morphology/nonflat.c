/* Non-flat morphology: erosion or dilation with a structuring element that has heights, for example
 * the ball of Sternberg's background estimate. Rows are floats in a ring buffer. Vectors run across
 * samples; a block of samples visits all pixels of the structuring element. A maximum is the
 * negative of the minimum of negative samples, so that there is one loop.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/morphology.h"

enum {
    VECTORS = 4,                /* vectors per block */
    BLOCK = VECTORS * GI_LANES, /* samples */
    STRIP = 1024,               /* pixels of a tile's row */
};

struct nonflat {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_nonflat *spec;
    struct gi_tiling tiling;
    size_t pitch;    /* floats from one row to the next */
    int left, right; /* pixels of the structuring element left and right of (x, y), 0 or more */
    int top, rows;   /* its first row, relative to y, and its number of rows */
    bool hides;      /* whether pixels with alpha 0 are ignored */
    bool spreads;    /* whether NaN samples make results NaN */
};

struct nonflat_worker {
    const struct nonflat *b;
    struct gi_tile tile;
    float *ring; /* the rows of the structuring element, with its halo */
    float *out;  /* a row of results */
    float *in;   /* a row as in the image, and as floats */
    bool *nan;   /* per row of the ring buffer: whether it holds a NaN */
};

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct nonflat_worker *w, const struct nonflat *b, void *scratch)
{
    size_t rows = (size_t)b->rows;
    w->b = b;
    if (scratch) {
        w->ring = scratch;
        w->out = w->ring + rows * b->pitch;
        w->in = w->out + b->pitch;
        w->nan = (bool *)(w->in + b->pitch);
    }
    return (rows + 2) * b->pitch * sizeof(float) + rows * sizeof(bool);
}

/* Returns the number in the ring buffer of row y, which may be outside the image. */
static size_t slot_of(const struct nonflat_worker *w, long long y)
{
    long long rows = w->b->rows, slot = y % rows;
    return (size_t)(slot < 0 ? slot + rows : slot);
}

/* Replaces pixels with alpha 0 by infinities, of which the minimum is taken last. The alpha of
 * other pixels becomes 0: the minimum of alphas is infinite if the structuring element covers no
 * such pixel. Samples are multiplied by `sign`. */
static void hide(float *row, size_t n, size_t channels, float sign)
{
    for (size_t i = 0; i < n; i += channels) {
        bool seen = sign * row[i + channels - 1] > 0;
        for (size_t c = 0; c < channels; c++)
            row[i + c] = !seen ? INFINITY : c == channels - 1 ? 0 : row[i + c];
    }
}

/* Loads row y with its halo. */
static void load(const struct nonflat_worker *w, long long y)
{
    const struct nonflat *b = w->b;
    size_t pixels = (size_t)(w->tile.x1 - w->tile.x0 + b->left + b->right), slot = slot_of(w, y);
    size_t n = pixels * (size_t)b->src->channels;
    float *row = w->ring + slot * b->pitch;
    GI_CPU(row_copy)
    (w->in, b->src, &b->spec->border, y, (long long)w->tile.x0 - b->left, pixels);
    GI_CPU(samples_load)(row, w->in, n, b->src->type);
    if (b->spec->greatest)
        for (size_t i = 0; i < n; i++)
            row[i] = -row[i];
    if (b->hides)
        hide(row, n, (size_t)b->src->channels, b->spec->greatest ? -1 : 1);
    w->nan[slot] = false;
    for (size_t i = 0; b->spreads && i < n; i++)
        w->nan[slot] |= row[i] != row[i];
}

/* Sets out[0 .. BLOCK) to the results for the samples from x on in row y. */
static void fold(const struct nonflat_worker *w, float *out, size_t x, int y)
{
    const struct nonflat *b = w->b;
    const float *heights = b->spec->heights;
    int channels = b->src->channels;
    GI_VEC best[VECTORS];
    for (int v = 0; v < VECTORS; v++)
        best[v] = vec_set(INFINITY);
    for (int r = 0; r < b->spec->nruns; r++) {
        const struct gi_footprint_run run = b->spec->runs[r];
        const float *at = w->ring + slot_of(w, (long long)y + run.y) * b->pitch + x +
                          (size_t)(b->left + run.first) * (size_t)channels;
        for (int i = run.first; i <= run.last; i++, at += channels) {
            GI_VEC depth = vec_set(-*heights++); /* added, as x86 adds from memory */
            for (int v = 0; v < VECTORS; v++) {
                GI_VEC f = vec_add(vec_load(at + v * GI_LANES), depth);
                best[v] = vec_if_greater(best[v], f, f, best[v]);
            }
        }
    }
    for (int v = 0; v < VECTORS; v++)
        vec_store(out + v * GI_LANES, best[v]);
}

/* Makes those of n results of row y NaN whose structuring element covers a NaN. */
static void spread(const struct nonflat_worker *w, size_t n, int y)
{
    const struct nonflat *b = w->b;
    size_t channels = (size_t)b->src->channels;
    for (int r = 0; r < b->spec->nruns; r++) {
        const struct gi_footprint_run run = b->spec->runs[r];
        size_t slot = slot_of(w, (long long)y + run.y);
        const float *row = w->ring + slot * b->pitch + (size_t)(b->left + run.first) * channels;
        size_t samples = (size_t)(run.last - run.first + 1) * channels;
        for (size_t x = 0; w->nan[slot] && x < n; x++)
            for (size_t i = 0; i < samples; i += channels)
                if (row[x + i] != row[x + i])
                    w->out[x] = NAN;
    }
}

/* Copies the samples that are not filtered from row y of the source: alpha, and the pixels whose
 * structuring element covers only pixels with alpha 0. `to` and `from` are the tile's rows. */
static void keep(const struct nonflat_worker *w, char *to, const char *from, size_t n)
{
    const struct gi_image *src = w->b->src;
    size_t channels = (size_t)src->channels, sample = gi_type_nbytes(src->type);
    for (size_t i = channels - 1; i < n; i += channels) {
        size_t first = w->b->hides && isinf(w->out[i]) ? i + 1 - channels : i;
        memcpy(to + first * sample, from + first * sample, (i + 1 - first) * sample);
    }
}

static void make_row(const struct nonflat_worker *w, int y)
{
    const struct nonflat *b = w->b;
    const struct gi_image *src = b->src;
    size_t channels = (size_t)src->channels, sample = gi_type_nbytes(src->type);
    size_t n = (size_t)(w->tile.x1 - w->tile.x0) * channels;
    size_t first = (size_t)w->tile.x0 * channels * sample;
    char *to = (char *)gi_row(b->dst, y) + first;
    const char *from = (const char *)gi_row(src, y) + first;
    for (size_t x = 0; x < n; x += BLOCK)
        fold(w, w->out + x, x, y);
    if (b->spreads)
        spread(w, n, y);
    for (size_t i = 0; i < n; i++) /* -0 becomes +0 */
        w->out[i] = 0 + (b->spec->greatest ? -w->out[i] : w->out[i]);
    if (b->spec->difference) {
        GI_CPU(samples_load)(w->in, from, n, src->type);
        for (size_t i = 0; i < n; i++)
            if (!b->hides || (i + 1) % channels) /* keep() reads what is in place of alpha */
                w->out[i] = w->in[i] - w->out[i];
    }
    GI_CPU(samples_store)(to, w->out, n, src->type);
    if (gi_has_alpha(src) && !b->spec->alpha_too)
        keep(w, to, from, n);
}

static void nonflat_tile(void *arg, int index, void *scratch)
{
    const struct nonflat *b = arg;
    struct nonflat_worker w = {0};
    lay_out(&w, b, scratch);
    w.tile = GI_CPU(tile)(&b->tiling, b->src, index);
    int last = b->top + b->rows - 1;
    for (long long y = (long long)w.tile.y0 + b->top; y < (long long)w.tile.y0 + last; y++)
        load(&w, y);
    for (int y = w.tile.y0; y < w.tile.y1; y++) {
        load(&w, (long long)y + last);
        make_row(&w, y);
    }
}

static enum gi_status ring(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           const struct gi_nonflat *spec, struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct nonflat b = {.dst = dst, .src = src, .spec = spec, .top = spec->runs[0].y};
    struct nonflat_worker w = {0};
    b.rows = spec->runs[spec->nruns - 1].y - b.top + 1;
    b.hides = gi_nonflat_hides(spec, src);
    b.spreads = src->type == GI_F32 && !spec->ignore_nan;
    for (int i = 0; i < spec->nruns; i++) {
        b.left = -spec->runs[i].first > b.left ? -spec->runs[i].first : b.left;
        b.right = spec->runs[i].last > b.right ? spec->runs[i].last : b.right;
    }
    b.tiling = GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP, b.rows - 1);
    b.pitch = ((size_t)(b.tiling.strip + b.left + b.right) * (size_t)src->channels + 2 * BLOCK) /
              BLOCK * BLOCK;
    return gi_pool_run(pool, b.tiling.nstrips * b.tiling.nbands, nonflat_tile, &b,
                       lay_out(&w, &b, NULL), err);
}

GI_CPU_ONE_WAY(nonflat, "ring", ring);
