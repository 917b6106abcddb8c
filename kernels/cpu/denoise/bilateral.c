/* Bilateral filter. Vectors run across pixels. The weight of a pair of pixels is the same for both,
 * so it is computed once: when row y + j arrives, the weights of all pairs with row y are written
 * to lines of scratch memory, one per horizontal offset i, and both rows add the neighbours that
 * they have in the other. Rows are planes of floats, one per colour, in a ring buffer, and so are
 * the sums of the rows that wait for neighbours below. SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/denoise.h"

enum {
    STRIP_MAX = 512, /* pixels, for lines in the L1 cache */
    TOGETHER = 2,    /* vectors of pixels */
    ROW_ALIGN = 32,  /* floats, as many as these vectors have */
    /* Whether the level looks up a vector of distances at once. With AVX2 the loads of single
     * floats are about as quick as a gather instruction, and take a third of its time where
     * microcode prevents gather data sampling. */
    GATHERS = GI_LANES == 16,
};

struct bilateral {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_bilateral *spec;
    struct gi_tiling tiling;
    struct gi_border_spec guide_border;
    int half;          /* k / 2 */
    int planes, guide; /* planes of a row; index of the guide's first plane */
    int compared;      /* number of planes, from `guide` on or from 0, that are kept as bytes too */
    int nsums;         /* planes of sums: one per colour, and one of the weights */
    size_t pitch;      /* floats of a plane's row */
    int reach[GI_BILATERAL_MAX / 2 + 1]; /* reach[|j|]: maximum |i| whose spatial weight is not 0 */
};

struct bilateral_worker {
    const struct bilateral *b;
    struct gi_tile tile;
    void *samples;  /* a row with the halo of the window, as samples */
    float *ring;    /* half + 1 rows of a plane per channel */
    float *sums;    /* half + 1 rows of sums */
    float *weights; /* k lines of weights, line half + i for the offset i */
    float *out;     /* a row of results */
    uint16_t *line; /* a line of distances */
    uint8_t *bytes; /* half + 1 rows of the planes that are compared, as bytes */
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
    size_t row = round_up(b->pitch * (size_t)channels), rows = (size_t)b->half + 1;
    size_t ring = rows * (size_t)b->planes * b->pitch;
    size_t sums = rows * (size_t)b->nsums * b->pitch, weights = (size_t)b->spec->k * b->pitch;
    w->b = b;
    if (scratch) {
        w->samples = scratch;
        w->out = (float *)(void *)scratch + row;
        w->ring = w->out + row;
        w->sums = w->ring + ring;
        w->weights = w->sums + sums;
        w->line = (uint16_t *)(void *)(w->weights + weights);
        w->bytes = (uint8_t *)(w->line + b->pitch);
    }
    return (2 * row + ring + sums + weights) * sizeof(float) + b->pitch * sizeof(uint16_t) +
           rows * (size_t)b->compared * b->pitch;
}

/* Returns the slot of the row at position p in the ring buffers. */
static size_t slot_of(const struct bilateral_worker *w, long long p)
{
    return (size_t)((p + w->b->half) % (w->b->half + 1));
}

/* Returns the planes of the row at position p, in the ring buffer. */
static float *planes_of(const struct bilateral_worker *w, long long p)
{
    return w->ring + slot_of(w, p) * (size_t)w->b->planes * w->b->pitch;
}

/* Returns the sums of the row at position p: a plane per colour, then that of the weights. */
static float *sums_of(const struct bilateral_worker *w, long long p)
{
    return w->sums + slot_of(w, p) * (size_t)w->b->nsums * w->b->pitch;
}

/* Returns the planes of the row at position p that are kept as bytes. */
static uint8_t *bytes_of(const struct bilateral_worker *w, long long p)
{
    return w->bytes + slot_of(w, p) * (size_t)w->b->compared * w->b->pitch;
}

/* Loads the first `count` channels of the row at position p of an image. */
static void load_planes(struct bilateral_worker *w, float *planes, int count,
                        const struct gi_image *image, const struct gi_border_spec *border,
                        long long p)
{
    int half = w->b->half, channels = image->channels;
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
    const float *from = planes + (b->spec->guide ? (size_t)b->guide * b->pitch : 0);
    for (int c = 0; c < b->compared; c++)
        GI_CPU(samples_store)
    (bytes_of(w, p) + (size_t)c * b->pitch, from + (size_t)c * b->pitch, b->pitch, GI_U8);
}

/* Loop parameters, which are constants after inlining. */
struct bilateral_kind {
    int colors;
    bool alpha, slope;
    bool finite; /* no sample is infinite or NaN */
    int guide;   /* colours of the guide image; 0: no guide */
};

