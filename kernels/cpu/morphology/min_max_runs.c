/* Min and max filters with a structuring element of any shape, given as horizontal runs of pixels.
 *
 * Every source row has levels: sample x of level l is the minimum (maximum) of the 2^l samples from
 * x on, and is computed from two samples of level l - 1. The minimum of a run of n samples is the
 * minimum of two overlapping samples of the highest level with 2^l <= n. For n = 6 these are the
 * minima of 4 samples at offsets 0 and 2. The minimum of a run is folded into every result row
 * whose structuring element has this run in this source row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/morphology/min_max.h"

enum {
    LEVELS = 12,         /* runs are shorter than 2^LEVELS samples */
    STRIP_NBYTES = 4096, /* minimum bytes of a row per job */
    WINDOWS = 4,         /* minimum width, in widths of the structuring element */
};

struct runs {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_min_max *spec;
    struct gi_tiling tiling;
    min_max_fold_fn *fold;
    size_t sample, pixel; /* bytes */
    int left, right;      /* pixels of the structuring element left and right of (x, y) */
    int levels;
};

struct min_max_runs_worker {
    const struct runs *r;
    struct gi_tile tile;
    size_t n;            /* bytes of the tile's row */
    char *kept;          /* unfinished result rows, one per element row; y is at y % height */
    char *level[LEVELS]; /* minima (maxima) of 2^i samples each */
    char *fresh;         /* a row as in the image */
};

/* kept_nbytes() returns the bytes from one row in progress to the next; line_nbytes() returns the
 * bytes of a row with its halo. */
static size_t kept_nbytes(const struct runs *r)
{
    return min_max_round_up((size_t)r->tiling.strip * r->pixel);
}

static size_t line_nbytes(const struct runs *r)
{
    return min_max_round_up((size_t)(r->tiling.strip + r->left + r->right) * r->pixel);
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct min_max_runs_worker *w, const struct runs *r, char *scratch)
{
    size_t kept = (size_t)r->spec->height * kept_nbytes(r), line = line_nbytes(r);
    w->r = r;
    for (int i = 0; scratch && i < r->levels; i++)
        w->level[i] = scratch + kept + (size_t)i * line;
    if (scratch) {
        w->kept = scratch;
        w->fresh = scratch + kept + (size_t)r->levels * line;
    }
    return kept + (size_t)(r->levels + 1) * line;
}

static int level_of(const struct gi_footprint_run *run)
{
    int level = 0;
    while (2 << level <= run->last - run->first + 1)
        level++;
    return level;
}

/* Makes all levels of the row at position p. */
static void load(struct min_max_runs_worker *w, long long p)
{
    const struct runs *r = w->r;
    size_t pixels = (size_t)(w->tile.x1 - w->tile.x0 + r->left + r->right);
    bool floats = r->src->type == GI_F32;
    GI_CPU(row_copy)
    (floats ? w->fresh : w->level[0], r->src, &r->spec->border, p, (long long)w->tile.x0 - r->left,
     pixels);
    if (floats)
        min_max_keys((uint32_t *)(void *)w->level[0], (const uint32_t *)(void *)w->fresh,
                     pixels * r->pixel / 4, min_max_nan(r->spec));
    for (int i = 1; i < r->levels; i++) {
        size_t half = (size_t)1 << (i - 1);
        pixels -= half < pixels ? half : pixels;
        r->fold(w->level[i], w->level[i - 1], w->level[i - 1] + half * r->pixel,
                pixels * r->pixel / r->sample, false);
    }
}

static void store(const struct min_max_runs_worker *w, const char *kept, int y)
{
    const struct runs *r = w->r;
    size_t first = (size_t)w->tile.x0 * r->pixel;
    char *out = (char *)gi_row(r->dst, y) + first;
    const char *in = (const char *)gi_row(r->src, y) + first;
    if (r->src->type == GI_F32)
        min_max_bits((uint32_t *)(void *)out, (const uint32_t *)(const void *)kept, w->n / 4,
                     min_max_nan(r->spec));
    else
        memcpy(out, kept, w->n);
    if (gi_has_alpha(r->src) && !r->spec->alpha_too)
        for (size_t i = r->pixel - r->sample; i < w->n; i += r->pixel)
            memcpy(out + i, in + i, r->sample);
}

static void runs_tile(void *arg, int index, void *scratch)
{
    const struct runs *r = arg;
    const struct gi_min_max *spec = r->spec;
    const struct gi_footprint_run *runs = spec->runs;
    int top = runs[0].y, bottom = runs[spec->nruns - 1].y;
    size_t kept_row = kept_nbytes(r);
    struct min_max_runs_worker w = {0};
    lay_out(&w, r, scratch);
    w.tile = GI_CPU(tile)(&r->tiling, r->src, index);
    w.n = (size_t)(w.tile.x1 - w.tile.x0) * r->pixel;
    for (long long p = (long long)w.tile.y0 + top; p < (long long)w.tile.y1 + bottom; p++) {
        load(&w, p);
        for (int i = 0; i < spec->nruns; i++) {
            long long y = p - runs[i].y;
            if (y < w.tile.y0 || y >= w.tile.y1)
                continue;
            int level = level_of(&runs[i]);
            const char *line = w.level[level];
            const char *a = line + (size_t)(r->left + runs[i].first) * r->pixel;
            const char *b = line + (size_t)(r->left + runs[i].last + 1 - (1 << level)) * r->pixel;
            r->fold(w.kept + (size_t)(y % spec->height) * kept_row, a, b, w.n / r->sample, i > 0);
        }
        if (p - bottom >= w.tile.y0)
            store(&w, w.kept + (size_t)((p - bottom) % spec->height) * kept_row, (int)(p - bottom));
    }
}

bool GI_CPU(min_max_runs_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                const struct gi_min_max *spec)
{
    return spec->runs;
}

enum gi_status GI_CPU(min_max_runs)(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_min_max *spec,
                                    struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct runs r = {.dst = dst, .src = src, .spec = spec};
    struct min_max_runs_worker w = {0};
    r.fold = min_max_folds[spec->greatest][src->type];
    r.sample = gi_type_nbytes(src->type);
    r.pixel = r.sample * (size_t)src->channels;
    for (int i = 0; i < spec->nruns; i++) {
        const struct gi_footprint_run *run = &spec->runs[i];
        int level = level_of(run);
        r.left = -run->first > r.left ? -run->first : r.left;
        r.right = run->last > r.right ? run->last : r.right;
        r.levels = level + 1 > r.levels ? level + 1 : r.levels;
    }
    size_t strip = STRIP_NBYTES / r.pixel, least = WINDOWS * (size_t)(r.left + r.right);
    r.tiling =
        GI_CPU(tiling)(src, gi_pool_threads(pool), strip > least ? strip : least, spec->height - 1);
    return gi_pool_run(pool, r.tiling.nstrips * r.tiling.nbands, runs_tile, &r,
                       lay_out(&w, &r, NULL), err);
}
