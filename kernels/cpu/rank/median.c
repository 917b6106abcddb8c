/* Median and rank filters for windows of any size and shape, by Huang's sliding histogram: the
 * window moves across a tile in alternating directions, and each step of one pixel updates its
 * histogram by 2 k samples. The search for the rank starts at the previous result and skips whole
 * blocks of bins. Floats are replaced by their rank among the tile's values. Ignored samples have a
 * bin after all others.
 *
 * T. Huang, G. Yang, G. Tang, "A fast two-dimensional median filtering algorithm", IEEE TASSP
 * 27(1), 1979.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/rank/median.h"
#include "kernels/rank.h"

enum {
    SIDE = 256, /* side of a tile, pixels */
    BLOCK = 256 /* bins that share a coarse counter */
};

struct sliding {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_median *spec;
    int width, height; /* pixels of a tile; of its samples with the halo of the window */
    int across;        /* tiles per row of tiles */
    size_t nbins, samples;
    bool hides; /* some samples are ignored */
};

struct worker {
    const struct sliding *s;
    struct gi_tile tile;
    int nx, ny;         /* pixels of the tile with its halo */
    char *row;          /* a row of them, all channels */
    uint32_t *bins;     /* bin of each sample of a channel, nx * ny; s->nbins: ignored */
    uint64_t *pairs[2]; /* GI_F32: keys with their positions, in two buffers for sorting */
    uint32_t *values;   /* GI_F32: the key of each bin */
    uint32_t *fine;     /* samples of the window per bin */
    uint32_t *coarse;   /* samples of the window per BLOCK of bins */
    uint32_t at, below; /* bin of the median; number of samples in lower bins */
    int pixels;         /* samples of the window */
};

enum { NO_FLOAT = 0 /* a key that no float has */ };

static size_t round_up(size_t nbytes)
{
    return (nbytes + 63) / 64 * 64;
}

/* Returns the size of the scratch memory in bytes; if `scratch` is given, divides it among the
 * buffers. */
static size_t lay_out(struct worker *w, const struct sliding *s, char *scratch)
{
    size_t row =
        round_up((size_t)s->width * (size_t)s->src->channels * gi_type_nbytes(s->src->type));
    size_t n = round_up(s->samples * 4), keyed = s->src->type == GI_F32 ? n : 0;
    size_t fine = round_up((s->nbins + 1) * 4), coarse = round_up((s->nbins / BLOCK + 1) * 4);
    w->s = s;
    if (scratch) {
        w->row = scratch;
        w->bins = (uint32_t *)(void *)(scratch += row);
        w->pairs[0] = (uint64_t *)(void *)(scratch += n);
        w->pairs[1] = (uint64_t *)(void *)(scratch += 2 * keyed);
        w->values = (uint32_t *)(void *)(scratch += 2 * keyed);
        w->fine = (uint32_t *)(void *)(scratch += keyed);
        w->coarse = (uint32_t *)(void *)(scratch + fine);
    }
    return row + n + 5 * keyed + fine + coarse;
}

/* Replaces the n keys in `bins` by their ranks in ascending order; equal keys have one rank. Sorts
 * the keys by LSD radix sort, one byte per pass. */
