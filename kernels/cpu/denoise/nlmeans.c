/* Non-local means of a tile, one offset of the search window at a time. Sums of squared differences
 * are updated down the columns from row to row, and summed along the rows to patch distances. Each
 * neighbour is then added with the weight of its distance.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/denoise.h"

enum { SIDE_X = 256, SIDE_Y = 64 /* of a tile, pixels */, MARGIN = 16 };

struct nlmeans {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_nlmeans *spec;
    int across;           /* tiles per row of tiles */
    int reach;            /* halo of a tile, pixels */
    size_t pitch, plane;  /* number of samples of a row, and of a plane, with the tile's halo */
    int colors, channels; /* number of colours; number of colours and weight (alpha) */
    bool wide;            /* integer sums need more than 32 bits */
    bool shared;          /* the pixels' own weights are not all 1 */
    bool real;            /* GI_F32 */
};

struct nlmeans_worker {
    const struct nlmeans *b;
    struct gi_tile tile;
    void *samples;  /* a row with its halo, as samples and as floats */
    int32_t *steps; /* planes of colours */
    void *values;   /* planes of colours and of weights, uint32_t or float */
    uint32_t *columns, *at,
        *weights;    /* one row of each: sums of squares per column, table indices, weights */
    uint32_t *table; /* spec->n + 1 weights, the last one 0 */
    char *sums;      /* SIDE_Y rows of sums of colours and weights, `nsum` bytes per sum */
    size_t nsum;
};

static size_t share_out(char **at, char *scratch, size_t *used, size_t nbytes)
{
    *at = scratch + *used;
    return *used += (nbytes + 127) / 64 * 64;
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct nlmeans_worker *w, const struct nlmeans *b, char *scratch)
{
    static char nothing[1];
    char *p[8], *base = scratch ? scratch : nothing;
    size_t used = 0, row = b->pitch * sizeof(uint32_t), colors = (size_t)b->colors;
    w->b = b;
    w->nsum = b->wide ? 8 : 4;
    share_out(&p[0], base, &used, 2 * row * (size_t)b->src->channels);
    share_out(&p[1], base, &used, b->plane * colors * sizeof(int32_t));
    share_out(&p[2], base, &used, b->plane * (colors + 1) * sizeof(uint32_t));
    share_out(&p[3], base, &used, row);
    share_out(&p[4], base, &used, row);
    share_out(&p[5], base, &used, row);
    share_out(&p[6], base, &used, ((size_t)b->spec->n + 1) * sizeof(uint32_t));
    share_out(&p[7], base, &used, (size_t)SIDE_X * SIDE_Y * (colors + 1) * w->nsum);
    if (scratch) {
        w->samples = p[0];
        w->steps = (int32_t *)(void *)p[1];
        w->values = p[2];
        w->columns = (uint32_t *)(void *)p[3];
        w->at = (uint32_t *)(void *)p[4];
        w->weights = (uint32_t *)(void *)p[5];
        w->table = (uint32_t *)(void *)p[6];
        w->sums = p[7];
    }
    return used;
}

static bool is_finite(float v)
{
    return v - v == 0;
}

/* Stores row r of the planes from the floats `in` of all channels. */
static void put_row(struct nlmeans_worker *w, int r, const float *in, size_t n)
{
    const struct nlmeans *b = w->b;
    size_t channels = (size_t)b->src->channels, colors = (size_t)b->colors;
    size_t first = (size_t)r * b->pitch;
    float *reals = w->values;
    uint32_t *wholes = w->values;
    for (size_t x = 0; x < n; x++) {
        float share = channels > colors ? in[x * channels + colors] : 1;
        for (size_t c = 0; c < channels; c++)
            share = is_finite(in[x * channels + c]) ? share : 0;
        for (size_t c = 0; c <= colors; c++) {
            float v = c == colors ? share : in[x * channels + c];
            if (b->real)
                reals[c * b->plane + first + x] = is_finite(v) ? v : 0;
            else
                wholes[c * b->plane + first + x] = (uint32_t)v;
            if (c < colors)
                w->steps[c * b->plane + first + x] =
                    b->src->type == GI_U8 ? (int32_t)v : gi_nlmeans_step(v, b->spec->scale);
        }
    }
}

