/* Counts distinct colours. Colours of up to 24 bits are counted in a table of all colours, other
 * colours and those of small images by sorting.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "kernels/color.h"

/* Up to FEW pixels are sorted in less time than a table of 2^24 colours is read. */
enum { TABLE_BITS = 24, FEW = 1 << 19 };

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

/* ---- by table ---- */

struct table {
    const struct gi_image *src;
    uint32_t *counts;
};

/* Counts one row. A run of pixels of one colour is counted at once, so that threads contend less
 * for one counter. */
static void count_row(void *arg, int y, void *scratch)
{
    const struct table *table = arg;
    const void *row = gi_row(table->src, y);
    size_t channels = (size_t)table->src->channels, width = (size_t)table->src->width;
    enum gi_type type = table->src->type;
    for (size_t x = 0, end; x < width; x = end) {
        uint64_t color = color_at(row, x, channels, type);
        for (end = x + 1; end < width && color_at(row, end, channels, type) == color; end++)
            ;
        __atomic_fetch_add(&table->counts[color], (uint32_t)(end - x), __ATOMIC_RELAXED);
    }
}

static enum gi_status list_table(struct gi_colors *found, const uint32_t *counts, size_t size,
                                 struct gi_err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += counts[i] != 0;
    found->each = malloc((n ? n : 1) * sizeof *found->each);
    if (!found->each)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", n);
    for (size_t i = 0; i < size; i++)
        if (counts[i])
            found->each[found->n++] = (struct gi_color_count){i, counts[i]};
    return GI_OK;
}

static bool fits_table(const struct gi_queue *queue, const struct gi_image *src, const void *none)
{
    return bits_of(src) <= TABLE_BITS;
}

static enum gi_status by_table(struct gi_queue *queue, struct gi_colors *found,
                               const struct gi_image *src, const void *none, struct gi_err *err)
{
    size_t size = (size_t)1 << bits_of(src);
    struct table table = {src, calloc(size, sizeof *table.counts)};
    *found = (struct gi_colors){0};
    if (!table.counts)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table of colours");
    enum gi_status status = gi_pool_run(gi_cpu_pool(queue), src->height, count_row, &table, 0, err);
    if (!status)
        status = list_table(found, table.counts, size, err);
    free(table.counts);
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