/* Two rows that weigh each other's pixels: `b` is j rows below `a`, or the same row. */
struct bilateral_rows {
    const float *a, *b; /* planes of colours and alpha, at the first pixel of the tile */
    const float *guide_a, *guide_b;   /* planes that are compared */
    const uint8_t *bytes_a, *bytes_b; /* the same as bytes, or NULL */
    int j, reach;
};

/* Returns the distances d of GI_LANES pairs of pixels. */
static inline __attribute__((always_inline)) GI_VEC distance(const float *p, const float *q,
                                                             int count, size_t pitch)
{
    GI_VEC d = vec_abs(vec_sub(vec_load(q), vec_load(p)));
    for (int c = 1; c < count; c++) {
        size_t at = (size_t)c * pitch;
        d = vec_add(d, vec_abs(vec_sub(vec_load(q + at), vec_load(p + at))));
    }
    return d;
}

/* Writes the distances of n pairs of pixels as integers. */
static inline __attribute__((always_inline)) void distances(uint16_t *restrict line,
                                                            const uint8_t *p, const uint8_t *q,
                                                            int count, size_t pitch, size_t n)
{
    for (size_t x = 0; x < n; x++) {
        uint16_t d = 0;
        for (size_t c = 0; c < (size_t)count; c++) {
            uint8_t a = p[c * pitch + x], b = q[c * pitch + x];
            uint8_t most = a > b ? a : b, least = a > b ? b : a;
            d = (uint16_t)(d + (uint8_t)(most - least));
        }
        line[x] = d;
    }
}

/* Looks up n distances; writes up to 7 more. The statement without instructions prevents the
 * compiler from making vectors of the loop. */
static void look_up(float *restrict to, const uint16_t *restrict line, const float *restrict table,
                    size_t n)
{
    for (size_t x = 0; x < n; x += 8)
        for (size_t i = x; i < x + 8; i++) {
            uint32_t bits;
            memcpy(&bits, table + line[i], sizeof bits);
            __asm__("" : "+r"(bits));
            memcpy(to + i, &bits, sizeof bits);
        }
}

/* Writes the weights of n pairs, with the spatial weight, without alpha: of the pixels from x on of
 * row `a` and from y on of row `b`. The weight of a skipped pair is 0, or -1 if samples may be
 * infinite or NaN. */
static inline __attribute__((always_inline)) void
weights_line(const struct bilateral_worker *w, float *to, const struct bilateral_rows *rows, int x,
             int y, size_t n, const float *table, float space, const struct bilateral_kind kind)
{
    const struct gi_bilateral *spec = w->b->spec;
    const GI_VEC zero = vec_set(0), magic = vec_set(0x1.8p23f), near_by = vec_set(space);
    const GI_VEC limit = vec_set((float)spec->n - 0.5f), scale = vec_set(spec->scale);
    const GI_VEC skipped = vec_set(kind.finite ? 0 : -1);
    const float *p = rows->guide_a + x, *q = rows->guide_b + y;
    int count = kind.guide ? kind.guide : kind.colors;
    size_t pitch = w->b->pitch;
    if (!kind.slope && !GATHERS) { /* the scale is 1, and all distances are in the table */
        distances(w->line, rows->bytes_a + x, rows->bytes_b + y, count, pitch, n);
        look_up(to, w->line, table, n);
        return;
    }
    for (size_t i = 0; i < n; i += GI_LANES) {
        GI_VEC d = distance(p + i, q + i, count, pitch);
        if (!kind.slope) {
            vec_store(to + i, vec_lookup(table, d));
            continue;
        }
        GI_VEC t = vec_mul(d, scale), near = vec_if_greater(limit, t, t, zero);
        GI_VEC e = vec_sub(vec_add(near, magic), magic);
        GI_VEC v =
            vec_fma(vec_sub(near, e), vec_lookup(spec->slope, e), vec_lookup(spec->value, e));
        vec_store(to + i, vec_if_greater(limit, t, vec_mul(v, near_by), skipped));
    }
}

/* Writes the weights of all pairs of the two rows with a pixel in the tile: at x of line half + i
 * that of pixel x of row `a` and pixel x + i of row `b`. */
static inline __attribute__((always_inline)) void weights_of(const struct bilateral_worker *w,
                                                             const struct bilateral_rows *rows,
                                                             const struct bilateral_kind kind)
{
    const struct gi_bilateral *spec = w->b->spec;
    int half = w->b->half, n = w->tile.x1 - w->tile.x0;
    for (int i = 0; i <= rows->reach; i++) {
        float table[GI_RANGE_ENTRIES], space = spec->space[rows->j * (half + 1) + i];
        for (int e = 0; e < spec->n && !kind.slope; e++)
            table[e] = spec->value[e] * space;
        float *right = w->weights + (size_t)(half + i) * w->b->pitch + half - i;
        weights_line(w, right, rows, -i, 0, (size_t)(n + i), table, space, kind);
        float *left = w->weights + (size_t)(half - i) * w->b->pitch + half;
        if (i && rows->j)
            weights_line(w, left, rows, 0, -i, (size_t)(n + i), table, space, kind);
    }
}

