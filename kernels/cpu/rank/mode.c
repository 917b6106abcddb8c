/* Mode filter: the most frequent sample of a window, by a sliding histogram. Each block of bins has
 * an upper bound of its counters; a block is searched again only if its bound could decide the
 * result. The bin of samples that are ignored is in a block that is never searched.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/rank/sliding_histogram.h"

enum { BLOCKS_MAX = 256 };

struct mode_worker {
    struct sliding_tile t;
    int log_block;    /* a block has 1 << log_block bins; there are as many blocks */
    uint32_t *counts; /* samples of the window per bin */
    uint32_t most[BLOCKS_MAX + 1];
    bool stale[BLOCKS_MAX + 1]; /* whether `most` may exceed the maximum of the block */
};

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct mode_worker *w, const struct sliding *s, char *scratch)
{
    size_t shared = sliding_lay_out(&w->t, s, scratch);
    w->log_block = s->nbins == 256 ? 4 : 8;
    if (scratch)
        w->counts = (uint32_t *)(void *)(scratch + shared);
    return shared + (s->nbins + 1) * sizeof *w->counts;
}

static void begin(struct sliding_tile *t)
{
    struct mode_worker *w = (struct mode_worker *)(void *)t;
    memset(w->counts, 0, (t->s->nbins + 1) * sizeof *w->counts);
    memset(w->most, 0, sizeof w->most);
    memset(w->stale, 0, sizeof w->stale);
}

static void enter(struct sliding_tile *t, const uint32_t *bins, int n, size_t step)
{
    struct mode_worker *w = (struct mode_worker *)(void *)t;
    for (int i = 0; i < n; i++, bins += step) {
        uint32_t count = ++w->counts[*bins];
        size_t block = *bins >> w->log_block;
        if (count > w->most[block]) {
            w->most[block] = count;
            w->stale[block] = false;
        }
    }
}

static void leave(struct sliding_tile *t, const uint32_t *bins, int n, size_t step)
{
    struct mode_worker *w = (struct mode_worker *)(void *)t;
    for (int i = 0; i < n; i++, bins += step) {
        size_t block = *bins >> w->log_block;
        w->stale[block] |= w->counts[*bins]-- == w->most[block];
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

/* Returns the most frequent value. */
static size_t find(struct sliding_tile *t)
{
    struct mode_worker *w = (struct mode_worker *)(void *)t;
    int size = 1 << w->log_block;
    if (t->s->hides && w->counts[t->s->nbins] == (uint32_t)t->pixels)
        return t->s->nbins;
    for (;;) {
        uint32_t most = greatest(w->most, size);
        int block = first_of(w->most, most);
        const uint32_t *counts = w->counts + block * size;
        if (!w->stale[block])
            return (size_t)(block * size + first_of(counts, most));
        w->most[block] = greatest(counts, size);
        w->stale[block] = false;
    }
}

static void mode_tile(void *arg, int index, void *scratch)
{
    static const struct sliding_filter filter = {.begin = begin, enter, leave, find};
    struct mode_worker w = {0};
    lay_out(&w, arg, scratch);
    sliding_filter_tile(&w.t, &filter, index);
}

static enum gi_status sliding(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_median *spec,
                              struct gi_err *err)
{
    struct sliding s = sliding_of(dst, src, spec);
    struct mode_worker w = {0};
    return gi_pool_run(gi_cpu_pool(queue), sliding_ntiles(&s), mode_tile, &s, lay_out(&w, &s, NULL),
                       err);
}

GI_CPU_ONE_WAY(mode, "sliding", sliding);
