/* Rank and mode filters by Huang's sliding histogram: the window moves across a tile in alternating
 * directions, and each step of one pixel updates its histogram by 2 k samples. Each filter defines
 * its counters, the functions that add and remove samples, and the search for the result.
 *
 * T. Huang, G. Yang, G. Tang, "A fast two-dimensional median filtering algorithm", IEEE TASSP
 * 27(1), 1979.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/rank/median.h"
#include "kernels/rank.h"

enum { SLIDING_SIDE = 256 /* side of a tile, pixels */ };

struct sliding {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_median *spec;
    int width, height; /* pixels of the largest tile with its halo */
    int across;        /* tiles per row of tiles */
    size_t samples;    /* width * height */
    size_t nbins;      /* 256, 65536 or, for floats, `samples`; ignored samples have bin nbins */
    bool hides;        /* some samples are ignored */
};

/* A tile in progress, the first member of a filter's state. */
struct sliding_tile {
    const struct sliding *s;
    struct gi_tile tile;
    int nx, ny;     /* pixels of the tile with its halo */
    char *row;      /* a row of the tile with its halo, all channels */
    uint32_t *bins; /* bin of each sample of a channel, nx * ny */
    int pixels;     /* samples of the window */
};

enum { SLIDING_NO_FLOAT = 0 /* a key that no float has */ };

/* The functions of a filter; all of them are inlined. */
struct sliding_filter {
    void (*begin)(struct sliding_tile *t); /* clears the histogram; replaces the keys of floats,
                                              which are in `bins`, by bins */
    /* Add n samples that are `step` apart to the histogram, or remove them from it. */
    void (*enter)(struct sliding_tile *t, const uint32_t *bins, int n, size_t step);
    void (*leave)(struct sliding_tile *t, const uint32_t *bins, int n, size_t step);
    size_t (*find)(struct sliding_tile *t); /* returns the bin of the result, or nbins if the pixel
                                               keeps its sample */
    uint32_t (*bits)(const struct sliding_tile *t, size_t bin); /* the float of a bin */
};

static inline int sliding_less(int a, int b)
{
    return a < b ? a : b;
}

static inline size_t sliding_round_up(size_t nbytes)
{
    return (nbytes + 63) / 64 * 64;
}

static inline struct sliding sliding_of(struct gi_image *dst, const struct gi_image *src,
                                        const struct gi_median *spec)
{
    struct sliding s = {.dst = dst, .src = src, .spec = spec, .hides = gi_median_hides(spec, src)};
    s.width = sliding_less(src->width, SLIDING_SIDE) + spec->width - 1;
    s.height = sliding_less(src->height, SLIDING_SIDE) + spec->height - 1;
    s.samples = (size_t)s.width * (size_t)s.height;
    s.nbins = src->type == GI_U8 ? 256 : src->type == GI_U16 ? 65536 : s.samples;
    s.across = (src->width - 1) / SLIDING_SIDE + 1;
    return s;
}

static inline int sliding_ntiles(const struct sliding *s)
{
    return s->across * ((s->src->height - 1) / SLIDING_SIDE + 1);
}

/* Returns the size of the row and the bins in bytes. If `scratch` is not NULL, puts both at its
 * start. */
static inline size_t sliding_lay_out(struct sliding_tile *t, const struct sliding *s, char *scratch)
{
    size_t row = sliding_round_up((size_t)s->width * (size_t)s->src->channels *
                                  gi_type_nbytes(s->src->type));
    t->s = s;
    if (scratch) {
        t->row = scratch;
        t->bins = (uint32_t *)(void *)(scratch + row);
    }
    return row + sliding_round_up(s->samples * sizeof *t->bins);
}

/* Returns channel c of a pixel of a row as a bin, or as a key for floats. For an ignored sample,
 * returns nbins, or SLIDING_NO_FLOAT for floats. */
static inline uint32_t sliding_bin(const struct sliding *s, const void *row, size_t pixel, int c)
{
    enum gi_type type = s->src->type;
    size_t first = pixel * (size_t)s->src->channels, i = first + (size_t)c;
    if (s->hides && !(gi_sample(row, first + (size_t)s->src->channels - 1, type) > 0))
        return type == GI_F32 ? SLIDING_NO_FLOAT : (uint32_t)s->nbins;
    if (type == GI_F32)
        return median_key(((const uint32_t *)row)[i]);
    return type == GI_U8 ? ((const uint8_t *)row)[i] : ((const uint16_t *)row)[i];
}

/* Loads the bins of channel c of the tile and its halo. */
static void sliding_load(struct sliding_tile *t, int c)
{
    const struct sliding *s = t->s;
    int left = s->spec->width / 2, above = s->spec->height / 2;
    for (int y = 0; y < t->ny; y++) {
        uint32_t *bins = t->bins + (size_t)y * (size_t)t->nx;
        GI_CPU(row_copy)
        (t->row, s->src, &s->spec->border, (long long)t->tile.y0 - above + y,
         (long long)t->tile.x0 - left, (size_t)t->nx);
        for (int x = 0; x < t->nx; x++)
            bins[x] = sliding_bin(s, t->row, (size_t)x, c);
    }
}