/* The sums of TOGETHER vectors of pixels. */
struct sums {
    GI_VEC s[TOGETHER][3], a[TOGETHER];
};

/* Adds the neighbour q of each pixel with its weight. */
static inline __attribute__((always_inline)) void add_neighbour(struct sums *sums,
                                                                const float *weights,
                                                                const float *q, size_t pitch,
                                                                const struct bilateral_kind kind)
{
    const GI_VEC zero = vec_set(0), infinite = vec_set(INFINITY);
    for (int v = 0; v < TOGETHER; v++, weights += GI_LANES, q += GI_LANES) {
        GI_VEC given = vec_load(weights), weight = given, c[3] = {zero, zero, zero};
        if (kind.alpha)
            weight = vec_mul(weight, vec_load(q + (size_t)kind.colors * pitch));
        if (!kind.finite)
            weight = vec_if_greater(zero, given, zero, weight);
        for (int k = 0; k < kind.colors; k++) {
            c[k] = vec_load(q + (size_t)k * pitch);
            if (!kind.finite && kind.guide) {
                GI_VEC size = vec_abs(c[k]);
                weight = vec_if_greater(infinite, size, weight, zero);
                c[k] = vec_if_greater(infinite, size, c[k], zero);
            }
        }
        for (int k = 0; k < kind.colors; k++) {
            if (!kind.finite)
                c[k] = vec_if_greater(zero, given, zero, c[k]);
            sums->s[v][k] = vec_fma(weight, c[k], sums->s[v][k]);
        }
        sums->a[v] = vec_add(sums->a[v], weight);
    }
}

/* Adds to `sums`, the sums of a row, its neighbours in a row with planes `q`. The weights of the
 * offset i are i * left floats from `weights` if i < 0, and i * right floats otherwise. */
static inline __attribute__((always_inline)) void
add_row(const struct bilateral_worker *w, float *sums, const float *q, const float *weights,
        ptrdiff_t left, ptrdiff_t right, int reach, const struct bilateral_kind kind)
{
    const GI_VEC zero = vec_set(0);
    size_t pitch = w->b->pitch;
    int n = w->tile.x1 - w->tile.x0;
    for (int x = 0; x < n; x += TOGETHER * GI_LANES) {
        struct sums row;
        for (int v = 0; v < TOGETHER; v++)
            row.s[v][0] = row.s[v][1] = row.s[v][2] = row.a[v] = zero;
        const float *weight = weights + x - reach * left, *from = q + x - reach;
        for (int i = -reach; i < 0; i++, weight += left)
            add_neighbour(&row, weight, from++, pitch, kind);
        for (int i = 0; i <= reach; i++, weight += right)
            add_neighbour(&row, weight, from++, pitch, kind);
        for (int v = 0; v < TOGETHER; v++)
            for (int k = 0; k <= kind.colors; k++) {
                float *at = sums + (size_t)k * pitch + x + v * GI_LANES;
                vec_store(at, vec_add(vec_load(at), k < kind.colors ? row.s[v][k] : row.a[v]));
            }
    }
}

/* Adds to the rows at positions p - j and p, if they are in the tile, each other's pixels. */
static inline __attribute__((always_inline)) void
add_rows(const struct bilateral_worker *w, long long p, int j, const struct bilateral_kind kind)
{
    const struct bilateral *b = w->b;
    ptrdiff_t down = (ptrdiff_t)b->pitch, up = 1 - down;
    const float *planes_a = planes_of(w, p - j) + b->half, *planes_b = planes_of(w, p) + b->half;
    size_t guide = kind.guide ? (size_t)b->guide * b->pitch : 0;
    bool above = p - j >= w->tile.y0 && p - j < w->tile.y1;
    bool below = p >= w->tile.y0 && p < w->tile.y1;
    struct bilateral_rows rows = {.a = planes_a,
                                  .b = planes_b,
                                  .guide_a = planes_a + guide,
                                  .guide_b = planes_b + guide,
                                  .bytes_a = b->compared ? bytes_of(w, p - j) + b->half : NULL,
                                  .bytes_b = b->compared ? bytes_of(w, p) + b->half : NULL,
                                  .j = j,
                                  .reach = b->reach[j]};
    const float *middle = w->weights + (size_t)b->half * b->pitch + b->half;
    if (rows.reach < 0 || (!above && !below))
        return;
    weights_of(w, &rows, kind);
    if (above)
        add_row(w, sums_of(w, p - j), rows.b, middle, j ? down : up, down, rows.reach, kind);
    if (below && j)
        add_row(w, sums_of(w, p), rows.a, middle, up, up, rows.reach, kind);
}

