/* Runs a neighbourhood operation: cuts the image into strips of columns times bands of rows, each
 * with a ring buffer of prepared rows in scratch memory.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/padded_rows.h"

#include <string.h>

enum {
    RING_NBYTES = 384 << 10, /* bytes of a core's L2 cache that a ring buffer may use */
    STRIP_MIN = 128,         /* samples; in narrower strips the cost per row dominates */
    STRIP_MAX = 16384,
    CHUNK = 4096, /* samples: results of a step remain in L1 until the next step */
    F_STRIDE = CHUNK + 16,
    NO_ROW = -2, /* in `held`: the slot is empty */
};

struct sweep_worker {
    const struct gi_sweep *sweep;
    struct gi_tile tile;
    size_t n;   /* samples of a tile's row */
    int nslots; /* slots of the ring buffer: enough for GI_ROWS_AT_ONCE result rows */
    float *ring;
    size_t slot_floats; /* from one slot to the next */
    size_t lead;        /* floats before the row of a slot in the ring buffer */
    float *padded;
    float *f;           /* GI_ROWS_AT_ONCE rows of a chunk, F_STRIDE floats apart */
    int *held;          /* nslots: source row that the slot was made from */
    const float **rows; /* nslots: slots in the order of the window's rows */
};

static size_t round_up(size_t n)
{
    return (n + 15) / 16 * 16;
}

static int min_int(long long a, long long b)
{
    return (int)(a < b ? a : b);
}

struct gi_tiling GI_CPU(tiling)(const struct gi_image *image, int threads, size_t max_strip,
                                int overlap)
{
    struct gi_tiling t;
    size_t width = (size_t)image->width;
    size_t nstrips = (width + max_strip - 1) / max_strip;
    t.strip = (int)((width + nstrips - 1) / nstrips);
    t.nstrips = (int)((width + (size_t)t.strip - 1) / (size_t)t.strip);
    int want = threads < 2 ? 1 : 4 * threads / t.nstrips + 1;
    int cheap = min_int(image->height / (2LL * overlap + 1), want);
    int least = min_int((threads + t.nstrips - 1) / t.nstrips, image->height);
    int nbands = cheap > least ? cheap : least;
    t.band = (image->height + nbands - 1) / nbands;
    t.nbands = (image->height + t.band - 1) / t.band;
    return t;
}

struct gi_tile GI_CPU(tile)(const struct gi_tiling *t, const struct gi_image *image, int index)
{
    int x0 = index % t->nstrips * t->strip, y0 = index / t->nstrips * t->band;
    return (struct gi_tile){.x0 = x0,
                            .x1 = min_int((long long)x0 + t->strip, image->width),
                            .y0 = y0,
                            .y1 = min_int((long long)y0 + t->band, image->height)};
}

/* Prefetches, because the hardware prefetcher loses track between rows. */
void GI_CPU(row_prefetch)(const struct gi_image *image, const struct gi_tile *tile, long long y,
                          bool to_write)
{
    if (y < 0 || y >= image->height)
        return;
    size_t pixel = gi_type_nbytes(image->type) * (size_t)image->channels;
    const char *row = gi_row(image, (int)y);
    for (size_t i = (size_t)tile->x0 * pixel; i < (size_t)tile->x1 * pixel; i += 64)
        if (to_write)
            __builtin_prefetch(row + i, 1);
        else
            __builtin_prefetch(row + i);
}

/* Returns how many floats are left free before a padded row. The tile's own pixels, which are most
 * of the row, then begin at a multiple of 64 bytes. */
static size_t lead_floats(const struct gi_sweep *sweep)
{
    return (16 - (size_t)sweep->left * (size_t)sweep->src->channels % 16) % 16;
}

/* Return the number of floats of a padded row, and of a slot of a strip, with 64 bytes of slack. */
static size_t padded_floats(const struct gi_sweep *sweep)
{
    size_t pixels = (size_t)sweep->tiling.strip + (size_t)sweep->left + (size_t)sweep->right;
    return round_up(lead_floats(sweep) + pixels * (size_t)sweep->src->channels) + 16;
}

size_t GI_CPU(sweep_plane)(const struct gi_sweep *sweep)
{
    return round_up((size_t)sweep->tiling.strip * (size_t)sweep->src->channels) + 16;
}

static size_t slot_floats(const struct gi_sweep *sweep)
{
    return sweep->planes ? (size_t)sweep->planes * GI_CPU(sweep_plane)(sweep)
                         : padded_floats(sweep);
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct sweep_worker *w, const struct gi_sweep *sweep, char *scratch)
{
    size_t nslots = (size_t)sweep->nrows + GI_ROWS_AT_ONCE - 1;
    size_t padded = padded_floats(sweep) * sizeof(float);
    size_t f = GI_ROWS_AT_ONCE * F_STRIDE * sizeof(float);
    size_t rows = round_up(nslots) * sizeof(float *), held = round_up(nslots) * sizeof(int);
    w->sweep = sweep;
    w->nslots = (int)nslots;
    w->slot_floats = slot_floats(sweep);
    w->lead = sweep->planes ? 0 : lead_floats(sweep);
    if (scratch) {
        w->padded = (float *)scratch + lead_floats(sweep);
        w->f = (float *)(scratch + padded);
        w->rows = (const float **)(scratch + padded + f);
        w->held = (int *)(scratch + padded + f + rows);
        w->ring = (float *)(scratch + padded + f + rows + held);
    }
    return padded + f + rows + held + nslots * w->slot_floats * sizeof(float);
}

