/* Runs a sliding window of few rows down the image. Rows that touch the border are copied to
 * scratch memory together with the border, so that a step needs no special case for the ends of a
 * row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/sliding_window.h"

#include <string.h>

enum {
    SCRATCH_NBYTES = 384 << 10, /* bytes of a core's L2 cache that the rows of a thread may use */
    SLOTS_MAX = GI_SLIDING_ROWS_MAX - 1 + GI_ROWS_AT_ONCE,
    SLACK = 256,   /* bytes past the end of a row in scratch memory, for GI_SLIDING_BLOCK samples of
                      any type */
    IN_SLACK = 64, /* bytes past the end of a source row that a step may read */
};

struct sliding_window_worker {
    char *in, *out, *ring;
    size_t in_nbytes, out_nbytes, slot_nbytes; /* bytes of a row */
};

static size_t round_up(size_t nbytes)
{
    return (nbytes + 63) / 64 * 64 + SLACK;
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct sliding_window_worker *w,
                      const struct gi_sliding_window *sliding_window, char *scratch)
{
    size_t n = (size_t)sliding_window->tiling.strip * (size_t)sliding_window->src->channels;
    size_t around = (size_t)(sliding_window->left + sliding_window->right) *
                    (size_t)sliding_window->src->channels;
    size_t nbytes = gi_type_nbytes(sliding_window->src->type);
    w->in_nbytes = round_up((n + around) * nbytes);
    w->out_nbytes = round_up(n * nbytes);
    w->slot_nbytes = round_up(n * sliding_window->kept_nbytes);
    if (scratch) {
        w->in = scratch;
        w->out = w->in + GI_ROWS_AT_ONCE * w->in_nbytes;
        w->ring = w->out + GI_ROWS_AT_ONCE * w->out_nbytes;
    }
    return GI_ROWS_AT_ONCE * (w->in_nbytes + w->out_nbytes) + SLOTS_MAX * w->slot_nbytes;
}

/* Four rows of a tile. */
struct sliding_window_group {
    const struct gi_sliding_window *sliding_window;
    struct sliding_window_worker worker;
    struct gi_tile tile;
    long long y; /* first result row; rows outside the tile are computed and discarded */
    int slot;    /* the first slot of the ring buffer */
};

static size_t pixel_nbytes(const struct gi_image *image)
{
    return (size_t)image->channels * gi_type_nbytes(image->type);
}

static char *sample_at(const struct gi_image *image, int y, int x)
{
    return (char *)gi_row(image, y) + (size_t)x * pixel_nbytes(image);
}

/* Returns whether row r of the group is a result row of the tile. */
static bool in_tile(const struct sliding_window_group *g, int r)
{
    return g->y + r >= g->tile.y0 && g->y + r < g->tile.y1;
}

/* Sets the row pointers of a group for columns x0 <= x < x1. If `direct`, rows that exist in the
 * image are read there, and only other rows in scratch memory. */
static void set_up(struct gi_sliding_rows *rows, const struct sliding_window_group *g, int x0,
                   int x1, bool direct)
{
    const struct gi_sliding_window *sliding_window = g->sliding_window;
    const struct sliding_window_worker *w = &g->worker;
    size_t first = (size_t)(x0 - g->tile.x0) * (size_t)sliding_window->src->channels *
                   sliding_window->kept_nbytes;
    int nslots = sliding_window->nrows - 1 + GI_ROWS_AT_ONCE;
    size_t left = (size_t)sliding_window->left * pixel_nbytes(sliding_window->src);
    rows->next_in = direct ? GI_ROWS_AT_ONCE * sliding_window->src->stride + left : 0;
    rows->next_out = direct ? GI_ROWS_AT_ONCE * sliding_window->dst->stride : 0;
    for (int i = 0; i < sliding_window->nrows - 1; i++)
        rows->above[i] = w->ring + (size_t)((g->slot + i) % nslots) * w->slot_nbytes + first;
    for (int r = 0; r < GI_ROWS_AT_ONCE; r++) {
        long long p = g->y + r - sliding_window->above + sliding_window->nrows - 1;
        int slot = (g->slot + sliding_window->nrows - 1 + r) % nslots;
        int y = gi_border_index(p, sliding_window->src->height, sliding_window->border->mode);
        char *in = w->in + (size_t)r * w->in_nbytes, *out = w->out + (size_t)r * w->out_nbytes;
        size_t around = (size_t)(sliding_window->left + sliding_window->right);
        rows->kept[r] = w->ring + (size_t)slot * w->slot_nbytes + first;
        rows->out[r] =
            direct && in_tile(g, r) ? sample_at(sliding_window->dst, (int)g->y + r, x0) : out;
        if (direct && y >= 0)
            in = sample_at(sliding_window->src, y, x0) - left;
        else
            GI_CPU(row_copy)
        (in, sliding_window->src, sliding_window->border, p, (long long)x0 - sliding_window->left,
         (size_t)(x1 - x0) + around);
        rows->in[r] = in;
    }
}