static void load(struct nlmeans_worker *w)
{
    const struct nlmeans *b = w->b;
    const struct gi_image *src = b->src;
    size_t n = (size_t)(w->tile.x1 - w->tile.x0 + 2 * b->reach);
    float *floats = (float *)w->samples + b->pitch * (size_t)src->channels;
    for (int r = 0; r < w->tile.y1 - w->tile.y0 + 2 * b->reach; r++) {
        GI_CPU(row_copy)
        (w->samples, src, &b->spec->border, (long long)w->tile.y0 - b->reach + r,
         (long long)w->tile.x0 - b->reach, n);
        GI_CPU(samples_load)(floats, w->samples, n * (size_t)src->channels, src->type);
        put_row(w, r, floats, n);
    }
}

static inline __attribute__((always_inline)) uint32_t square(int32_t a, int32_t b, bool whole)
{
    int32_t d = a - b;
    if (!whole) {
        d = d < 0 ? -d : d;
        d = d > GI_NLMEANS_STEPS ? GI_NLMEANS_STEPS : d;
    }
    return (uint32_t)(d * d);
}

/* Updates columns[x]: adds the squared differences of the row that enters, and subtracts the
 * squared differences of the row that leaves. */
static inline __attribute__((always_inline)) void move(uint32_t *columns, const int32_t *in,
                                                       const int32_t *in_other, const int32_t *out,
                                                       const int32_t *out_other, size_t n,
                                                       bool whole)
{
    for (size_t x = 0; x < n; x++)
        columns[x] +=
            square(in[x], in_other[x], whole) - (out ? square(out[x], out_other[x], whole) : 0);
}

/* Moves the column sums down. The differences between row r of the planes and the pixels `by`
 * samples away enter; the differences of row r - patch leave. */
static void columns_move(struct nlmeans_worker *w, int r, ptrdiff_t by, size_t n, bool first)
{
    const struct nlmeans *b = w->b;
    int patch = b->spec->patch;
    for (int c = 0; c < b->colors; c++) {
        const int32_t *in =
            w->steps + (size_t)c * b->plane + (size_t)r * b->pitch + (size_t)(b->reach - patch / 2);
        const int32_t *out = first ? NULL : in - (size_t)patch * b->pitch;
        if (b->src->type == GI_U8 && first)
            move(w->columns, in, in + by, NULL, NULL, n, true);
        else if (b->src->type == GI_U8)
            move(w->columns, in, in + by, out, out + by, n, true);
        else if (first)
            move(w->columns, in, in + by, NULL, NULL, n, false);
        else
            move(w->columns, in, in + by, out, out + by, n, false);
    }
}

/* Sets at[x] to the table index of the patch distance, and returns the smallest index. */
static inline __attribute__((always_inline)) uint32_t
places(uint32_t *at, const uint32_t *columns, size_t n, int patch, int shift, uint32_t most)
{
    uint32_t least = most;
    for (size_t x = 0; x < n; x++) {
        uint32_t sum = 0;
        for (int i = 0; i < patch; i++)
            sum += columns[x + (size_t)i];
        sum >>= shift;
        sum = sum < most ? sum : most;
        at[x] = sum;
        least = sum < least ? sum : least;
    }
    return least;
}

static uint32_t row_places(struct nlmeans_worker *w, size_t n)
{
    const struct gi_nlmeans *spec = w->b->spec;
    uint32_t most = (uint32_t)spec->n;
    if (spec->patch == 7)
        return places(w->at, w->columns, n, 7, spec->shift, most);
    if (spec->patch == 5)
        return places(w->at, w->columns, n, 5, spec->shift, most);
    if (spec->patch == 3)
        return places(w->at, w->columns, n, 3, spec->shift, most);
    return places(w->at, w->columns, n, spec->patch, spec->shift, most);
}

