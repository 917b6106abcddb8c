/* Counts distinct colours. Pixels of up to 24 bits are sorted into 256 buckets, each of which is
 * counted in a table of its colours; other colours and those of small images by sorting.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "kernels/color.h"

enum {
    TABLE_BITS = 24,
    FEW = 1 << 19,   /* pixels, sorted in less time than tables of 2^24 colours are read */
    CHUNK = 1 << 24, /* pixels at a time, of which 2 bytes each are kept */
    BUCKETS = 256,
    SLICES = 32,
};

static unsigned bits_of(const struct gi_image *src)
{
    return 8 * (unsigned)(gi_type_nbytes(src->type) * (size_t)src->channels);
}

/* Returns the colour of pixel x of a row as a number. */
static inline uint64_t color_at(const void *row, size_t x, size_t channels, enum gi_type type)
{
    uint64_t color = 0;
    for (size_t c = 0; c < channels; c++)
        color = type == GI_U8 ? color << 8 | ((const uint8_t *)row)[x * channels + c]
                              : color << 16 | ((const uint16_t *)row)[x * channels + c];
    return color;
}

/* ---- by tables ---- */

/* Pixels of a chunk of rows, sorted into buckets by the highest 8 bits of their colours. A bucket
 * is counted in a table that fits in the cache, by one thread. */
struct buckets {
    const struct gi_image *src; /* the rows of the chunk */
    unsigned low;               /* bits of a colour that are not the bucket's, up to 16 */
    int nslices, slice_rows;    /* rows that a thread sorts at a time */
    /* at[s] has the pixels of slice s per bucket, then the place of the next one in `lows`. */
    uint32_t (*at)[BUCKETS];
    uint16_t *lows; /* low bits of all pixels, bucket by bucket */
    struct gi_colors lists[BUCKETS];
};

/* Counts the pixels of a slice per bucket, or puts their low bits into the buckets. */
static inline void sort_slice(const struct buckets *b, int slice, bool put, size_t channels,
                              enum gi_type type)
{
    size_t width = (size_t)b->src->width;
    int y = slice * b->slice_rows, left = b->src->height - y;
    uint32_t counts[4][BUCKETS] = {0}, *at = b->at[slice]; /* neighbours often share a bucket */
    for (int end = y + (left < b->slice_rows ? left : b->slice_rows); y < end; y++) {
        const void *row = gi_row(b->src, y);
        for (size_t x = 0; x < width; x++) {
            uint32_t color = (uint32_t)color_at(row, x, channels, type);
            if (put)
                b->lows[at[color >> b->low]++] = (uint16_t)(color & ((1U << b->low) - 1));
            else
                counts[x % 4][color >> b->low]++;
        }
    }
    for (int i = 0; !put && i < BUCKETS; i++)
        at[i] = counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i];
}

static inline void sort_any_slice(const struct buckets *b, int slice, bool put)
{
    if (b->src->type == GI_U16)
        sort_slice(b, slice, put, 1, GI_U16);
    else if (b->src->channels == 1)
        sort_slice(b, slice, put, 1, GI_U8);
    else if (b->src->channels == 2)
        sort_slice(b, slice, put, 2, GI_U8);
    else
        sort_slice(b, slice, put, 3, GI_U8);
}

static void count_slice(void *arg, int slice, void *scratch)
{
    sort_any_slice(arg, slice, false);
}

static void put_slice(void *arg, int slice, void *scratch)
{
    sort_any_slice(arg, slice, true);
}

/* Lists the colours of a bucket. Its pixels end where those of the last slice do. */
static void list_bucket(void *arg, int index, void *scratch)
{
    struct buckets *b = arg;
    struct gi_colors *list = &b->lists[index];
    uint32_t *counts = scratch, end = b->at[b->nslices - 1][index];
    size_t size = (size_t)1 << b->low, n = 0;
    memset(counts, 0, size * sizeof *counts);
    for (uint32_t i = index ? b->at[b->nslices - 1][index - 1] : 0; i < end; i++)
        counts[b->lows[i]]++;
    for (size_t i = 0; i < size; i++)
        n += counts[i] != 0;
    list->each = malloc((n ? n : 1) * sizeof *list->each);
    for (size_t i = 0; i < size && list->each; i++)
        if (counts[i])
            list->each[list->n++] =
                (struct gi_color_count){(uint64_t)index << b->low | i, counts[i]};
}

