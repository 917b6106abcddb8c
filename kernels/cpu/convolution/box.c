/* Box filter by running sums.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/running_sums.h"
#include "kernels/cpu/convolution/small_kernels.h"
#include "kernels/convolution.h"

enum { STRIP_MAX = 8192 /* samples */ };

struct box {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_box *spec;
    struct gi_tiling tiling;
    bool weigh;
    bool wide; /* sums need more than 32 bits */
};

struct box_worker {
    const struct box *box;
    struct gi_tile tile;
    int channels;
    size_t nwindow, n; /* samples of the columns that windows need; samples of the tile's row */
    void *columns;     /* nwindow column sums, uint32_t or uint64_t */
    uint64_t *sums;    /* n row sums, used if they need 64 bits */
    void *fresh, *old; /* rows that enter and leave the column sums, nwindow samples each */
};

/* Returns the samples of the row at position p in the columns that windows need. The row may be
 * outside the image. */
static const void *window_row(const struct box_worker *w, void *buffer, long long p)
{
    return GI_CPU(row_at)(buffer, w->box->src, &w->box->spec->border, p,
                          (long long)w->tile.x0 - w->box->spec->k / 2,
                          w->nwindow / (size_t)w->channels);
}

/* columns += fresh - old, modulo 2^32 or 2^64. A sum that wraps around is correct again after the
 * subtraction. */
#define MOVE_COLUMNS(name, sum, sample)                                                            \
    static void name(sum *columns, const sample *fresh, const sample *old, size_t n)               \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            columns[i] += (sum)fresh[i] - (sum)old[i];                                             \
    }

MOVE_COLUMNS(move_u32_u8, uint32_t, uint8_t)
MOVE_COLUMNS(move_u32_u16, uint32_t, uint16_t)
MOVE_COLUMNS(move_u64_u16, uint64_t, uint16_t)

#define MOVE_WEIGHED(name, sample)                                                                 \
    static void name(uint64_t *columns, const sample *fresh, const sample *old, size_t n,          \
                     size_t channels)                                                              \
    {                                                                                              \
        for (size_t i = 0; i < n; i += channels) {                                                 \
            uint64_t a = fresh[i + channels - 1], b = old[i + channels - 1];                       \
            for (size_t c = 0; c < channels - 1; c++)                                              \
                columns[i + c] += fresh[i + c] * a - old[i + c] * b;                               \
            columns[i + channels - 1] += a - b;                                                    \
        }                                                                                          \
    }

MOVE_WEIGHED(move_weighed_u8, uint8_t)
MOVE_WEIGHED(move_weighed_u16, uint16_t)

static inline __attribute__((always_inline)) void
move_block(uint32_t *columns, const uint8_t *fresh, const uint8_t *old, int channels)
{
    GI_INTS in = ints_weigh(ints_load_u8(fresh), channels);
    GI_INTS out = ints_weigh(ints_load_u8(old), channels);
    ints_store(columns, ints_add(ints_load(columns), ints_sub(in, out)));
}

/* Updates column sums of colours multiplied by alpha, if these sums fit in 32 bits. The number of
 * channels is a constant after inlining. */
static inline __attribute__((always_inline)) void
move_weighed(uint32_t *columns, const uint8_t *fresh, const uint8_t *old, size_t n, int channels)
{
    size_t i = 0;
    for (; i + GI_LANES <= n; i += GI_LANES)
        move_block(columns + i, fresh + i, old + i, channels);
    if (i < n) { /* copies the last samples, so that no byte past the row is read */
        uint8_t last_fresh[GI_LANES] = {0}, last_old[GI_LANES] = {0};
        memcpy(last_fresh, fresh + i, n - i);
        memcpy(last_old, old + i, n - i);
        move_block(columns + i, last_fresh, last_old, channels);
    }
}

