/* Bilateral filter. Vectors run across pixels. For each neighbour the range weight is looked up in
 * a table. Rows are planes of floats, one per colour, in a ring buffer.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/denoise.h"

enum { STRIP_MAX = 1024 /* pixels */, ROW_ALIGN = 16 /* floats */ };

struct bilateral {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_bilateral *spec;
    struct gi_tiling tiling;
    struct gi_border_spec guide_border;
    int planes, guide;                   /* planes of a row; index of the guide's first plane */
    size_t pitch;                        /* floats of a plane's row */
    int reach[GI_BILATERAL_MAX / 2 + 1]; /* reach[|j|]: maximum |i| whose spatial weight is not 0 */
};

struct bilateral_worker {
    const struct bilateral *b;
    struct gi_tile tile;
    void *samples; /* a row with the halo of the window, as samples */
    float *ring;   /* k rows of a plane per channel */
    float *out;    /* a row of results */
};

static size_t round_up(size_t n)
{
    return (n + 2 * ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct bilateral_worker *w, const struct bilateral *b, char *scratch)
{
    const struct gi_image *guide = b->spec->guide;
    int channels = b->src->channels;
    if (guide && guide->channels > channels)
        channels = guide->channels;
    size_t row = round_up(b->pitch * (size_t)channels) * sizeof(float);
    size_t ring = (size_t)b->spec->k * (size_t)b->planes * b->pitch * sizeof(float);
    w->b = b;
    if (scratch) {
        w->samples = scratch;
        w->out = (float *)(void *)(scratch + row);
        w->ring = (float *)(void *)(scratch + 2 * row);
    }
    return 2 * row + ring;
}

/* Returns the planes of the row at position p, in the ring buffer. */
static float *planes_of(const struct bilateral_worker *w, long long p)
{
    int k = w->b->spec->k, slot = (int)((p + k) % k);
    return w->ring + (size_t)slot * (size_t)w->b->planes * w->b->pitch;
}

/* Loads the first `count` channels of the row at position p of an image. */
static void load_planes(struct bilateral_worker *w, float *planes, int count,
                        const struct gi_image *image, const struct gi_border_spec *border,
                        long long p)
{
    int half = w->b->spec->k / 2, channels = image->channels;
    size_t n = (size_t)(w->tile.x1 - w->tile.x0 + 2 * half);
    float *floats = w->out;
    GI_CPU(row_copy)(w->samples, image, border, p, (long long)w->tile.x0 - half, n);
    if (channels == 1) {
        GI_CPU(samples_load)(planes, w->samples, n, image->type);
        return;
    }
    GI_CPU(samples_load)(floats, w->samples, n * (size_t)channels, image->type);
    for (int c = 0; c < count; c++)
        for (size_t x = 0; x < n; x++)
            planes[(size_t)c * w->b->pitch + x] = floats[x * (size_t)channels + (size_t)c];
}

static void load(struct bilateral_worker *w, long long p)
{
    const struct bilateral *b = w->b;
    float *planes = planes_of(w, p);
    load_planes(w, planes, b->src->channels, b->src, &b->spec->border, p);
    if (b->spec->guide)
        load_planes(w, planes + (size_t)b->guide * b->pitch, b->planes - b->guide, b->spec->guide,
                    &b->guide_border, p);
}

/* Loop parameters, which are constants after inlining. */
struct bilateral_kind {
    int colors;
    bool alpha, slope;
    bool finite; /* no sample is infinite or NaN */
    int guide;   /* colours of the guide image; 0: no guide */
};

/* The sums for GI_LANES pixels. */
struct sums {
    GI_VEC s[3], a;
};

/* Returns the range weights of the neighbours q of p, from their colours or from the guide's
 * colours, without the spatial weight and alpha. *t says which neighbours are skipped. */
static inline __attribute__((always_inline)) GI_VEC weights_of(const struct gi_bilateral *spec,
                                                               const struct bilateral_kind kind,
                                                               const GI_VEC *p, const GI_VEC *q,
                                                               GI_VEC *t)
{
    const GI_VEC zero = vec_set(0), magic = vec_set(0x1.8p23f);
    GI_VEC limit = vec_set((float)spec->n - 0.5f), d = vec_abs(vec_sub(q[0], p[0]));
    for (int c = 1; c < (kind.guide ? kind.guide : kind.colors); c++)
        d = vec_add(d, vec_abs(vec_sub(q[c], p[c])));
    if (!kind.slope) { /* scale is 1, and all distances are in the table */
        *t = d;
        return vec_lookup(spec->value, d);
    }
    *t = vec_mul(d, vec_set(spec->scale));
    GI_VEC near = vec_if_greater(limit, *t, *t, zero), e = vec_sub(vec_add(near, magic), magic);
    GI_VEC w = vec_fma(vec_sub(near, e), vec_lookup(spec->slope, e), vec_lookup(spec->value, e));
    return vec_if_greater(limit, *t, w, zero);
}

/* Adds the neighbours i from -reach to reach in one row, for the pixels at `at`. */
static inline __attribute__((always_inline)) void
add_row(struct sums *sums, const struct bilateral *b, const struct bilateral_kind kind,
        const GI_VEC *p, const float *at, const float *space, int reach)
{
    const struct gi_bilateral *spec = b->spec;
    GI_VEC zero = vec_set(0), limit = vec_set((float)spec->n - 0.5f), infinite = vec_set(INFINITY);
    struct sums row = {{zero, zero, zero}, zero};
    for (int i = -reach; i <= reach; i++) {
        GI_VEC q[3] = {zero, zero, zero}, g[3] = {zero, zero, zero}, t;
        for (int c = 0; c < kind.colors; c++)
            q[c] = vec_load(at + (size_t)c * b->pitch + i);
        for (int c = 0; c < kind.guide; c++)
            g[c] = vec_load(at + (size_t)(b->guide + c) * b->pitch + i);
        GI_VEC w = weights_of(spec, kind, p, kind.guide ? g : q, &t);
        w = vec_mul(w, vec_set(space[i < 0 ? -i : i]));
        if (kind.alpha)
            w = vec_mul(w, vec_load(at + (size_t)kind.colors * b->pitch + i));
        if (!kind.finite && kind.alpha)
            w = vec_if_greater(limit, t, w, zero);
        for (int c = 0; c < kind.colors && !kind.finite && kind.guide; c++) {
            w = vec_if_greater(infinite, vec_abs(q[c]), w, zero);
            q[c] = vec_if_greater(infinite, vec_abs(q[c]), q[c], zero);
        }
        for (int c = 0; c < kind.colors; c++) {
            if (!kind.finite)
                q[c] = vec_if_greater(limit, t, q[c], zero);
            row.s[c] = vec_fma(w, q[c], row.s[c]);
        }
        row.a = vec_add(row.a, w);
    }
    for (int c = 0; c < kind.colors; c++)
        sums->s[c] = vec_add(sums->s[c], row.s[c]);
    sums->a = vec_add(sums->a, row.a);
}

/* Computes row y of the tile into the planes of w->out. */
static inline __attribute__((always_inline)) void row_of(const struct bilateral_worker *w, int y,
                                                         const struct bilateral_kind kind)
{
    const struct bilateral *b = w->b;
    int half = b->spec->k / 2, n = w->tile.x1 - w->tile.x0;
    for (int x = 0; x < n; x += GI_LANES) {
        GI_VEC zero = vec_set(0), p[3] = {zero, zero, zero}, g[3] = {zero, zero, zero};
        struct sums sums = {{zero, zero, zero}, zero};
        for (int c = 0; c < kind.colors; c++)
            p[c] = vec_load(planes_of(w, y) + (size_t)c * b->pitch + half + x);
        for (int c = 0; c < kind.guide; c++)
            g[c] = vec_load(planes_of(w, y) + (size_t)(b->guide + c) * b->pitch + half + x);
        for (int j = -half; j <= half; j++) {
            int row = j < 0 ? -j : j;
            if (b->reach[row] >= 0)
                add_row(&sums, b, kind, kind.guide ? g : p,
                        planes_of(w, (long long)y + j) + half + x,
                        b->spec->space + row * (half + 1), b->reach[row]);
        }
        for (int c = 0; c < kind.colors; c++)
            vec_store(w->out + (size_t)c * b->pitch + x,
                      vec_if_greater(sums.a, zero, vec_div(sums.s[c], sums.a), p[c]));
    }
}

static void row_make(const struct bilateral_worker *w, int y)
{
    bool rgb = gi_color_channels(w->b->src) == 3, alpha = gi_has_alpha(w->b->src);
    bool whole = !w->b->spec->slope, finite = w->b->src->type != GI_F32;
    const struct gi_image *guide = w->b->spec->guide;
    if (guide)
        row_of(w, y,
               (struct bilateral_kind){rgb ? 3 : 1, alpha, !whole, finite && guide->type != GI_F32,
                                       gi_color_channels(guide)});
    else if (whole && !rgb && !alpha)
        row_of(w, y, (struct bilateral_kind){1, false, false, true, 0});
    else if (whole && rgb && !alpha)
        row_of(w, y, (struct bilateral_kind){3, false, false, true, 0});
    else if (finite && !rgb && !alpha)
        row_of(w, y, (struct bilateral_kind){1, false, true, true, 0});
    else if (whole && rgb)
        row_of(w, y, (struct bilateral_kind){3, true, false, true, 0});
    else
        row_of(w, y, (struct bilateral_kind){rgb ? 3 : 1, alpha, !whole, finite, 0});
}

/* Stores the planes of w->out as samples, with the alpha of the source. */
static void store(struct bilateral_worker *w, int y)
{
    const struct gi_image *src = w->b->src;
    int channels = src->channels, colors = gi_color_channels(src);
    size_t n = (size_t)(w->tile.x1 - w->tile.x0), nbytes = gi_type_nbytes(src->type);
    size_t first = (size_t)w->tile.x0 * (size_t)channels * nbytes;
    char *to = (char *)gi_row(w->b->dst, y) + first;
    const char *from = (const char *)gi_row(src, y) + first;
    if (channels == 1) {
        GI_CPU(samples_store)(to, w->out, n, src->type);
        return;
    }
    float *mixed = w->samples;
    memset(mixed, 0, n * (size_t)channels * sizeof *mixed);
    for (int c = 0; c < colors; c++)
        for (size_t x = 0; x < n; x++)
            mixed[x * (size_t)channels + (size_t)c] = w->out[(size_t)c * w->b->pitch + x];
    GI_CPU(samples_store)(to, mixed, n * (size_t)channels, src->type);
    for (size_t x = 0; x < n && colors < channels; x++) {
        size_t at = (x * (size_t)channels + (size_t)colors) * nbytes;
        memcpy(to + at, from + at, nbytes);
    }
}

static void bilateral_tile(void *arg, int index, void *scratch)
{
    const struct bilateral *b = arg;
    struct bilateral_worker w = {0};
    memset(scratch, 0, lay_out(&w, b, NULL)); /* vectors read past the rows */
    lay_out(&w, b, scratch);
    w.tile = GI_CPU(tile)(&b->tiling, b->src, index);
    int half = b->spec->k / 2;
    for (int i = -half; i < half; i++)
        load(&w, (long long)w.tile.y0 + i);
    for (int y = w.tile.y0; y < w.tile.y1; y++) {
        load(&w, (long long)y + half);
        row_make(&w, y);
        store(&w, y);
    }
}

static enum gi_status rows(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           const struct gi_bilateral *spec, struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct bilateral b = {.dst = dst, .src = src, .spec = spec};
    struct bilateral_worker w = {0};
    int half = spec->k / 2;
    for (int j = 0; j <= half; j++) {
        b.reach[j] = half;
        while (b.reach[j] >= 0 && spec->space[j * (half + 1) + b.reach[j]] == 0)
            b.reach[j]--;
    }
    b.planes = b.guide = src->channels;
    if (spec->guide) {
        b.planes += gi_color_channels(spec->guide);
        b.guide_border.mode = spec->border.mode;
        memcpy(b.guide_border.value, spec->guide_value, sizeof b.guide_border.value);
    }
    b.tiling = GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP_MAX, spec->k - 1);
    b.pitch = round_up((size_t)(b.tiling.strip + 2 * half));
    return gi_pool_run(pool, b.tiling.nstrips * b.tiling.nbands, bilateral_tile, &b,
                       lay_out(&w, &b, NULL), err);
}

GI_CPU_ONE_WAY(bilateral, "rows", rows);
