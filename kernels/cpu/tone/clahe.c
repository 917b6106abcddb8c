/* CLAHE (contrast-limited adaptive histogram equalization). One job per tile counts the tile's
 * samples and makes its table. Then each row is interpolated between the tables of four tiles. For
 * bytes these four tables are interleaved, so that one look-up reads all four.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "kernels/tone.h"

enum {
    ROWS = 64 /* rows per job */,
    PARTS = 4 /* counters for neighbouring samples, whose increments do not wait for each other */
};

struct clahe {
    struct gi_image *dst;
    const struct gi_image *src, *judge; /* judge: the image that is counted */
    struct gi_clahe_shape shape;
    int sets;           /* sets of tables: 1 for all channels, or 1 per colour */
    int y;              /* row of the whole image that is the first row of `src` */
    const void *tables; /* of 8 or 16 bits: [set][tile][value] */
    void *made;         /* tables that this call has allocated */
    float *weights;     /* weight of the tile on the right, for each pixel of a row */
    int *starts;        /* starts of the spans of pixels between two tiles: tiles + 2 entries */
};

static size_t tile_at(const struct clahe *c, int set, int ty, int tx)
{
    return ((size_t)(set * c->shape.y.tiles + ty) * (size_t)c->shape.x.tiles + (size_t)tx) *
           c->shape.bins;
}

static size_t entry_nbytes(const struct clahe *c)
{
    return c->shape.bins == 256 ? 1 : 2;
}

/* Counts samples x0 <= x < x1 of a row, some of which may be outside the image. */
static void count_row(const struct clahe *c, uint32_t *counts, const void *row, int x0, int x1,
                      int set)
{
    int channels = c->judge->channels, inside = x1 < c->judge->width ? x1 : c->judge->width;
    const uint8_t *bytes = (const uint8_t *)row + set;
    const uint16_t *shorts = (const uint16_t *)row + set;
    const float *floats = (const float *)row + set;
    int x = x0;
    if (c->src->type == GI_U8)
        for (; x + PARTS <= inside; x += PARTS)
            for (int i = 0; i < PARTS; i++)
                counts[256 * i + bytes[(x + i) * channels]]++;
    for (; x < x1; x++) {
        int at = x < inside ? x : gi_border_index(x, c->judge->width, GI_BORDER_REFLECT101);
        at *= channels;
        counts[c->src->type == GI_U8    ? bytes[at]
               : c->src->type == GI_U16 ? shorts[at]
                                        : gi_unit_bin(floats[at])]++;
    }
}

static void tile(void *arg, int index, void *scratch)
{
    const struct clahe *c = arg;
    const struct gi_clahe_shape *s = &c->shape;
    int tx = index % s->x.tiles, ty = index / s->x.tiles % s->y.tiles;
    int set = index / s->x.tiles / s->y.tiles;
    uint32_t *counts = scratch;
    memset(counts, 0, sizeof *counts * (s->bins == 256 ? 256 * PARTS : s->bins));
    for (int y = ty * s->y.tile; y < (ty + 1) * s->y.tile; y++)
        count_row(c, counts, gi_row(c->judge, gi_border_index(y, s->y.n, GI_BORDER_REFLECT101)),
                  tx * s->x.tile, (tx + 1) * s->x.tile, set);
    for (int v = 0; s->bins == 256 && v < 256; v++)
        for (int i = 1; i < PARTS; i++)
            counts[v] += counts[256 * i + v];
    gi_clahe_fill((char *)c->made + tile_at(c, set, ty, tx) * entry_nbytes(c), counts, s);
}

static inline float between(float p, float q, float r, float s, float a, float b)
{
    return (p * (1.0f - a) + q * a) * (1.0f - b) + (r * (1.0f - a) + s * a) * b;
}

/* Interleaves the tables of four tiles, in tile rows ty and ty + 1, for the pairs of tile columns
 * (-1, 0), (0, 1) ... */