static inline __attribute__((always_inline)) void
sliding_store(struct sliding_tile *t, const struct sliding_filter *filter, int x, int y, int c)
{
    const struct gi_image *dst = t->s->dst;
    size_t bin = filter->find(t);
    x += t->tile.x0;
    y += t->tile.y0;
    size_t i = (size_t)x * (size_t)dst->channels + (size_t)c, nbytes = gi_type_nbytes(dst->type);
    if (bin == t->s->nbins)
        memcpy((char *)gi_row(dst, y) + i * nbytes, (const char *)gi_row(t->s->src, y) + i * nbytes,
               nbytes);
    else if (dst->type == GI_U8)
        ((uint8_t *)gi_row(dst, y))[i] = (uint8_t)bin;
    else if (dst->type == GI_U16)
        ((uint16_t *)gi_row(dst, y))[i] = (uint16_t)bin;
    else
        ((uint32_t *)gi_row(dst, y))[i] = filter->bits(t, bin);
}

/* Adds or removes all samples of a window of any shape, whose centre is at `middle`. */
static inline __attribute__((always_inline)) void
sliding_move_runs(struct sliding_tile *t, const uint32_t *middle,
                  void (*move)(struct sliding_tile *, const uint32_t *, int, size_t))
{
    const struct gi_median *spec = t->s->spec;
    for (int i = 0; i < spec->nruns; i++) {
        const struct gi_footprint_run *run = &spec->runs[i];
        move(t, middle + run->y * (ptrdiff_t)t->nx + run->first, run->last - run->first + 1, 1);
    }
}

/* Moves a window of any shape. A step to the right adds and removes the ends of the window's runs.
 * Each row begins with a new histogram. */
static inline __attribute__((always_inline)) void
sliding_runs(struct sliding_tile *t, const struct sliding_filter *filter, int c)
{
    const struct gi_median *spec = t->s->spec;
    int width = t->tile.x1 - t->tile.x0, height = t->tile.y1 - t->tile.y0;
    for (int y = 0; y < height; y++) {
        const uint32_t *middle =
            t->bins + (size_t)(y + spec->height / 2) * (size_t)t->nx + spec->width / 2;
        sliding_move_runs(t, middle, filter->enter);
        for (int x = 0; x < width; x++, middle++) {
            for (int i = 0; x && i < spec->nruns; i++) {
                const struct gi_footprint_run *run = &spec->runs[i];
                const uint32_t *row = middle + run->y * (ptrdiff_t)t->nx;
                filter->leave(t, row + run->first - 1, 1, 1);
                filter->enter(t, row + run->last, 1, 1);
            }
            sliding_store(t, filter, x, y, c);
        }
        sliding_move_runs(t, middle - 1, filter->leave);
    }
}

/* Moves a rectangle, to the right in even rows and to the left in odd rows. */
static inline __attribute__((always_inline)) void
sliding_rectangle(struct sliding_tile *t, const struct sliding_filter *filter, int c)
{
    int across = t->s->spec->width, down = t->s->spec->height, x = 0;
    int width = t->tile.x1 - t->tile.x0, height = t->tile.y1 - t->tile.y0;
    size_t stride = (size_t)t->nx;
    for (int j = 0; j < down; j++)
        filter->enter(t, t->bins + (size_t)j * stride, across, 1);
    for (int y = 0; y < height; y++) {
        const uint32_t *row = t->bins + (size_t)y * stride;
        for (int i = 0; i < width; i++) {
            if (i && y % 2 == 0) {
                filter->leave(t, row + x, down, stride);
                filter->enter(t, row + across + x++, down, stride);
            } else if (i) {
                filter->leave(t, row + across - 1 + x--, down, stride);
                filter->enter(t, row + x, down, stride);
            }
            sliding_store(t, filter, x, y, c);
        }
        if (y + 1 < height) {
            filter->leave(t, row + x, across, 1);
            filter->enter(t, row + (size_t)down * stride + x, across, 1);
        }
    }
}

/* Filters the tile whose index is given. Its memory has been laid out. */
static inline __attribute__((always_inline)) void
sliding_filter_tile(struct sliding_tile *t, const struct sliding_filter *filter, int index)
{
    const struct sliding *s = t->s;
    int x0 = index % s->across * SLIDING_SIDE, y0 = index / s->across * SLIDING_SIDE;
    t->tile = (struct gi_tile){x0, sliding_less(x0 + SLIDING_SIDE, s->src->width), y0,
                               sliding_less(y0 + SLIDING_SIDE, s->src->height)};
    t->nx = t->tile.x1 - x0 + s->spec->width - 1;
    t->ny = t->tile.y1 - y0 + s->spec->height - 1;
    t->pixels = gi_footprint_pixels(s->spec->runs, s->spec->nruns);
    bool keep = gi_has_alpha(s->src) && !s->spec->alpha_too;
    for (int c = 0; c < s->src->channels - keep; c++) {
        sliding_load(t, c);
        filter->begin(t);
        if (s->spec->runs)
            sliding_runs(t, filter, c);
        else
            sliding_rectangle(t, filter, c);
    }
    for (int y = t->tile.y0; keep && y < t->tile.y1; y++)
        median_keep_alpha(s->dst, s->src, &t->tile, y);
}
