/* Median and rank filters for windows of any size and shape, by a sliding histogram. The search for
 * the rank starts at the previous result and skips whole blocks of bins. Floats are replaced by
 * their rank among the tile's values.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/rank/sliding_histogram.h"

enum { BLOCK = 256 /* bins that share a coarse counter */ };

struct median_worker {
    struct sliding_tile t;
    uint64_t *pairs[2]; /* GI_F32: two buffers for sorting keys with their positions */
    uint32_t *values;   /* GI_F32: the key of each bin */
    uint32_t *fine;     /* samples of the window per bin */
    uint32_t *coarse;   /* samples of the window per BLOCK of bins */
    uint32_t at, below; /* bin of the last result; number of samples in lower bins */
};

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct median_worker *w, const struct sliding *s, char *scratch)
{
    size_t shared = sliding_lay_out(&w->t, s, scratch);
    size_t keyed = s->src->type == GI_F32 ? sliding_round_up(s->samples * 4) : 0;
    size_t fine = sliding_round_up((s->nbins + 1) * 4),
           coarse = sliding_round_up((s->nbins / BLOCK + 1) * 4);
    if (scratch) {
        w->pairs[0] = (uint64_t *)(void *)(scratch += shared);
        w->pairs[1] = (uint64_t *)(void *)(scratch += 2 * keyed);
        w->values = (uint32_t *)(void *)(scratch += 2 * keyed);
        w->fine = (uint32_t *)(void *)(scratch += keyed);
        w->coarse = (uint32_t *)(void *)(scratch + fine);
    }
    return shared + 5 * keyed + fine + coarse;
}

/* Replaces the n keys in `bins` by their ranks in ascending order; equal keys have one rank. Sorts
 * the keys by LSD radix sort, one byte per pass. */
static void number(struct median_worker *w, size_t n)
{
    uint64_t *from = w->pairs[0], *to = w->pairs[1];
    for (size_t i = 0; i < n; i++)
        from[i] = (uint64_t)w->t.bins[i] << 32 | i;
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
        w->t.bins[(uint32_t)from[i]] = key == SLIDING_NO_FLOAT ? (uint32_t)w->t.s->nbins : bin;
    }
}

static void begin(struct sliding_tile *t)
{
    struct median_worker *w = (struct median_worker *)(void *)t;
    if (t->s->src->type == GI_F32)
        number(w, (size_t)t->nx * (size_t)t->ny);
    memset(w->fine, 0, (t->s->nbins + 1) * 4);
    memset(w->coarse, 0, (t->s->nbins / BLOCK + 1) * 4);
    w->at = w->below = 0;
}

static inline void move(struct median_worker *w, const uint32_t *bins, int n, size_t step,
                        uint32_t one)
{
    uint32_t at = w->at, below = w->below;
    for (int i = 0; i < n; i++, bins += step) {
        w->fine[*bins] += one;
        w->coarse[*bins / BLOCK] += one;
        below += *bins < at ? one : 0;
    }
    w->below = below;
}

static void enter(struct sliding_tile *t, const uint32_t *bins, int n, size_t step)
{
    move((struct median_worker *)(void *)t, bins, n, step, 1);
}

static void leave(struct sliding_tile *t, const uint32_t *bins, int n, size_t step)
{
    move((struct median_worker *)(void *)t, bins, n, step, UINT32_MAX);
}

/* Returns the bin that contains the sample of the wanted rank. */
static size_t find(struct sliding_tile *t)
{
    struct median_worker *w = (struct median_worker *)(void *)t;
    const struct gi_median *spec = t->s->spec;
    uint32_t rank = (uint32_t)spec->rank;
    uint32_t at = w->at, below = w->below;
    if (t->s->hides) {
        int n = t->pixels - (int)w->fine[t->s->nbins];
        if (!n)
            return t->s->nbins;
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

static uint32_t bits(const struct sliding_tile *t, size_t bin)
{
    return median_bits(((const struct median_worker *)(const void *)t)->values[bin]);
}

static void sliding_tile(void *arg, int index, void *scratch)
{
    static const struct sliding_filter filter = {begin, enter, leave, find, bits};
    struct median_worker w = {0};
    lay_out(&w, arg, scratch);
    sliding_filter_tile(&w.t, &filter, index);
}

static enum gi_status sliding(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_median *spec,
                              struct gi_err *err)
{
    struct sliding s = sliding_of(dst, src, spec);
    struct median_worker w = {0};
    return gi_pool_run(gi_cpu_pool(queue), sliding_ntiles(&s), sliding_tile, &s,
                       lay_out(&w, &s, NULL), err);
}

const struct gi_median_way GI_CPU(median_ways)[GI_WAYS_MAX] = {
    {{"network", "medians, k 3 and 5"}, GI_CPU(median_network_takes), GI_CPU(median_network)},
    {{"columns", "8 bits, to 65535 samples"}, GI_CPU(median_columns_takes), GI_CPU(median_columns)},
    {{"sliding", "everything"}, NULL, sliding},
};