/* Adds weighted colours, then weights, to a row of sums, which are SIDE_X apart. */
static void add_narrow(struct nlmeans_worker *w, uint32_t *sums, const uint32_t *values, size_t n)
{
    const struct nlmeans *b = w->b;
    const uint32_t *weights = w->weights;
    for (int c = 0; c < b->colors; c++)
        for (size_t x = 0; x < n; x++)
            sums[(size_t)c * SIDE_X + x] += weights[x] * values[(size_t)c * b->plane + x];
    for (size_t x = 0; x < n; x++)
        sums[(size_t)b->colors * SIDE_X + x] += weights[x];
}

static void add_wide(struct nlmeans_worker *w, uint64_t *sums, const uint32_t *values, size_t n)
{
    const struct nlmeans *b = w->b;
    const uint32_t *shares = values + (size_t)b->colors * b->plane;
    for (size_t x = 0; x < n; x++) {
        uint64_t weight = w->weights[x] * (b->shared ? (uint64_t)shares[x] : 1);
        for (int c = 0; c < b->colors; c++)
            sums[(size_t)c * SIDE_X + x] += weight * values[(size_t)c * b->plane + x];
        sums[(size_t)b->colors * SIDE_X + x] += weight;
    }
}

static void add_real(struct nlmeans_worker *w, float *sums, const float *values, size_t n)
{
    const struct nlmeans *b = w->b;
    const float *shares = values + (size_t)b->colors * b->plane;
    for (int c = 0; c <= b->colors; c++) {
        float *to = sums + (size_t)c * SIDE_X;
        const float *colors = values + (size_t)c * b->plane;
        for (size_t x = 0; x < n; x++) {
            float weight = (float)(int32_t)w->weights[x] * shares[x];
            to[x] = c < b->colors ? fmaf(weight, colors[x], to[x]) : to[x] + weight;
        }
    }
}

/* Processes one offset: compares all pixels of the tile with the pixels `by` samples away. */
static void add_offset(struct nlmeans_worker *w, ptrdiff_t by)
{
    const struct nlmeans *b = w->b;
    int patch = b->spec->patch, height = w->tile.y1 - w->tile.y0;
    size_t n = (size_t)(w->tile.x1 - w->tile.x0), nrow = SIDE_X * (size_t)(b->colors + 1);
    size_t across = n + (size_t)patch - 1;
    memset(w->columns, 0, across * sizeof *w->columns);
    for (int r = 0; r < height + patch - 1; r++) {
        int y = r - patch + 1;
        columns_move(w, b->reach - patch / 2 + r, by, across, y <= 0);
        if (y < 0 || row_places(w, n) == (uint32_t)b->spec->n)
            continue;
        for (size_t x = 0; x < n; x++)
            w->weights[x] = w->table[w->at[x]];
        char *sums = w->sums + (size_t)y * nrow * w->nsum;
        ptrdiff_t first = (ptrdiff_t)((size_t)(b->reach + y) * b->pitch) + b->reach + by;
        if (b->real)
            add_real(w, (float *)(void *)sums, (float *)w->values + first, n);
        else if (b->wide)
            add_wide(w, (uint64_t *)(void *)sums, (uint32_t *)w->values + first, n);
        else
            add_narrow(w, (uint32_t *)(void *)sums, (uint32_t *)w->values + first, n);
    }
}

