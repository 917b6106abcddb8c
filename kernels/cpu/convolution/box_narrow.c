/* Box filter of 8-bit samples by running sums, for column sums that fit in 16 bits (k <= 127).
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/running_sums.h"
#include "kernels/cpu/convolution/small_kernels.h"
#include "kernels/convolution.h"

enum {
    K_MAX = 127, /* k * 255 < 2^15, so that differences of column sums fit in int16_t; k^2 * 255 <
                    2^22, so that float is precise enough for means */
    STRIP_MAX = 8192, /* samples */
    PIECE = 512,      /* samples */
    SLACK = 128,      /* bytes */
};

struct box_narrow_box {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_box *spec;
    struct gi_tiling tiling;
};

/* The columns that the windows of a tile need: the columns of the tile and k / 2 more on each side.
 * Columns before inside0 and from inside1 on are outside the image. */
struct window {
    const struct box_narrow_box *box;
    struct gi_tile tile;
    int end, inside0, inside1; /* pixels */
    uint16_t *columns;         /* column sums, a sum per sample */
    uint8_t *zero, *outside; /* rows of samples from inside0 to inside1 - 1: all 0; border values */
};

static size_t round_up(size_t nbytes)
{
    return (nbytes + 63) / 64 * 64 + SLACK;
}

/* Returns the size of the scratch memory in bytes. If `scratch` is not NULL, divides the memory
 * among the buffers. */
static size_t lay_out(struct window *w, const struct box_narrow_box *box, char *scratch)
{
    size_t n = (size_t)(box->tiling.strip + box->spec->k) * (size_t)box->src->channels;
    w->box = box;
    if (scratch) {
        w->zero = (uint8_t *)scratch;
        w->outside = w->zero + round_up(n);
        w->columns = (uint16_t *)(w->outside + round_up(n));
    }
    return 2 * round_up(n) + round_up(n * sizeof *w->columns);
}

/* Returns the row at position p, from the sample in column inside0 on. */
static const uint8_t *row_at(const struct window *w, long long p)
{
    const struct gi_image *src = w->box->src;
    int y = gi_border_index(p, src->height, w->box->spec->border.mode);
    int x = w->tile.x0 - w->box->spec->k / 2 + w->inside0;
    return y < 0 ? w->outside : (const uint8_t *)gi_row(src, y) + (size_t)x * (size_t)src->channels;
}

static void move(uint16_t *restrict columns, const uint8_t *restrict fresh,
                 const uint8_t *restrict old, size_t n)
{
    for (size_t i = 0; i < n; i++)
        columns[i] = (uint16_t)(columns[i] + fresh[i] - old[i]);
}

/* Fills columns i0 <= i < i1, which are outside the image, with copies of columns inside the image
 * or with k times the border value. */
static void copy_outside(const struct window *w, int i0, int i1)
{
    const struct gi_image *src = w->box->src;
    int x0 = w->tile.x0 - w->box->spec->k / 2, channels = src->channels;
    for (int i = i0; i < i1; i++) {
        int from = gi_border_index((long long)x0 + i, src->width, w->box->spec->border.mode);
        for (int c = 0; c < channels; c++)
            w->columns[i * channels + c] = from < 0 ? (uint16_t)(w->box->spec->k * w->outside[c])
                                                    : w->columns[(from - x0) * channels + c];
    }
}

/* Computes the means of a row from column sums. As in box.c, `carry` is the sum at the first sample
 * of a block, per channel. For one channel, differences and sums of two neighbouring samples share
 * a 32-bit lane, so that prefix sums along the row need half as many lanes. */