static void number(struct worker *w, size_t n)
{
    uint64_t *from = w->pairs[0], *to = w->pairs[1];
    for (size_t i = 0; i < n; i++)
        from[i] = (uint64_t)w->bins[i] << 32 | i;
    for (int shift = 32; shift < 64; shift += 8) {
        size_t starts[257] = {0};
        for (size_t i = 0; i < n; i++)
            starts[(from[i] >> shift & 255) + 1]++;
        for (int i = 0; i < 256; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < n; i++)
            to[starts[from[i] >> shift & 255]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    uint32_t bin = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t key = (uint32_t)(from[i] >> 32);
        bin += i && key != w->values[bin];
        w->values[bin] = key;
        w->bins[(uint32_t)from[i]] = key == NO_FLOAT ? (uint32_t)w->s->nbins : bin;
    }
}

/* Returns channel c of a pixel of a row as a bin, or as a key for floats. For an ignored sample
 * this is the bin after all others, or NO_FLOAT. */
static uint32_t bin_of(const struct sliding *s, const void *row, size_t pixel, int c)
{
    enum gi_type type = s->src->type;
    size_t first = pixel * (size_t)s->src->channels, i = first + (size_t)c;
    if (s->hides && !(gi_sample(row, first + (size_t)s->src->channels - 1, type) > 0))
        return type == GI_F32 ? NO_FLOAT : (uint32_t)s->nbins;
    if (type == GI_F32)
        return median_key(((const uint32_t *)row)[i]);
    return type == GI_U8 ? ((const uint8_t *)row)[i] : ((const uint16_t *)row)[i];
}

/* Loads the bins of channel c of the tile and its halo. */
static void load(struct worker *w, int c)
{
    const struct sliding *s = w->s;
    int left = s->spec->width / 2, above = s->spec->height / 2;
    for (int y = 0; y < w->ny; y++) {
        uint32_t *bins = w->bins + (size_t)y * (size_t)w->nx;
        GI_CPU(row_copy)
        (w->row, s->src, &s->spec->border, (long long)w->tile.y0 - above + y,
         (long long)w->tile.x0 - left, (size_t)w->nx);
        for (int x = 0; x < w->nx; x++)
            bins[x] = bin_of(s, w->row, (size_t)x, c);
    }
    if (s->src->type == GI_F32)
        number(w, (size_t)w->nx * (size_t)w->ny);
}

/* Adds n samples that are `step` apart to the histogram, or removes them (`in` is false). */
static inline void move(struct worker *w, const uint32_t *bins, int n, size_t step, bool in)
{
    uint32_t one = in ? 1 : UINT32_MAX, at = w->at, below = w->below;
    for (int i = 0; i < n; i++, bins += step) {
        w->fine[*bins] += one;
        w->coarse[*bins / BLOCK] += one;
        below += *bins < at ? one : 0;
    }
    w->below = below;
}

/* Returns the bin with the sample of the wanted rank; nbins if all samples are ignored. */
static uint32_t find(struct worker *w)
{
    const struct gi_median *spec = w->s->spec;
    uint32_t rank = (uint32_t)spec->rank;
    uint32_t at = w->at, below = w->below;
    if (w->s->hides) {
        int n = w->pixels - (int)w->fine[w->s->nbins];
        if (!n)
            return (uint32_t)w->s->nbins;
        rank = (uint32_t)gi_rank_place(spec->percent, n);
    }
    while (below > rank) {
        if (at % BLOCK == 0 && below - w->coarse[at / BLOCK - 1] > rank)
            below -= w->coarse[(at -= BLOCK) / BLOCK];
        else
            below -= w->fine[--at];
    }
    while (below + w->fine[at] <= rank) {
        if (at % BLOCK == 0 && below + w->coarse[at / BLOCK] <= rank) {
            below += w->coarse[at / BLOCK];
            at += BLOCK;
        } else {
            below += w->fine[at++];
        }
    }
    w->at = at;
    w->below = below;
    return at;
}

static void store(const struct worker *w, int x, int y, int c, uint32_t bin)
{
    const struct gi_image *dst = w->s->dst;
    size_t i = (size_t)x * (size_t)dst->channels + (size_t)c, nbytes = gi_type_nbytes(dst->type);
    if (bin == w->s->nbins)
        memcpy((char *)gi_row(dst, y) + i * nbytes, (const char *)gi_row(w->s->src, y) + i * nbytes,
               nbytes);
    else if (dst->type == GI_U8)
        ((uint8_t *)gi_row(dst, y))[i] = (uint8_t)bin;
    else if (dst->type == GI_U16)
        ((uint16_t *)gi_row(dst, y))[i] = (uint16_t)bin;
    else
        ((uint32_t *)gi_row(dst, y))[i] = median_bits(w->values[bin]);
}

/* Adds or removes all samples of a window of any shape, whose centre is at `middle`. */
static void move_runs(struct worker *w, const uint32_t *middle, bool in)
{
    const struct gi_median *spec = w->s->spec;
    for (int i = 0; i < spec->nruns; i++) {
        const struct gi_footprint_run *run = &spec->runs[i];
        move(w, middle + run->y * (ptrdiff_t)w->nx + run->first, run->last - run->first + 1, 1, in);
    }
}

/* For windows of any shape. A step to the right adds and removes the ends of the window's runs;
 * each row begins with a new histogram. */
static void slide_runs(struct worker *w, int c)
{
    const struct gi_median *spec = w->s->spec;
    int width = w->tile.x1 - w->tile.x0, height = w->tile.y1 - w->tile.y0;
    for (int y = 0; y < height; y++) {
        const uint32_t *middle =
            w->bins + (size_t)(y + spec->height / 2) * (size_t)w->nx + spec->width / 2;
        move_runs(w, middle, true);
        for (int x = 0; x < width; x++, middle++) {
            for (int i = 0; x && i < spec->nruns; i++) {
                const struct gi_footprint_run *run = &spec->runs[i];
                const uint32_t *row = middle + run->y * (ptrdiff_t)w->nx;
                move(w, row + run->first - 1, 1, 1, false);
                move(w, row + run->last, 1, 1, true);
            }
            store(w, w->tile.x0 + x, w->tile.y0 + y, c, find(w));
        }
        move_runs(w, middle - 1, false);
    }
}

/* Moves the window to the right in even rows and to the left in odd ones. */
static void slide(struct worker *w, int c)
{
    int across = w->s->spec->width, down = w->s->spec->height, x = 0;
    int width = w->tile.x1 - w->tile.x0, height = w->tile.y1 - w->tile.y0;
    size_t stride = (size_t)w->nx;
    for (int j = 0; j < down; j++)
        move(w, w->bins + (size_t)j * stride, across, 1, true);
    for (int y = 0; y < height; y++) {
        const uint32_t *row = w->bins + (size_t)y * stride;
        for (int i = 0; i < width; i++) {
            if (i && y % 2 == 0) {
                move(w, row + x, down, stride, false);
                move(w, row + across + x++, down, stride, true);
            } else if (i) {
                move(w, row + across - 1 + x--, down, stride, false);
                move(w, row + x, down, stride, true);
            }
            store(w, w->tile.x0 + x, w->tile.y0 + y, c, find(w));
        }
        if (y + 1 < height) {
            move(w, row + x, across, 1, false);
            move(w, row + (size_t)down * stride + x, across, 1, true);
        }
    }
}

static int less(int a, int b)
{
    return a < b ? a : b;
}

static void sliding_tile(void *arg, int index, void *scratch)
{
    const struct sliding *s = arg;
    struct worker w = {0};
    lay_out(&w, s, scratch);
    int x0 = index % s->across * SIDE, y0 = index / s->across * SIDE;
    w.tile =
        (struct gi_tile){x0, less(x0 + SIDE, s->src->width), y0, less(y0 + SIDE, s->src->height)};
    w.nx = w.tile.x1 - x0 + s->spec->width - 1;
    w.ny = w.tile.y1 - y0 + s->spec->height - 1;
    w.pixels = gi_footprint_pixels(s->spec->runs, s->spec->nruns);
    bool keep = gi_has_alpha(s->src) && !s->spec->alpha_too;
    for (int c = 0; c < s->src->channels - keep; c++) {
        load(&w, c);
        memset(w.fine, 0, (s->nbins + 1) * 4);
        memset(w.coarse, 0, (s->nbins / BLOCK + 1) * 4);
        w.at = w.below = 0;
        (s->spec->runs ? slide_runs : slide)(&w, c);
    }
    for (int y = w.tile.y0; keep && y < w.tile.y1; y++)
        median_keep_alpha(s->dst, s->src, &w.tile, y);
}

static enum gi_status sliding(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_median *spec,
                              struct gi_err *err)
{
    struct sliding s = {.dst = dst, .src = src, .spec = spec, .hides = gi_median_hides(spec, src)};
    struct worker w = {0};
    s.width = less(src->width, SIDE) + spec->width - 1;
    s.height = less(src->height, SIDE) + spec->height - 1;
    s.samples = (size_t)s.width * (size_t)s.height;
    s.nbins = src->type == GI_U8 ? 256 : src->type == GI_U16 ? 65536 : s.samples;
    s.across = (src->width - 1) / SIDE + 1;
    return gi_pool_run(gi_cpu_pool(queue), s.across * ((src->height - 1) / SIDE + 1), sliding_tile,
                       &s, lay_out(&w, &s, NULL), err);
}

const struct gi_median_way GI_CPU(median_ways)[GI_WAYS_MAX] = {
    {{"network", "medians, k 3 and 5"}, GI_CPU(median_network_takes), GI_CPU(median_network)},
    {{"columns", "8 bits, to 65535 samples"}, GI_CPU(median_columns_takes), GI_CPU(median_columns)},
    {{"sliding", "everything"}, NULL, sliding},
};
