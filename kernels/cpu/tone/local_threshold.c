/* Local (adaptive) thresholds by running sums of levels and of their squares.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/running_sums.h"
#include "kernels/tone.h"

#include <math.h>
#include <stdlib.h>

enum { STRIP_MAX = 2048, STRIP_MOST = 8192 /* samples */ };

struct local {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_local *spec;
    struct gi_tiling tiling;
    bool narrow;  /* sums of a neighbourhood, and of squares if needed, are below 2^31 */
    bool middle;  /* sums of a neighbourhood are below 2^32, so n * squares are below 2^64 and D
                     below  2^62; neither `mean` nor a swell */
    double n;     /* samples of a neighbourhood */
    double *most; /* gets the maximum D of each tile; NULL if a result is made instead */
    int32_t more; /* if narrow and `mean`, v is above its threshold if n * v - sum > more */
};

struct local_threshold_worker {
    const struct local *local;
    struct gi_tile tile;
    int channels;
    size_t nwindow, n;     /* number of samples: in the needed columns; in the tile's row */
    uint32_t *fresh, *old; /* levels of rows that enter and leave the column sums, nwindow each */
    uint32_t *columns;     /* nwindow sums of levels */
    void *squares;         /* nwindow sums of squares, uint32_t if narrow, else uint64_t */
    void *sums, *square_sums; /* n sums of neighbourhoods, of the same type as `squares` */
    void *row;                /* nwindow samples */
    uint8_t *above;           /* n: 255 or 0 */
    double *most;             /* as in struct local, for the tile */
};

/* Loads the levels of the row at position p from pixel x0 on, with the border. */
static void levels_row(const struct local_threshold_worker *w, uint32_t *levels, long long p,
                       long long x0, size_t n)
{
    const struct local *local = w->local;
    const struct gi_image *src = local->src;
    const void *row =
        GI_CPU(row_at)(w->row, src, &local->spec->border, p, x0, n / (size_t)w->channels);
    if (src->type == GI_U8)
        for (size_t i = 0; i < n; i++)
            levels[i] = ((const uint8_t *)row)[i];
    else if (src->type == GI_U16)
        for (size_t i = 0; i < n; i++)
            levels[i] = ((const uint16_t *)row)[i];
    else
        for (size_t i = 0; i < n; i++)
            levels[i] = gi_local_float(local->spec, ((const float *)row)[i]);
}

/* Updates the column sums: `fresh` enters, `old` leaves, modulo 2^32 or 2^64. A sum that wraps
 * around is correct again after the subtraction. */
static void move(const struct local_threshold_worker *w)
{
    const uint32_t *fresh = w->fresh, *old = w->old;
    uint32_t *columns = w->columns, *narrow = w->squares;
    uint64_t *wide = w->squares;
    for (size_t i = 0; i < w->nwindow; i++)
        columns[i] += fresh[i] - old[i];
    if (w->local->spec->mean)
        return;
    if (w->local->narrow)
        for (size_t i = 0; i < w->nwindow; i++)
            narrow[i] += fresh[i] * fresh[i] - old[i] * old[i];
    else
        for (size_t i = 0; i < w->nwindow; i++)
            wide[i] += (uint64_t)fresh[i] * fresh[i] - (uint64_t)old[i] * old[i];
}

/* Computes sums[x], the sum of the neighbourhood's columns from sample x on. `sums` has room for
 * GI_LANES more sums. */
static void row_sums_u32(uint32_t *sums, const uint32_t *columns, size_t n, size_t reach,
                         int channels)
{
    RUNNING_STEPS(channels, {
        GI_INTS carry = running_first(columns, reach, STEP, false);
        for (size_t x = 0; x < n; x += GI_LANES)
            ints_store(sums + x, running_next(&carry, columns, x, reach, STEP, false));
    })
}

/* Updates the maximum D, unless sample i is alpha. */
static void note(const struct local_threshold_worker *w, size_t i, double spread)
{
    bool color = w->channels % 2 || (i + 1) % (size_t)w->channels;
    if (color && spread > *w->most)
        *w->most = spread;
}

