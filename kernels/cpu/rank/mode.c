/* Mode filter: the most frequent sample of a window. The window moves across a tile in alternating
 * directions, and each step of one pixel updates its histogram by 2 k samples. Each block of bins
 * has an upper bound of its counters; a block is searched again only if its bound could decide the
 * result. Ignored samples have a bin after all others, in a block that is never searched.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/rank/median.h"
#include "kernels/rank.h"

enum { SIDE = 256 /* of a tile, pixels */, BLOCKS_MAX = 256 };

struct mode {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_median *spec;
    int width, height;  /* pixels of a tile; of its samples with the halo of the window */
    int across;         /* tiles per row of tiles */
    int block, nblocks; /* bins per block; number of blocks */
    bool hides;         /* some samples are ignored */
};

struct worker {
    const struct mode *m;
    struct gi_tile tile;
    int nx, ny;       /* pixels of the tile with its halo */
    char *row;        /* a row of them, all channels */
    uint32_t *values; /* values of a channel, nx * ny; block * nblocks: ignored */
    uint32_t *counts; /* samples of the window per bin */
    uint32_t most[BLOCKS_MAX + 1];
    bool stale[BLOCKS_MAX + 1]; /* `most` may exceed the maximum of the block */
    int pixels;                 /* samples of the window */
};

static size_t round_up(size_t nbytes)
{
    return (nbytes + 63) / 64 * 64;
}

static size_t counters(const struct mode *m)
{
    return (size_t)(m->block * m->nblocks) + 1;
}

/* Returns the size of the scratch memory in bytes; if `scratch` is given, divides it among the
 * buffers. */
static size_t lay_out(struct worker *w, const struct mode *m, char *scratch)
{
    size_t row =
        round_up((size_t)m->width * gi_type_nbytes(m->src->type) * (size_t)m->src->channels);
    size_t values = round_up((size_t)m->width * (size_t)m->height * sizeof *w->values);
    w->m = m;
    if (scratch) {
        w->row = scratch;
        w->values = (uint32_t *)(void *)(scratch + row);
        w->counts = (uint32_t *)(void *)(scratch + row + values);
    }
    return row + values + counters(m) * sizeof *w->counts;
}

/* Loads the samples of channel c of the tile and its halo. */
static void load(struct worker *w, int c)
{
    const struct mode *m = w->m;
    size_t channels = (size_t)m->src->channels;
    for (int y = 0; y < w->ny; y++) {
        uint32_t *values = w->values + (size_t)y * (size_t)w->nx;
        GI_CPU(row_copy)
        (w->row, m->src, &m->spec->border, (long long)w->tile.y0 - m->spec->height / 2 + y,
         (long long)w->tile.x0 - m->spec->width / 2, (size_t)w->nx);
        for (int x = 0; x < w->nx; x++) {
            size_t i = (size_t)x * channels + (size_t)c,
                   alpha = (size_t)x * channels + channels - 1;
            values[x] =
                m->src->type == GI_U8 ? ((uint8_t *)w->row)[i] : ((uint16_t *)(void *)w->row)[i];
            if (m->hides && !(gi_sample(w->row, alpha, m->src->type) > 0))
                values[x] = (uint32_t)counters(m) - 1;
        }
    }
}

/* Adds n samples that are `step` apart to the histogram. */
static void enter(struct worker *w, const uint32_t *values, int n, size_t step)
{
    for (int i = 0; i < n; i++, values += step) {
        uint32_t count = ++w->counts[*values];
        int block = (int)*values / w->m->block;
        if (count > w->most[block]) {
            w->most[block] = count;
            w->stale[block] = false;
        }
    }
}

/* Removes n samples that are `step` apart from the histogram. */
static void leave(struct worker *w, const uint32_t *values, int n, size_t step)
{
    for (int i = 0; i < n; i++, values += step) {
        int block = (int)*values / w->m->block;
        w->stale[block] |= w->counts[*values]-- == w->most[block];
    }
}