/* Adds the row at position p and its neighbours above. */
GI_PER_KIND void add_position(const struct bilateral_worker *w, long long p,
                              const struct bilateral_kind kind)
{
    for (int j = w->b->half; j >= 0; j--)
        if (p - j >= w->tile.y0 - w->b->half)
            add_rows(w, p, j, kind);
}

static void add(const struct bilateral_worker *w, long long p)
{
    bool rgb = gi_color_channels(w->b->src) == 3, alpha = gi_has_alpha(w->b->src);
    bool whole = !w->b->spec->slope, finite = w->b->src->type != GI_F32;
    const struct gi_image *guide = w->b->spec->guide;
    int guides = guide ? gi_color_channels(guide) : 0;
    if (guides == 1 && whole && finite && !rgb && !alpha)
        add_position(w, p, (struct bilateral_kind){1, false, false, true, 1});
    else if (guides == 3 && whole && finite && rgb && !alpha)
        add_position(w, p, (struct bilateral_kind){3, false, false, true, 3});
    else if (guide)
        add_position(w, p,
                     (struct bilateral_kind){rgb ? 3 : 1, alpha, !whole,
                                             finite && guide->type != GI_F32, guides});
    else if (whole && !rgb && !alpha)
        add_position(w, p, (struct bilateral_kind){1, false, false, true, 0});
    else if (whole && rgb && !alpha)
        add_position(w, p, (struct bilateral_kind){3, false, false, true, 0});
    else if (finite && !rgb && !alpha)
        add_position(w, p, (struct bilateral_kind){1, false, true, true, 0});
    else if (whole && rgb)
        add_position(w, p, (struct bilateral_kind){3, true, false, true, 0});
    else
        add_position(w, p, (struct bilateral_kind){rgb ? 3 : 1, alpha, !whole, finite, 0});
}

/* Divides the sums of row y of the tile into the planes of w->out. */
static void divide(const struct bilateral_worker *w, int y)
{
    size_t pitch = w->b->pitch;
    const float *planes = planes_of(w, y) + w->b->half, *sums = sums_of(w, y);
    for (int c = 0; c < w->b->nsums - 1; c++)
        for (int x = 0; x < w->tile.x1 - w->tile.x0; x += GI_LANES) {
            size_t at = (size_t)c * pitch + (size_t)x;
            GI_VEC a = vec_load(sums + (size_t)(w->b->nsums - 1) * pitch + x);
            GI_VEC mean = vec_div(vec_load(sums + at), a);
            vec_store(w->out + at, vec_if_greater(a, vec_set(0), mean, vec_load(planes + at)));
        }
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
    for (long long p = (long long)w.tile.y0 - b->half; p < (long long)w.tile.y1 + b->half; p++) {
        load(&w, p);
        memset(sums_of(&w, p), 0, (size_t)b->nsums * b->pitch * sizeof(float));
        add(&w, p);
        if (p - b->half >= w.tile.y0) {
            divide(&w, (int)(p - b->half));
            store(&w, (int)(p - b->half));
        }
    }
}

static enum gi_status rows(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           const struct gi_bilateral *spec, struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct bilateral b = {.dst = dst, .src = src, .spec = spec, .half = spec->k / 2};
    struct bilateral_worker w = {0};
    for (int j = 0; j <= b.half; j++) {
        b.reach[j] = b.half;
        while (b.reach[j] >= 0 && spec->space[j * (b.half + 1) + b.reach[j]] == 0)
            b.reach[j]--;
    }
    b.planes = b.guide = src->channels;
    b.nsums = gi_color_channels(src) + 1;
    if (spec->guide) {
        b.planes += gi_color_channels(spec->guide);
        b.guide_border.mode = spec->border.mode;
        memcpy(b.guide_border.value, spec->guide_value, sizeof b.guide_border.value);
    }
    if (!spec->slope && !GATHERS)
        b.compared = gi_color_channels(spec->guide ? spec->guide : src);
    b.tiling = GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP_MAX, spec->k - 1);
    b.pitch = round_up((size_t)(b.tiling.strip + 2 * b.half));
    return gi_pool_run(pool, b.tiling.nstrips * b.tiling.nbands, bilateral_tile, &b,
                       lay_out(&w, &b, NULL), err);
}

GI_CPU_ONE_WAY(bilateral, "rows", rows);