static void step(const struct sliding_window_group *g, int x0, int x1, bool direct)
{
    const struct gi_image *dst = g->sliding_window->dst;
    struct gi_sliding_rows rows;
    set_up(&rows, g, x0, x1, direct);
    g->sliding_window->step(g->sliding_window, &rows, (size_t)(x1 - x0) * (size_t)dst->channels);
    for (int r = 0; !direct && r < GI_ROWS_AT_ONCE; r++)
        if (in_tile(g, r))
            memcpy(sample_at(dst, (int)g->y + r, x0), rows.out[r],
                   (size_t)(x1 - x0) * pixel_nbytes(dst));
}

static void sliding_tile(void *arg, int index, void *scratch)
{
    const struct gi_sliding_window *sliding_window = arg;
    struct sliding_window_group g = {
        .sliding_window = sliding_window,
        .tile = GI_CPU(tile)(&sliding_window->tiling, sliding_window->src, index)};
    lay_out(&g.worker, sliding_window, scratch);
    memset(g.worker.ring, 0, (size_t)(sliding_window->nrows - 1) * g.worker.slot_nbytes);
    /* First and last column for which rows can be read in the image, because the bytes that a step
     * reads past these columns are still inside the image. */
    int x0 = g.tile.x0, x1 = g.tile.x1;
    int most = sliding_window->src->width - sliding_window->right -
               IN_SLACK / (int)pixel_nbytes(sliding_window->src) - 1;
    int from = x0 < sliding_window->left ? x0 + GI_SLIDING_BLOCK : x0;
    int to = from + ((x1 < most ? x1 : most) - from) / GI_SLIDING_BLOCK * GI_SLIDING_BLOCK;
    if (to <= from)
        from = to = x0;
    int nslots = sliding_window->nrows - 1 + GI_ROWS_AT_ONCE;
    int lead =
        (sliding_window->nrows - 1 + GI_ROWS_AT_ONCE - 1) / GI_ROWS_AT_ONCE * GI_ROWS_AT_ONCE;
    for (g.y = g.tile.y0 - lead; g.y < g.tile.y1; g.y += GI_ROWS_AT_ONCE) {
        if (x0 < from)
            step(&g, x0, from, false);
        if (from < to)
            step(&g, from, to, true);
        if (to < x1)
            step(&g, to, x1, false);
        g.slot = (g.slot + GI_ROWS_AT_ONCE) % nslots;
    }
}

enum gi_status GI_CPU(sliding_window)(struct gi_queue *queue,
                                      struct gi_sliding_window *sliding_window, struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    size_t channels = (size_t)sliding_window->src->channels,
           nbytes = gi_type_nbytes(sliding_window->src->type);
    size_t nslots = (size_t)sliding_window->nrows - 1 + GI_ROWS_AT_ONCE;
    size_t samples =
        SCRATCH_NBYTES / (nslots * sliding_window->kept_nbytes + 2 * GI_ROWS_AT_ONCE * nbytes);
    sliding_window->tiling = GI_CPU(tiling)(sliding_window->src, gi_pool_threads(pool),
                                            samples / channels, sliding_window->nrows - 1);
    struct sliding_window_worker w;
    return gi_pool_run(pool, sliding_window->tiling.nstrips * sliding_window->tiling.nbands,
                       sliding_tile, sliding_window, lay_out(&w, sliding_window, NULL), err);
}