static void judge_narrow(const struct local_threshold_worker *w, const uint32_t *levels)
{
    const uint32_t *sums = w->sums, *squares = w->square_sums;
    struct gi_local spec = *w->local->spec;
    uint8_t *restrict above = w->above;
    size_t samples = w->n;
    double n = w->local->n;
    int32_t count = (int32_t)n, more = w->local->more;
    spec.swell = 0; /* so that the loop has no branch */
    if (w->most)
        for (size_t i = 0; i < samples; i++)
            note(w, i, n * (int32_t)squares[i] - (double)(int32_t)sums[i] * (int32_t)sums[i]);
    else if (spec.mean)
        for (size_t i = 0; i < samples; i++)
            above[i] = count * (int32_t)levels[i] - (int32_t)sums[i] > more ? 255 : 0;
    else
        for (size_t i = 0; i < samples; i++) {
            double s = (int32_t)sums[i], spread = n * (int32_t)squares[i] - s * s;
            double rest = count * (int32_t)levels[i] - (int32_t)sums[i];
            above[i] = gi_local_above(&spec, rest, s, spread) ? 255 : 0;
        }
}

/* If D is below 2^63 and there is no swell: a loop without branches. */
static void judge_middle(const struct local_threshold_worker *w, const uint32_t *levels)
{
    struct gi_local spec = *w->local->spec;
    const uint64_t *sums = w->sums, *squares = w->square_sums;
    uint8_t *restrict above = w->above;
    size_t samples = w->n;
    uint64_t n = (uint64_t)w->local->n;
    spec.swell = 0;
    for (size_t i = 0; i < samples; i++) {
        double spread = (double)(int64_t)(n * squares[i] - sums[i] * sums[i]);
        double rest = (double)(int64_t)(n * levels[i] - sums[i]);
        above[i] = gi_local_above(&spec, rest, (double)(int64_t)sums[i], spread) ? 255 : 0;
    }
}

static void judge_wide(const struct local_threshold_worker *w, const uint32_t *levels)
{
    const struct gi_local *spec = w->local->spec;
    const uint64_t *sums = w->sums, *squares = w->square_sums;
    uint64_t n = (uint64_t)w->local->n;
    for (size_t i = 0; i < w->n; i++) {
        double rest = (double)((int64_t)(n * levels[i]) - (int64_t)sums[i]), spread = 0;
        if (!spec->mean)
            spread = gi_local_spread(n, sums[i], squares[i]);
        if (w->most)
            note(w, i, spread);
        else
            w->above[i] = (spec->mean ? rest + spec->shift > 0
                                      : gi_local_above(spec, rest, (double)sums[i], spread))
                              ? 255
                              : 0;
    }
}

/* Stores row y of the tile from w->above. */
static void store_row(const struct local_threshold_worker *w, int y)
{
    const struct gi_image *src = w->local->src;
    size_t first = (size_t)w->tile.x0 * (size_t)w->channels, channels = (size_t)w->channels;
    const uint8_t *above = w->above;
    size_t n = w->n;
    uint8_t flip = w->local->spec->invert ? 255 : 0;
    GI_CPU_TYPES(src->type, {
        T *restrict out = (T *)gi_row(w->local->dst, y) + first;
        const T *in = (const T *)gi_row(src, y) + first, full = (T)gi_type_full_scale(TYPE);
        for (size_t i = 0; i < n; i++)
            out[i] = (above[i] ^ flip) ? full : 0;
        if (gi_has_alpha(src))
            for (size_t i = channels - 1; i < n; i += channels)
                out[i] = in[i];
    })
}

static void make_row(void *worker, int y)
{
    const struct local_threshold_worker *w = worker;
    const struct gi_local *spec = w->local->spec;
    size_t channels = (size_t)w->channels, reach = (size_t)spec->k * channels;
    bool mean = spec->mean;
    if (w->most && (y < spec->above || y >= w->local->src->height - spec->below))
        return;
    if (w->local->narrow) {
        row_sums_u32(w->sums, w->columns, w->n, reach, w->channels);
        if (!mean)
            row_sums_u32(w->square_sums, w->squares, w->n, reach, w->channels);
    } else {
        running_row_u32(w->sums, w->columns, w->n, reach, channels);
        if (!mean)
            running_row_u64(w->square_sums, w->squares, w->n, reach, channels);
    }
    levels_row(w, w->old, y, w->tile.x0, w->n); /* the row that has left is no longer needed */
    if (w->local->narrow)
        judge_narrow(w, w->old);
    else if (w->local->middle && !w->most)
        judge_middle(w, w->old);
    else
        judge_wide(w, w->old);
    if (!w->most)
        store_row(w, y);
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct local_threshold_worker *w, const struct local *local, char *scratch)
{
    size_t channels = (size_t)local->src->channels, each = local->narrow ? 4 : 8;
    size_t strip = (size_t)local->tiling.strip * channels;
    size_t window = strip + (size_t)local->spec->k * channels + GI_LANES;
    size_t levels = running_room(window * 4), wide = running_room(window * each);
    bool mean = local->spec->mean;
    w->local = local;
    w->channels = (int)channels;
    if (scratch) {
        w->fresh = (uint32_t *)scratch;
        w->old = (uint32_t *)(scratch + levels);
        w->columns = (uint32_t *)(scratch + 2 * levels);
        w->row = scratch + 3 * levels;
        w->sums = scratch + 4 * levels;
        w->above = (uint8_t *)(scratch + 4 * levels + wide);
        w->squares = mean ? NULL : scratch + 5 * levels + wide;
        w->square_sums = mean ? NULL : scratch + 5 * levels + 2 * wide;
    }
    return 5 * levels + (mean ? 1 : 3) * wide;
}

