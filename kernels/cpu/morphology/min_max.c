/* Min and max filters (erosion and dilation) with a rectangular structuring element, on vectors of
 * neighbouring samples: van Herk/Gil-Werman blocks down the columns (constant time per pixel),
 * doubling along the rows. Three rows or columns of integers are compared directly, which takes
 * half the memory accesses.
 *
 * M. van Herk, "A fast algorithm for local minimum and maximum filters on rectangular and octagonal
 * kernels", Pattern Recognition Letters 13, 1992; J. Gil and M. Werman, "Computing 2-D min, median
 * and max filters", IEEE TPAMI 15(5), 1993.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/morphology/min_max.h"

enum {
    KEPT_NBYTES = 1 << 20, /* maximum bytes of the rows of a block if jobs have whole rows */
    STRIP_NBYTES = 64,     /* minimum bytes of a row per job */
};

/* Like MIN_MAX_FOLD, with three operands. */
#define THREE(name, type, is)                                                                      \
    static void name(void *to, const void *a, const void *b, const void *c, size_t n)              \
    {                                                                                              \
        type *restrict out = to;                                                                   \
        const type *one = a, *two = b, *three = c;                                                 \
        for (size_t i = 0; i < n; i++) {                                                           \
            type best = one[i] is two[i] ? one[i] : two[i];                                        \
            out[i] = best is three[i] ? best : three[i];                                           \
        }                                                                                          \
    }

THREE(least_1, uint8_t, <)
THREE(least_2, uint16_t, <)
THREE(most_1, uint8_t, >)
THREE(most_2, uint16_t, >)

/* For minima and maxima of integers, by the size of a sample. */
static min_max_three_fn *const threes[2][2] = {{least_1, least_2}, {most_1, most_2}};

struct min_max {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_min_max *spec;
    struct gi_tiling tiling;
    min_max_fold_fn *fold;
    min_max_three_fn *three; /* NULL: floats, whose keys are computed once per row */
    size_t nbytes;           /* bytes of a pixel */
    bool whole_rows;         /* jobs own whole rows; the same job filters along the rows */
    uint32_t nan;            /* key of NaN, which is chosen before all others */
};

struct min_max_worker {
    const struct min_max *e;
    struct gi_tile tile;
    size_t n;        /* bytes of the tile's row */
    char *suffix;    /* `height` rows of the block; each is the minimum (maximum) of itself and all
                        later rows (suffix) */
    char *prefix[2]; /* running minimum (maximum) of the next block's rows; rows alternate between
                        the two buffers */
    char *fresh;     /* a row as keys */
    char *outside;   /* a row of border values */
    char *line, *next; /* two rows with the halo of the window */
};

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. `rows` is the number of rows of a block. */
static size_t lay_out(struct min_max_worker *w, const struct min_max *e, size_t rows, char *scratch)
{
    size_t strip = min_max_round_up((size_t)e->tiling.strip * e->nbytes);
    size_t line = min_max_round_up(((size_t)e->tiling.strip + (size_t)e->spec->width) * e->nbytes);
    w->e = e;
    if (scratch) {
        w->suffix = scratch;
        w->prefix[0] = w->suffix + rows * strip;
        w->prefix[1] = w->prefix[0] + strip;
        w->fresh = w->prefix[1] + strip;
        w->outside = w->fresh + strip;
        w->line = w->outside + strip;
        w->next = w->line + line;
    }
    return (rows + 4) * strip + 2 * line;
}

static void pick(const struct min_max_worker *w, void *out, const void *a, const void *b,
                 size_t nbytes)
{
    w->e->fold(out, a, b, nbytes / gi_type_nbytes(w->e->src->type), false);
}

static void open_outside(struct min_max_worker *w)
{
    const struct gi_image *src = w->e->src;
    size_t pixels = w->n / w->e->nbytes;
    if (w->e->spec->border.mode != GI_BORDER_VALUE)
        return;
    GI_CPU(row_copy)(w->outside, src, &w->e->spec->border, -1, 0, pixels);
    if (src->type == GI_F32) {
        memcpy(w->fresh, w->outside, w->n);
        min_max_keys((uint32_t *)w->outside, (const uint32_t *)w->fresh, w->n / 4, w->e->nan);
    }
}