static void move(const struct box_worker *w, const void *fresh, const void *old)
{
    bool is_u8 = w->box->src->type == GI_U8;
    if (w->box->weigh && !w->box->wide && w->channels == 2)
        move_weighed(w->columns, fresh, old, w->nwindow, 2);
    else if (w->box->weigh && !w->box->wide)
        move_weighed(w->columns, fresh, old, w->nwindow, 4);
    else if (w->box->weigh && is_u8)
        move_weighed_u8(w->columns, fresh, old, w->nwindow, (size_t)w->channels);
    else if (w->box->weigh)
        move_weighed_u16(w->columns, fresh, old, w->nwindow, (size_t)w->channels);
    else if (w->box->wide)
        move_u64_u16(w->columns, fresh, old, w->nwindow);
    else if (is_u8)
        move_u32_u8(w->columns, fresh, old, w->nwindow);
    else
        move_u32_u16(w->columns, fresh, old, w->nwindow);
}

/* Computes (2 S + N) / (2 N) rounded down, as S * (1 / N) + 1/2 in double, truncated. N = k * k is
 * odd, so 2 S + N is odd, the quotient is never an integer, and the next integer is at least 1 / (2
 * N) > 3.1e-8 away (k <= 4001). S < 2^53 is exact. The three roundings move a quotient below 65536
 * by less than 2^16 * (2^-53 + 2^-53) + 2^-37 < 2.2e-11. */
static void wide_means(uint16_t *out, const uint64_t *sums, size_t n, double inverse)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint16_t)((double)sums[i] * inverse + 0.5);
}

/* Returns (2 S + A) / (2 A) rounded down. For 8 bits 2 S + A < 2^42 and quotients that are integers
 * are exact in double. Other quotients are at least 1 / (2 A) > 1.2e-10 away from an integer, and
 * rounding moves them by less than 2^8 * 2^-53. For 16 bits and A < 2^32 three roundings move
 * quotients by less than 2^16 * 3 * 2^-53 < 2^-35, and those that are no integers are at least 1 /
 * (2 A) > 2^-33 away from one, so 2^-34 is added before the quotient is truncated. Larger sums are
 * divided as integers. */
static inline uint8_t weighed_mean_u8(uint64_t s, uint64_t a)
{
    return (uint8_t)((double)(int64_t)(2 * s + a) / (double)(int64_t)(2 * a));
}

static inline uint16_t weighed_mean_u16(uint64_t s, uint64_t a)
{
    if (a <= UINT32_MAX)
        return (uint16_t)((double)(int64_t)(2 * s + a) / (double)(int64_t)(2 * a) + 0x1p-34);
    return (uint16_t)((2 * s + a) / (2 * a));
}

/* Colour becomes its weighted sum divided by the sum of alpha, or 0 if the sum of alpha is 0. Alpha
 * becomes the plain mean. */
#define WEIGHED_MEANS(name, sample, mean)                                                          \
    static void name(sample *out, const uint64_t *sums, size_t n, size_t channels, double inverse) \
    {                                                                                              \
        for (size_t i = 0; i < n; i += channels) {                                                 \
            uint64_t a = sums[i + channels - 1];                                                   \
            for (size_t c = 0; c < channels - 1; c++)                                              \
                out[i + c] = a ? mean(sums[i + c], a) : 0;                                         \
            out[i + channels - 1] = (sample)((double)a * inverse + 0.5);                           \
        }                                                                                          \
    }

WEIGHED_MEANS(weighed_means_u8, uint8_t, weighed_mean_u8)
WEIGHED_MEANS(weighed_means_u16, uint16_t, weighed_mean_u16)