static void enter(void *worker, long long fresh, bool leaves, long long old)
{
    const struct local_threshold_worker *w = worker;
    long long x0 = (long long)w->tile.x0 - w->local->spec->k / 2;
    if (leaves)
        levels_row(w, w->old, old, x0, w->nwindow);
    levels_row(w, w->fresh, fresh, x0, w->nwindow);
    move(w);
}

static void make_tile(void *arg, int index, void *scratch)
{
    const struct local *local = arg;
    struct local_threshold_worker w = {0};
    int k = local->spec->k;
    memset(scratch, 0, lay_out(&w, local, scratch)); /* `old` of the first rows */
    w.tile = GI_CPU(tile)(&local->tiling, local->src, index);
    w.n = (size_t)(w.tile.x1 - w.tile.x0) * (size_t)w.channels;
    w.nwindow = w.n + (size_t)(k - 1) * (size_t)w.channels;
    w.most = local->most ? &local->most[index] : NULL;
    running_rows(local->src, &w.tile, k, &w, enter, make_row);
}

/* Cuts the work into tiles; the spec has been checked. */
static struct local local_of(const struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_local *spec)
{
    double n = (double)spec->k * spec->k, full = (double)gi_type_full_scale(src->type);
    double more = floor(-spec->shift);
    size_t strip = STRIP_MAX + 2 * (size_t)spec->k;
    strip = (strip < STRIP_MOST ? strip : STRIP_MOST) / (size_t)src->channels;
    struct local local = {.dst = dst, .src = src, .spec = spec, .n = n};
    local.narrow =
        src->type != GI_F32 && spec->swell == 0 && n * full * (spec->mean ? 1 : full) <= INT32_MAX;
    double levels = src->type == GI_F32 ? GI_LOCAL_LEVELS : full + 1;
    local.middle = !spec->mean && spec->swell == 0 && n * levels <= 4294967296.0;
    local.more = (int32_t)(more > INT32_MAX ? INT32_MAX : more > INT32_MIN ? more : INT32_MIN);
    local.tiling = GI_CPU(tiling)(src, gi_pool_threads(gi_cpu_pool(queue)), strip, spec->k - 1);
    return local;
}

static enum gi_status make(struct gi_queue *queue, struct local *local, struct gi_err *err)
{
    struct local_threshold_worker w = {0};
    return gi_pool_run(gi_cpu_pool(queue), local->tiling.nstrips * local->tiling.nbands, make_tile,
                       local, lay_out(&w, local, NULL), err);
}

static enum gi_status running(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_local *spec,
                              struct gi_err *err)
{
    struct local local = local_of(queue, dst, src, spec);
    return make(queue, &local, err);
}

GI_CPU_ONE_WAY(local_threshold, "running", running);

static enum gi_status spread_running(struct gi_queue *queue, double *most,
                                     const struct gi_image *src, const struct gi_local *spec,
                                     struct gi_err *err)
{
    struct local local = local_of(queue, NULL, src, spec);
    int n = local.tiling.nstrips * local.tiling.nbands;
    local.most = calloc((size_t)n, sizeof *local.most);
    if (!local.most)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    enum gi_status status = make(queue, &local, err);
    *most = 0;
    for (int i = 0; i < n; i++)
        *most = fmax(*most, local.most[i]);
    free(local.most);
    return status;
}

GI_CPU_ONE_WAY(local_spread, "running", spread_running);