/* Returns the tile's part of the row at position p as keys. They are in `fresh`, valid until the
 * next call, or in the image itself. */
static const char *row_at(const struct min_max_worker *w, long long p)
{
    const struct gi_image *src = w->e->src;
    int y = gi_border_index(p, src->height, w->e->spec->border.mode);
    if (y < 0)
        return w->outside;
    const char *row = (const char *)gi_row(src, y) + (size_t)w->tile.x0 * w->e->nbytes;
    if (src->type != GI_F32)
        return row;
    min_max_keys((uint32_t *)w->fresh, (const uint32_t *)row, w->n / 4, w->e->nan);
    return w->fresh;
}

/* Fills the halo on both sides of a whole row in `line`. */
static void fill_sides(const struct min_max_worker *w, char *row)
{
    const struct gi_min_max *spec = w->e->spec;
    size_t nbytes = w->e->nbytes;
    int width = w->e->src->width, before = spec->anchor_x, after = spec->width - 1 - before;
    for (int i = -before; i < after; i++) {
        long long x = i < 0 ? i : (long long)width + i;
        int from = gi_border_index(x, width, spec->border.mode);
        memcpy(row + x * (long long)nbytes, from < 0 ? w->outside : row + (size_t)from * nbytes,
               nbytes);
    }
}

static void keep_alpha(const struct min_max *e, int y)
{
    size_t nbytes = gi_type_nbytes(e->src->type), last = e->nbytes - nbytes;
    char *to = (char *)gi_row(e->dst, y) + last;
    const char *from = (const char *)gi_row(e->src, y) + last;
    for (int x = 0; x < e->src->width; x++, to += e->nbytes, from += e->nbytes)
        memcpy(to, from, nbytes);
}

/* Filters the row in `line` along the row, and stores it as row y of the result. */
static void make_row(const struct min_max_worker *w, int y)
{
    const struct min_max *e = w->e;
    size_t n = w->n, width = (size_t)e->spec->width, before = (size_t)e->spec->anchor_x, m = 1;
    char *a = w->line, *b = w->next, *out = gi_row(e->dst, y);
    fill_sides(w, w->line + before * e->nbytes);
    if (e->three && width == 3) {
        e->three(out, a, a + e->nbytes, a + 2 * e->nbytes, n / gi_type_nbytes(e->src->type));
        if (gi_has_alpha(e->src) && !e->spec->alpha_too)
            keep_alpha(e, y);
        return;
    }
    for (size_t left = width - 1; 2 * m < width; m *= 2) { /* a: of m columns each */
        left -= m;
        pick(w, b, a, a + m * e->nbytes, n + left * e->nbytes);
        char *swap = a;
        a = b;
        b = swap;
    }
    char *to = e->src->type == GI_F32 ? b : out;
    if (width == 1)
        memcpy(to, a, n);
    else
        pick(w, to, a, a + (width - m) * e->nbytes, n);
    if (e->src->type == GI_F32)
        min_max_bits((uint32_t *)out, (const uint32_t *)to, n / 4, e->nan);
    if (gi_has_alpha(e->src) && !e->spec->alpha_too)
        keep_alpha(e, y);
}

/* Computes rows y0 <= y < y1 of the tile by van Herk/Gil-Werman; y1 - y0 is at most `height`, the
 * height of the structuring element. Source rows are in blocks of `height` rows. A result row is
 * the minimum (maximum) of the end of one block (a suffix) and the start of the next block (a
 * prefix). */
static void make_block(struct min_max_worker *w, int y0, int y1)
{
    const struct min_max *e = w->e;
    int height = e->spec->height;
    long long top = (long long)y0 - e->spec->anchor_y;
    size_t strip = min_max_round_up((size_t)e->tiling.strip * e->nbytes);
    for (int i = height - 1; i >= 0; i--) {
        char *at = w->suffix + (size_t)i * strip;
        const char *row = row_at(w, top + i);
        if (i == height - 1)
            memcpy(at, row, w->n);
        else
            pick(w, at, at + strip, row, w->n);
    }
    char *line = w->line + (size_t)e->spec->anchor_x * e->nbytes;
    for (int i = 0; i < y1 - y0; i++) {
        const char *row = i ? row_at(w, top + height - 1 + i) : NULL;
        if (i == 1)
            memcpy(w->prefix[1], row, w->n);
        else if (i)
            pick(w, w->prefix[i % 2], w->prefix[1 - i % 2], row, w->n);
        char *out = line;
        if (!e->whole_rows)
            out = (char *)gi_row(e->dst, y0 + i) + (size_t)w->tile.x0 * e->nbytes;
        const char *rest = w->suffix + (size_t)i * strip;
        pick(w, out, rest, i ? w->prefix[i % 2] : rest, w->n);
        if (e->whole_rows)
            make_row(w, y0 + i);
    }
}