static uint32_t greatest(const uint32_t *v, int n)
{
    uint32_t most = 0;
    for (int i = 0; i < n; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

static int first_of(const uint32_t *v, uint32_t wanted)
{
    int i = 0;
    while (v[i] != wanted)
        i++;
    return i;
}

/* Returns the most frequent value, or -1 if all samples are ignored. */
static int find(struct worker *w)
{
    int size = w->m->block;
    if (w->m->hides && w->counts[counters(w->m) - 1] == (uint32_t)w->pixels)
        return -1;
    for (;;) {
        uint32_t most = greatest(w->most, w->m->nblocks);
        int block = first_of(w->most, most);
        const uint32_t *counts = w->counts + block * size;
        if (!w->stale[block])
            return block * size + first_of(counts, most);
        w->most[block] = greatest(counts, size);
        w->stale[block] = false;
    }
}

static void store(const struct worker *w, int x, int y, int c, int value)
{
    const struct gi_image *dst = w->m->dst;
    size_t i = (size_t)x * (size_t)dst->channels + (size_t)c;
    if (value < 0)
        value = (int)gi_sample(gi_row(w->m->src, y), i, dst->type);
    if (dst->type == GI_U8)
        ((uint8_t *)gi_row(dst, y))[i] = (uint8_t)value;
    else
        ((uint16_t *)gi_row(dst, y))[i] = (uint16_t)value;
}

/* Adds or removes all samples of a window of any shape, whose centre is at `middle`. */
static void move_runs(struct worker *w, const uint32_t *middle,
                      void (*move)(struct worker *, const uint32_t *, int, size_t))
{
    const struct gi_median *spec = w->m->spec;
    for (int i = 0; i < spec->nruns; i++) {
        const struct gi_footprint_run *run = &spec->runs[i];
        move(w, middle + run->y * (ptrdiff_t)w->nx + run->first, run->last - run->first + 1, 1);
    }
}

/* For windows of any shape. A step to the right adds and removes the ends of the window's runs;
 * each row begins with a new histogram. */
static void slide_runs(struct worker *w, int c)
{
    const struct gi_median *spec = w->m->spec;
    int width = w->tile.x1 - w->tile.x0, height = w->tile.y1 - w->tile.y0;
    for (int y = 0; y < height; y++) {
        const uint32_t *middle =
            w->values + (size_t)(y + spec->height / 2) * (size_t)w->nx + spec->width / 2;
        move_runs(w, middle, enter);
        for (int x = 0; x < width; x++, middle++) {
            for (int i = 0; x && i < spec->nruns; i++) {
                const struct gi_footprint_run *run = &spec->runs[i];
                const uint32_t *row = middle + run->y * (ptrdiff_t)w->nx;
                leave(w, row + run->first - 1, 1, 1);
                enter(w, row + run->last, 1, 1);
            }
            store(w, w->tile.x0 + x, w->tile.y0 + y, c, find(w));
        }
        move_runs(w, middle - 1, leave);
    }
}

/* Moves the window to the right in even rows and to the left in odd ones. */
static void slide(struct worker *w, int c)
{
    int across = w->m->spec->width, down = w->m->spec->height, x = 0;
    int width = w->tile.x1 - w->tile.x0, height = w->tile.y1 - w->tile.y0;
    size_t stride = (size_t)w->nx;
    for (int j = 0; j < down; j++)
        enter(w, w->values + (size_t)j * stride, across, 1);
    for (int y = 0; y < height; y++) {
        const uint32_t *row = w->values + (size_t)y * stride;
        for (int i = 0; i < width; i++) {
            if (i && y % 2 == 0) {
                leave(w, row + x, down, stride);
                enter(w, row + across + x++, down, stride);
            } else if (i) {
                leave(w, row + across - 1 + x--, down, stride);
                enter(w, row + x, down, stride);
            }
            store(w, w->tile.x0 + x, w->tile.y0 + y, c, find(w));
        }
        if (y + 1 < height) {
            leave(w, row + x, across, 1);
            enter(w, row + (size_t)down * stride + x, across, 1);
        }
    }
}

static int less(int a, int b)
{
    return a < b ? a : b;
}

static void mode_tile(void *arg, int index, void *scratch)
{
    const struct mode *m = arg;
    struct worker w = {0};
    lay_out(&w, m, scratch);
    int x0 = index % m->across * SIDE, y0 = index / m->across * SIDE;
    w.tile =
        (struct gi_tile){x0, less(x0 + SIDE, m->src->width), y0, less(y0 + SIDE, m->src->height)};
    w.nx = w.tile.x1 - x0 + m->spec->width - 1;
    w.ny = w.tile.y1 - y0 + m->spec->height - 1;
    w.pixels = gi_footprint_pixels(m->spec->runs, m->spec->nruns);
    bool keep = gi_has_alpha(m->src) && !m->spec->alpha_too;
    for (int c = 0; c < m->src->channels - keep; c++) {
        load(&w, c);
        memset(w.counts, 0, counters(m) * sizeof *w.counts);
        memset(w.most, 0, sizeof w.most);
        memset(w.stale, 0, sizeof w.stale);
        (m->spec->runs ? slide_runs : slide)(&w, c);
    }
    for (int y = w.tile.y0; keep && y < w.tile.y1; y++)
        median_keep_alpha(m->dst, m->src, &w.tile, y);
}

static enum gi_status sliding(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_median *spec,
                              struct gi_err *err)
{
    struct mode m = {.dst = dst, .src = src, .spec = spec, .hides = gi_median_hides(spec, src)};
    struct worker w = {0};
    m.width = less(src->width, SIDE) + spec->width - 1;
    m.height = less(src->height, SIDE) + spec->height - 1;
    m.block = m.nblocks = src->type == GI_U8 ? 16 : 256;
    m.across = (src->width - 1) / SIDE + 1;
    return gi_pool_run(gi_cpu_pool(queue), m.across * ((src->height - 1) / SIDE + 1), mode_tile, &m,
                       lay_out(&w, &m, NULL), err);
}

const struct gi_mode_way GI_CPU(mode_ways)[GI_WAYS_MAX] = {
    {{"sliding", "everything"}, NULL, sliding},
};