static float mean_of(const struct nlmeans_worker *w, const char *row, size_t c, size_t x,
                     float stays)
{
    size_t s = c * SIDE_X + x, a = (size_t)w->b->colors * SIDE_X + x;
    if (w->b->real) {
        const float *sums = (const float *)(const void *)row;
        return sums[a] > 0 ? sums[s] / sums[a] : stays;
    }
    const uint64_t *wide = (const uint64_t *)(const void *)row;
    const uint32_t *narrow = (const uint32_t *)(const void *)row;
    uint64_t sum = w->b->wide ? wide[s] : narrow[s], by = w->b->wide ? wide[a] : narrow[a];
    return by ? (float)((2 * sum + by) / (2 * by)) : stays;
}

/* Stores row y of the tile: weighted means, and the unchanged alpha. */
static void store(struct nlmeans_worker *w, int y)
{
    const struct gi_image *src = w->b->src;
    size_t channels = (size_t)src->channels, colors = (size_t)w->b->colors;
    size_t n = (size_t)(w->tile.x1 - w->tile.x0), nbytes = gi_type_nbytes(src->type);
    size_t first = (size_t)w->tile.x0 * channels * nbytes;
    const char *row = w->sums + (size_t)(y - w->tile.y0) * SIDE_X * (colors + 1) * w->nsum;
    char *to = (char *)gi_row(w->b->dst, y) + first;
    const char *from = (const char *)gi_row(src, y) + first;
    float *mixed = w->samples;
    GI_CPU(samples_load)(mixed, from, n * channels, src->type);
    for (size_t x = 0; x < n; x++)
        for (size_t c = 0; c < colors; c++)
            mixed[x * channels + c] = mean_of(w, row, c, x, mixed[x * channels + c]);
    GI_CPU(samples_store)(to, mixed, n * channels, src->type);
    for (size_t x = 0; x < n && colors < channels; x++)
        memcpy(to + (x * channels + colors) * nbytes, from + (x * channels + colors) * nbytes,
               nbytes);
}

static int less(int a, int b)
{
    return a < b ? a : b;
}

static void nlmeans_tile(void *arg, int index, void *scratch)
{
    const struct nlmeans *b = arg;
    struct nlmeans_worker w = {0};
    int x0 = index % b->across * SIDE_X, y0 = index / b->across * SIDE_Y;
    int half = b->spec->search / 2;
    lay_out(&w, b, scratch);
    w.tile = (struct gi_tile){x0, less(x0 + SIDE_X, b->src->width), y0,
                              less(y0 + SIDE_Y, b->src->height)};
    for (int i = 0; i <= b->spec->n; i++)
        w.table[i] = i < b->spec->n ? b->spec->weights[i] : 0;
    memset(w.sums, 0, (size_t)SIDE_X * SIDE_Y * (size_t)(b->colors + 1) * w.nsum);
    load(&w);
    for (int j = -half; j <= half; j++)
        for (int i = -half; i <= half; i++)
            add_offset(&w, j * (ptrdiff_t)b->pitch + i);
    for (int y = w.tile.y0; y < w.tile.y1; y++)
        store(&w, y);
}

static enum gi_status offsets(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_nlmeans *spec,
                              struct gi_err *err)
{
    struct nlmeans b = {.dst = dst, .src = src, .spec = spec};
    struct nlmeans_worker w = {0};
    b.colors = gi_color_channels(src);
    b.real = src->type == GI_F32;
    b.shared = gi_has_alpha(src);
    b.wide = !b.real && (src->type == GI_U16 || b.shared || spec->search > 21);
    b.reach = spec->search / 2 + spec->patch / 2;
    b.across = (src->width - 1) / SIDE_X + 1;
    b.pitch = (size_t)(less(src->width, SIDE_X) + 2 * b.reach + MARGIN);
    b.plane = b.pitch * (size_t)(less(src->height, SIDE_Y) + 2 * b.reach);
    return gi_pool_run(gi_cpu_pool(queue), b.across * ((src->height - 1) / SIDE_Y + 1),
                       nlmeans_tile, &b, lay_out(&w, &b, NULL), err);
}

GI_CPU_ONE_WAY(nlmeans, "offsets", offsets);