/* Computes row y of the tile for a structuring element of three rows. */
static void make_of_three(struct min_max_worker *w, int y)
{
    const struct min_max *e = w->e;
    long long top = (long long)y - e->spec->anchor_y;
    char *out = w->line + (size_t)e->spec->anchor_x * e->nbytes;
    if (!e->whole_rows)
        out = (char *)gi_row(e->dst, y) + (size_t)w->tile.x0 * e->nbytes;
    e->three(out, row_at(w, top), row_at(w, top + 1), row_at(w, top + 2),
             w->n / gi_type_nbytes(e->src->type));
    if (e->whole_rows)
        make_row(w, y);
}

static void down(void *arg, int index, void *scratch)
{
    const struct min_max *e = arg;
    struct min_max_worker w = {0};
    lay_out(&w, e, (size_t)e->spec->height, scratch);
    w.tile = GI_CPU(tile)(&e->tiling, e->src, index);
    w.n = (size_t)(w.tile.x1 - w.tile.x0) * e->nbytes;
    open_outside(&w);
    bool three = e->three && e->spec->height == 3;
    for (int y = w.tile.y0; y < w.tile.y1 && three; y++)
        make_of_three(&w, y);
    for (int y = w.tile.y0; y < w.tile.y1 && !three;) {
        int end = w.tile.y1 - y < e->spec->height ? w.tile.y1 : y + e->spec->height;
        make_block(&w, y, end);
        y = end;
    }
}

/* Filters a row of `dst`, already filtered down the columns, along the row. */
static void along(void *arg, int y, void *scratch)
{
    const struct min_max *e = arg;
    struct min_max_worker w = {0};
    lay_out(&w, e, 0, scratch);
    w.n = gi_row_nbytes(e->src);
    open_outside(&w);
    memcpy(w.line + (size_t)e->spec->anchor_x * e->nbytes, gi_row(e->dst, y), w.n);
    make_row(&w, y);
}

static enum gi_status blocks(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_min_max *spec,
                             struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct min_max e = {.dst = dst, .src = src, .spec = spec};
    struct min_max_worker w = {0};
    size_t height = (size_t)spec->height, strip = (size_t)src->width;
    e.fold = min_max_folds[spec->greatest][src->type];
    e.three = src->type == GI_F32 ? NULL : threes[spec->greatest][src->type];
    e.nbytes = gi_type_nbytes(src->type) * (size_t)src->channels;
    e.nan = min_max_nan(spec);
    e.whole_rows = height * gi_row_nbytes(src) <= KEPT_NBYTES;
    if (!e.whole_rows) {
        size_t room = KEPT_NBYTES / height;
        strip = (room < STRIP_NBYTES ? STRIP_NBYTES : room) / e.nbytes;
    }
    e.tiling = GI_CPU(tiling)(src, gi_pool_threads(pool), strip, spec->height - 1);
    e.whole_rows = e.tiling.nstrips == 1;
    enum gi_status status = gi_pool_run(pool, e.tiling.nstrips * e.tiling.nbands, down, &e,
                                        lay_out(&w, &e, height, NULL), err);
    if (status || e.whole_rows)
        return status;
    e.tiling.strip = src->width;
    return gi_pool_run(pool, src->height, along, &e, lay_out(&w, &e, 0, NULL), err);
}

static bool blocks_takes(const struct gi_queue *queue, const struct gi_image *src,
                         const struct gi_min_max *spec)
{
    return !spec->runs;
}

const struct gi_min_max_way GI_CPU(min_max_ways)[GI_WAYS_MAX] = {
    {{"blocks", "rectangles"}, blocks_takes, blocks},
    {{"runs", "windows of any other shape"}, GI_CPU(min_max_runs_takes), GI_CPU(min_max_runs)},
};