static void lay_side_by_side(const struct clahe *c, uint32_t *fours, int set, int ty)
{
    const struct gi_clahe_side *x = &c->shape.x, *y = &c->shape.y;
    const uint8_t *tables = c->tables;
    for (int tx = -1; tx < x->tiles; tx++, fours += 256) {
        const uint8_t *t[4];
        for (int i = 0; i < 4; i++)
            t[i] = tables + tile_at(c, set, gi_clahe_nearest(y, ty + i / 2),
                                    gi_clahe_nearest(x, tx + i % 2));
        for (int v = 0; v < 256; v++)
            fours[v] = t[0][v] | (uint32_t)t[1][v] << 8 | (uint32_t)t[2][v] << 16 |
                       (uint32_t)t[3][v] << 24;
    }
}

/* Maps pixels x0 <= x < x1 of a channel, which are between the same tiles. */
static void span_u8(const struct clahe *c, uint8_t *restrict out, const uint8_t *restrict in,
                    const uint32_t *restrict four, int x0, int x1, float b)
{
    const float *restrict weights = c->weights;
    size_t step = (size_t)c->src->channels;
    if (step == 1) {
        for (int x = x0; x < x1; x++) {
            uint32_t t = four[in[x]];
            out[x] = (uint8_t)gi_clahe_rounded(
                between((float)(int)(t & 255), (float)(int)(t >> 8 & 255),
                        (float)(int)(t >> 16 & 255), (float)(int)(t >> 24), weights[x], b));
        }
        return;
    }
    for (int x = x0; x < x1; x++) {
        uint32_t t = four[in[(size_t)x * step]];
        out[(size_t)x * step] = (uint8_t)gi_clahe_rounded(
            between((float)(int)(t & 255), (float)(int)(t >> 8 & 255), (float)(int)(t >> 16 & 255),
                    (float)(int)(t >> 24), weights[x], b));
    }
}

static void span_u16(const struct clahe *c, uint16_t *out, const uint16_t *in,
                     const uint16_t *const t[4], int x0, int x1, float b)
{
    size_t step = (size_t)c->src->channels;
    for (int x = x0; x < x1; x++) {
        uint16_t v = in[(size_t)x * step];
        out[(size_t)x * step] = (uint16_t)gi_clahe_rounded(between(
            (float)t[0][v], (float)t[1][v], (float)t[2][v], (float)t[3][v], c->weights[x], b));
    }
}

static void span_f32(const struct clahe *c, float *out, const float *in, const uint16_t *const t[4],
                     int x0, int x1, float b)
{
    size_t step = (size_t)c->src->channels;
    for (int x = x0; x < x1; x++) {
        float sample = in[(size_t)x * step];
        int v = gi_unit_bin(sample);
        float f = between((float)t[0][v], (float)t[1][v], (float)t[2][v], (float)t[3][v],
                          c->weights[x], b);
        out[(size_t)x * step] = sample == sample ? f / 65535.0f : NAN;
    }
}

/* Maps a channel of row y; `fours` are the interleaved tables of the row, for bytes. */
static void channel_row(const struct clahe *c, int channel, int set, int y, const uint32_t *fours)
{
    const struct gi_clahe_side *sx = &c->shape.x;
    float b;
    int ty = gi_clahe_tile(&c->shape.y, c->y + y, &b);
    for (int tx = -1; tx < sx->tiles; tx++) {
        int x = c->starts[tx + 1], x1 = c->starts[tx + 2];
        if (fours) {
            span_u8(c, (uint8_t *)gi_row(c->dst, y) + channel,
                    (const uint8_t *)gi_row(c->src, y) + channel, fours + 256 * (tx + 1), x, x1, b);
            continue;
        }
        const uint16_t *t[4];
        for (int i = 0; i < 4; i++)
            t[i] = (const uint16_t *)c->tables + tile_at(c, set,
                                                         gi_clahe_nearest(&c->shape.y, ty + i / 2),
                                                         gi_clahe_nearest(sx, tx + i % 2));
        if (c->src->type == GI_U16)
            span_u16(c, (uint16_t *)gi_row(c->dst, y) + channel,
                     (const uint16_t *)gi_row(c->src, y) + channel, t, x, x1, b);
        else
            span_f32(c, (float *)gi_row(c->dst, y) + channel,
                     (const float *)gi_row(c->src, y) + channel, t, x, x1, b);
    }
}