static void store_means(const struct box_worker *w, void *out)
{
    size_t channels = (size_t)w->channels, k = (size_t)w->box->spec->k;
    double inverse = 1.0 / (double)(k * k);
    bool is_u8 = w->box->src->type == GI_U8;
    if (!w->box->wide) {
        if (w->box->weigh && w->channels == 2)
            running_means(out, w->columns, w->n, (int)k, 2, GI_U8, true, false);
        else if (w->box->weigh)
            running_means(out, w->columns, w->n, (int)k, 4, GI_U8, true, false);
        else if (is_u8)
            RUNNING_STEPS(w->channels,
                          running_means(out, w->columns, w->n, (int)k, STEP, GI_U8, false, false))
        else
            RUNNING_STEPS(w->channels,
                          running_means(out, w->columns, w->n, (int)k, STEP, GI_U16, false, false))
        return;
    }
    running_row_u64(w->sums, w->columns, w->n, k * channels, channels);
    if (!w->box->weigh)
        wide_means(out, w->sums, w->n, inverse);
    else if (is_u8)
        weighed_means_u8(out, w->sums, w->n, channels, inverse);
    else
        weighed_means_u16(out, w->sums, w->n, channels, inverse);
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct box_worker *w, const struct box *box, char *scratch)
{
    size_t channels = (size_t)box->src->channels, nsum = box->wide ? 8 : 4;
    size_t strip = (size_t)box->tiling.strip, window = strip + (size_t)box->spec->k;
    size_t row = running_room(window * channels * gi_type_nbytes(box->src->type));
    size_t columns = running_room(window * channels * nsum);
    w->box = box;
    w->channels = (int)channels;
    if (scratch) {
        w->fresh = scratch;
        w->old = scratch + row;
        w->columns = scratch + 2 * row;
        w->sums = (uint64_t *)(scratch + 2 * row + columns);
    }
    return 2 * row + columns + (box->wide ? running_room(strip * channels * nsum) : 0);
}

static void enter(void *worker, long long fresh, bool leaves, long long old)
{
    const struct box_worker *w = worker;
    move(w, window_row(w, w->fresh, fresh), leaves ? window_row(w, w->old, old) : w->old);
}

static void make_row(void *worker, int y)
{
    const struct box_worker *w = worker;
    const struct gi_image *dst = w->box->dst;
    size_t first = (size_t)w->tile.x0 * (size_t)w->channels * gi_type_nbytes(dst->type);
    GI_CPU(row_prefetch)(dst, &w->tile, (long long)y + 2, true);
    store_means(w, (char *)gi_row(dst, y) + first);
}

static void box_tile(void *arg, int index, void *scratch)
{
    const struct box *box = arg;
    struct box_worker w = {0};
    memset(scratch, 0, lay_out(&w, box, scratch)); /* `old` of the first rows */
    w.tile = GI_CPU(tile)(&box->tiling, box->src, index);
    w.n = (size_t)(w.tile.x1 - w.tile.x0) * (size_t)w.channels;
    w.nwindow = w.n + (size_t)(box->spec->k - 1) * (size_t)w.channels;
    running_rows(box->src, &w.tile, box->spec->k, &w, enter, make_row);
}

static enum gi_status running(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_box *spec,
                              struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct box box = {.dst = dst, .src = src, .spec = spec};
    box.weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    uint64_t n = (uint64_t)spec->k * (uint64_t)spec->k;
    uint64_t full = src->type == GI_U8 ? 255 : 65535;
    box.wide = n * full * (box.weigh ? full : 1) > UINT32_MAX;
    box.wide |= box.weigh && src->type == GI_U16;
    box.tiling =
        GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP_MAX / (size_t)src->channels, spec->k - 1);
    struct box_worker w = {0};
    return gi_pool_run(pool, box.tiling.nstrips * box.tiling.nbands, box_tile, &box,
                       lay_out(&w, &box, NULL), err);
}

/* Time of each way in us with AVX-512, one thread, 2048 x 2048, 8-bit gray. k = 3: small 1295,
 * narrow 2155, running 3187. k = 31: narrow 2479, running 8974. k = 5 of RGBA by alpha: weighed
 * 20333, running 47602. */
const struct gi_box_way GI_CPU(box_ways)[GI_WAYS_MAX] = {
    {{"small", "k 3 and 5"}, GI_CPU(box_small_takes), GI_CPU(box_small)},
    {{"weighed", "k 3 to 7 of 8-bit RGBA by alpha"},
     GI_CPU(box_weighed_takes),
     GI_CPU(box_weighed)},
    {{"narrow", "k up to 127 of 8 bits"}, GI_CPU(box_narrow_takes), GI_CPU(box_narrow)},
    {{"running", "everything"}, NULL, running},
};