static void row_means_gray(uint8_t *out, const uint16_t *columns, size_t n, int k)
{
    float inverse = (float)(1.0 / ((double)k * k));
    uint32_t first = 0;
    for (int i = 0; i < k; i++)
        first += columns[i];
    GI_INTS carry = ints_set(first);
    for (size_t x = 0; x < n; x += 2 * GI_LANES) {
        GI_INTS change = ints_load_changes(columns + x, (size_t)k);
        GI_INTS both = ints_pair_sums(change);
        GI_INTS next = ints_add(carry, ints_prefix(both, 1));
        GI_INTS even = ints_sub(next, both), odd = ints_add(even, ints_pair_firsts(change));
        carry = ints_spread(next, 1);
        even = ints_scale_float(even, inverse);
        odd = ints_scale_float(odd, inverse);
        if (x + 2 * GI_LANES <= n) {
            ints_store_pairs_u8(out + x, even, odd);
        } else { /* copies the last samples, so that no byte past the row is written */
            uint8_t last[2 * GI_LANES];
            ints_store_pairs_u8(last, even, odd);
            memcpy(out + x, last, n - x);
        }
    }
}

static void row_means(const struct window *w, uint8_t *out)
{
    int k = w->box->spec->k, channels = w->box->src->channels;
    size_t n = (size_t)(w->tile.x1 - w->tile.x0) * (size_t)channels;
    if (channels == 1)
        row_means_gray(out, w->columns, n, k);
    else
        RUNNING_STEPS(channels, running_means(out, w->columns, n, k, STEP, GI_U8, false, true))
}

static void enter(void *worker, long long fresh, bool leaves, long long old)
{
    const struct window *w = worker;
    int channels = w->box->src->channels;
    size_t first = (size_t)(w->inside0 * channels);
    size_t n = (size_t)((w->inside1 - w->inside0) * channels);
    move(w->columns + first, row_at(w, fresh), leaves ? row_at(w, old) : w->zero, n);
}

static void make_row(void *worker, int y)
{
    const struct window *w = worker;
    const struct gi_image *dst = w->box->dst;
    GI_CPU(row_prefetch)(dst, &w->tile, (long long)y + 2, true);
    copy_outside(w, 0, w->inside0);
    copy_outside(w, w->inside1, w->end);
    row_means(w, (uint8_t *)gi_row(dst, y) + (size_t)w->tile.x0 * (size_t)dst->channels);
}

static void box_tile(void *arg, int index, void *scratch)
{
    const struct box_narrow_box *box = arg;
    struct window w;
    const struct gi_image *src = box->src;
    int k = box->spec->k, half = k / 2;
    memset(scratch, 0, lay_out(&w, box, scratch));
    w.tile = GI_CPU(tile)(&box->tiling, src, index);
    w.end = w.tile.x1 - w.tile.x0 + k - 1;
    w.inside0 = half > w.tile.x0 ? half - w.tile.x0 : 0;
    int right = src->width - w.tile.x0; /* may be nearly INT_MAX */
    w.inside1 = right < w.end - half ? right + half : w.end;
    GI_CPU(row_copy)
    (w.outside, src, &box->spec->border, -1, -1, (size_t)(w.inside1 - w.inside0));
    running_rows(src, &w.tile, k, &w, enter, make_row);
}

/* Refuses WRAP if the image is cut into several strips, because a strip would need columns of
 * another strip. */
bool GI_CPU(box_narrow_takes)(const struct gi_queue *queue, const struct gi_image *src,
                              const struct gi_box *spec)
{
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    return src->type == GI_U8 && !weigh && spec->k <= K_MAX &&
           (spec->border.mode != GI_BORDER_WRAP || gi_row_samples(src) <= STRIP_MAX);
}

enum gi_status GI_CPU(box_narrow)(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_box *spec,
                                  struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct box_narrow_box box = {.dst = dst, .src = src, .spec = spec};
    box.tiling =
        GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP_MAX / (size_t)src->channels, spec->k - 1);
    struct window w;
    return gi_pool_run(pool, box.tiling.nstrips * box.tiling.nbands, box_tile, &box,
                       lay_out(&w, &box, NULL), err);
}