static void copy_alpha(const struct clahe *c, int y)
{
    size_t n = gi_row_samples(c->src), step = (size_t)c->src->channels;
    if (c->src->type == GI_U8)
        for (size_t i = step - 1; i < n; i += step)
            ((uint8_t *)gi_row(c->dst, y))[i] = ((const uint8_t *)gi_row(c->src, y))[i];
    else if (c->src->type == GI_U16)
        for (size_t i = step - 1; i < n; i += step)
            ((uint16_t *)gi_row(c->dst, y))[i] = ((const uint16_t *)gi_row(c->src, y))[i];
    else
        for (size_t i = step - 1; i < n; i += step)
            ((float *)gi_row(c->dst, y))[i] = ((const float *)gi_row(c->src, y))[i];
}

static void rows(void *arg, int index, void *scratch)
{
    const struct clahe *c = arg;
    uint32_t *fours = c->src->type == GI_U8 ? scratch : NULL;
    size_t set_size = (size_t)(c->shape.x.tiles + 1) * 256;
    int end = (index + 1) * ROWS < c->src->height ? (index + 1) * ROWS : c->src->height, made = -2;
    for (int y = index * ROWS; y < end; y++) {
        float b;
        int ty = gi_clahe_tile(&c->shape.y, c->y + y, &b);
        for (int set = 0; fours && ty != made && set < c->sets; set++)
            lay_side_by_side(c, fours + (size_t)set * set_size, set, ty);
        made = ty;
        for (int channel = 0; channel < gi_color_channels(c->src); channel++) {
            int set = c->sets > 1 ? channel : 0;
            channel_row(c, channel, set, y, fours ? fours + (size_t)set * set_size : NULL);
        }
        if (gi_has_alpha(c->src))
            copy_alpha(c, y);
    }
}

static enum gi_status tiles(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_clahe *spec,
                            struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct clahe c = {.dst = dst,
                      .src = src,
                      .judge = spec->judge ? spec->judge : src,
                      .shape = gi_clahe_shape_of(src, spec),
                      .sets = spec->judge ? 1 : gi_color_channels(src),
                      .y = spec->tables ? spec->y : 0,
                      .tables = spec->tables};
    int ntiles = c.sets * spec->across * spec->down;
    size_t width = (size_t)src->width, bins = c.shape.bins;
    if (!spec->tables)
        c.tables = c.made = malloc((size_t)ntiles * bins * entry_nbytes(&c));
    c.starts = calloc((size_t)spec->across + 2, sizeof *c.starts);
    c.weights = malloc(width * sizeof *c.weights);
    enum gi_status status = GI_OK;
    if (!c.tables || !c.starts || !c.weights)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: tables of %d tiles", ntiles);
    for (int x = 0; x < src->width && !status; x++)
        for (int tx = gi_clahe_tile(&c.shape.x, x, &c.weights[x]); tx < spec->across; tx++)
            c.starts[tx + 2] = x + 1;
    if (!status && c.made)
        status = gi_pool_run(pool, ntiles, tile, &c,
                             (bins == 256 ? bins * PARTS : bins) * sizeof(uint32_t), err);
    size_t fours = (size_t)(spec->across + 1) * 256 * (size_t)c.sets * sizeof(uint32_t);
    if (!status)
        status = gi_pool_run(pool, (src->height + ROWS - 1) / ROWS, rows, &c,
                             src->type == GI_U8 ? fours : 0, err);
    free(c.made);
    free(c.starts);
    free(c.weights);
    return status;
}

GI_CPU_ONE_WAY(clahe, "tiles", tiles);