/* Sorts and counts all pixels of the chunk. */
static enum gi_status fill_buckets(struct buckets *b, struct gi_pool *pool, struct gi_err *err)
{
    enum gi_status status = gi_pool_run(pool, b->nslices, count_slice, b, 0, err);
    uint32_t at = 0;
    for (int i = 0; i < BUCKETS && !status; i++)
        for (int slice = 0; slice < b->nslices; slice++) {
            uint32_t n = b->at[slice][i];
            b->at[slice][i] = at;
            at += n;
        }
    if (!status)
        status = gi_pool_run(pool, b->nslices, put_slice, b, 0, err);
    if (!status)
        status = gi_pool_run(pool, BUCKETS, list_bucket, b, sizeof(uint32_t) << b->low, err);
    for (int i = 0; i < BUCKETS && !status; i++)
        if (!b->lists[i].each)
            status = gi_fail(err, GI_E_MEMORY, "out of memory: colours");
    return status;
}

/* Adds the colours of all buckets to `found`, both in ascending order. */
static enum gi_status merge(struct gi_colors *found, const struct buckets *b, struct gi_err *err)
{
    size_t n = found->n, i = 0, used = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        n += b->lists[bucket].n;
    struct gi_color_count *each = gi_samples_alloc(n * sizeof *each);
    if (!each)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", n);
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        for (size_t k = 0; k < b->lists[bucket].n; k++) {
            struct gi_color_count more = b->lists[bucket].each[k];
            while (i < found->n && found->each[i].color < more.color)
                each[used++] = found->each[i++];
            if (i < found->n && found->each[i].color == more.color)
                more.count += found->each[i++].count;
            each[used++] = more;
        }
    while (i < found->n)
        each[used++] = found->each[i++];
    free(found->each);
    *found = (struct gi_colors){used, each};
    return GI_OK;
}

static enum gi_status count_chunk(struct gi_queue *queue, struct gi_colors *found,
                                  const struct gi_image *rows, struct gi_err *err)
{
    int slice_rows = 1 + rows->height / SLICES;
    struct buckets b = {.src = rows,
                        .low = bits_of(rows) - 8,
                        .slice_rows = slice_rows,
                        .nslices = 1 + (rows->height - 1) / slice_rows};
    b.at = malloc((size_t)b.nslices * sizeof *b.at);
    b.lows = gi_samples_alloc((size_t)rows->width * (size_t)rows->height * sizeof *b.lows);
    enum gi_status status = b.at && b.lows
                                ? fill_buckets(&b, gi_cpu_pool(queue), err)
                                : gi_fail(err, GI_E_MEMORY, "out of memory: pixels by colour");
    if (!status)
        status = merge(found, &b, err);
    for (int i = 0; i < BUCKETS; i++)
        free(b.lists[i].each);
    free(b.lows);
    free(b.at);
    return status;
}

static bool fits_table(const struct gi_queue *queue, const struct gi_image *src, const void *none)
{
    return bits_of(src) <= TABLE_BITS;
}

static enum gi_status by_table(struct gi_queue *queue, struct gi_colors *found,
                               const struct gi_image *src, const void *none, struct gi_err *err)
{
    int most = src->width < CHUNK ? CHUNK / src->width : 1;
    enum gi_status status = GI_OK;
    *found = (struct gi_colors){0};
    for (int y = 0, end; y < src->height && !status; y = end) {
        end = src->height - y < most ? src->height : y + most;
        const struct gi_image rows = gi_image_rows(src, y, end);
        status = count_chunk(queue, found, &rows, err);
    }
    if (status) {
        free(found->each);
        *found = (struct gi_colors){0};
    }
    return status;
}

/* ---- by sorting ---- */

static bool has_few(const struct gi_queue *queue, const struct gi_image *src, const void *none)
{
    return bits_of(src) > 16 && (size_t)src->width * (size_t)src->height <= FEW;
}

static enum gi_status by_sort(struct gi_queue *queue, struct gi_colors *found,
                              const struct gi_image *src, const void *none, struct gi_err *err)
{
    size_t width = (size_t)src->width, n = width * (size_t)src->height;
    uint64_t *colors = malloc(n * sizeof *colors);
    if (!colors)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", n);
    for (int y = 0; y < src->height; y++)
        for (size_t x = 0; x < width; x++)
            colors[(size_t)y * width + x] =
                color_at(gi_row(src, y), x, (size_t)src->channels, src->type);
    return gi_colors_sort(found, colors, n, bits_of(src), err);
}

const struct gi_count_colors_way GI_CPU(count_colors_ways)[GI_WAYS_MAX] = {
    {{"few", "up to 2^19 pixels"}, has_few, by_sort},
    {{"table", "colours of 24 bits at most"}, fits_table, by_table},
    {{"sort", "everything"}, NULL, by_sort},
};