static float *slot_at(const struct sweep_worker *w, int slot)
{
    return w->ring + w->lead + (size_t)slot * w->slot_floats;
}

/* Returns the number of samples of the chunk that begins at sample i. A chunk has whole pixels and,
 * except the last chunk, a multiple of 64 samples. */
static size_t chunk_at(const struct sweep_worker *w, size_t i)
{
    size_t channels = (size_t)w->sweep->src->channels;
    size_t most = CHUNK / channels / 64 * 64 * channels;
    return w->n - i < most ? w->n - i : most;
}

/* Fills the slot of the row at position p. If p is outside the image, the source row that is used
 * instead is often still in the ring buffer. */
static void fill_slot(struct sweep_worker *w, long long p, int slot)
{
    const struct gi_sweep *sweep = w->sweep;
    int y = gi_border_index(p, sweep->src->height, sweep->border->mode);
    float *out = slot_at(w, slot);
    if (y != p)
        for (int i = 0; i < w->nslots; i++)
            if (w->held[i] == y) {
                if (i != slot)
                    memcpy(out, slot_at(w, i), (w->slot_floats - w->lead) * sizeof(float));
                w->held[slot] = y;
                return;
            }
    size_t channels = (size_t)sweep->src->channels, around = (size_t)(sweep->left + sweep->right);
    long long x0 = (long long)w->tile.x0 - sweep->left;
    if (sweep->planes == 0)
        GI_CPU(row_load)(sweep, out, y, x0, w->n / channels + around);
    for (size_t i = 0, n; sweep->planes && i < w->n; i += n) {
        n = chunk_at(w, i);
        GI_CPU(row_load)
        (sweep, w->padded, y, x0 + (long long)(i / channels), n / channels + around);
        sweep->make(sweep, out + i, w->padded, n);
    }
    w->held[slot] = y;
}

/* Returns the slot of the row that is `ahead` rows after the first row of the window. */
static int slot_after(const struct sweep_worker *w, int oldest, int ahead)
{
    int slot = oldest + ahead;
    return slot < w->nslots ? slot : slot - w->nslots;
}

/* Computes result rows y to y + nout - 1 from the `nrows` slots in w->rows, and advances w->rows.
 */
static void finish_rows(struct sweep_worker *w, int y, int nout, int nrows)
{
    const struct gi_sweep *sweep = w->sweep;
    int channels = sweep->src->channels;
    for (size_t x = 0, n; x < w->n; x += n) {
        n = chunk_at(w, x);
        sweep->filter_rows(sweep, w->f, F_STRIDE, nout, w->rows, n);
        for (int r = 0; r < nout; r++)
            GI_CPU(row_finish)
        (sweep, w->f + r * F_STRIDE, y + r, w->tile.x0 + (int)x / channels, n);
        for (int i = 0; i < nrows; i++)
            w->rows[i] += n;
    }
}

static void sweep_tile(void *arg, int index, void *scratch)
{
    const struct gi_sweep *sweep = arg;
    struct sweep_worker w = {0};
    lay_out(&w, sweep, scratch);
    w.tile = GI_CPU(tile)(&sweep->tiling, sweep->src, index);
    w.n = (size_t)(w.tile.x1 - w.tile.x0) * (size_t)sweep->src->channels;
    for (int i = 0; i < w.nslots; i++)
        w.held[i] = NO_ROW;
    long long top = (long long)w.tile.y0 - sweep->above; /* the window's first row */
    for (int i = 0; i < sweep->nrows - 1; i++)
        fill_slot(&w, top + i, i);
    int oldest = 0, nout; /* the slot of the window's first row */
    for (int y = w.tile.y0; y < w.tile.y1; y += nout, top += nout) {
        nout = w.tile.y1 - y < GI_ROWS_AT_ONCE ? 1 : GI_ROWS_AT_ONCE;
        int nrows = sweep->nrows + nout - 1;
        for (int i = sweep->nrows - 1; i < nrows; i++) {
            GI_CPU(row_prefetch)(sweep->src, &w.tile, top + i + nout, false);
            GI_CPU(row_prefetch)(sweep->dst, &w.tile, (long long)y + i - sweep->nrows + 1, true);
            fill_slot(&w, top + i, slot_after(&w, oldest, i));
        }
        for (int i = 0; i < nrows; i++)
            w.rows[i] = slot_at(&w, slot_after(&w, oldest, i));
        finish_rows(&w, y, nout, nrows);
        oldest = slot_after(&w, oldest, nout);
    }
}

enum gi_status GI_CPU(sweep)(struct gi_queue *queue, struct gi_sweep *sweep, struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    size_t channels = (size_t)sweep->src->channels;
    size_t planes = sweep->planes ? (size_t)sweep->planes : 1;
    size_t samples = RING_NBYTES / sizeof(float) / ((size_t)sweep->nrows * planes);
    samples = samples < STRIP_MIN ? STRIP_MIN : samples > STRIP_MAX ? STRIP_MAX : samples;
    sweep->tiling =
        GI_CPU(tiling)(sweep->src, gi_pool_threads(pool), samples / channels, sweep->nrows - 1);
    struct sweep_worker w = {0};
    return gi_pool_run(pool, sweep->tiling.nstrips * sweep->tiling.nbands, sweep_tile, sweep,
                       lay_out(&w, sweep, NULL), err);
}
