/* Every way of CLAHE gives the result of OpenCV's algorithm, which is repeated here step by step
 * (tests/filters/clahe_oracle.py compares with OpenCV itself).
 * Sources: tone
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/tone.h"

/* Returns the number of the bin that counts the sample. */
static unsigned sample(const struct gi_image *image, int y, int x, int c)
{
    size_t i = (size_t)(x * image->channels + c);
    if (image->type == GI_F32) {
        double v = floor(65536 * (double)((const float *)gi_row(image, y))[i]);
        return v > 0 ? (unsigned)fmin(v, 65535) : 0;
    }
    return image->type == GI_U8 ? ((const uint8_t *)gi_row(image, y))[i]
                                : ((const uint16_t *)gi_row(image, y))[i];
}

/* Computes the lookup table of channel c for the tile whose first pixel is (x0, y0). */
static void exact_table(unsigned *table, const struct gi_image *judge, int c, const int tile[2],
                        int x0, int y0, double clip)
{
    int bins = judge->type == GI_U8 ? 256 : 65536, total = tile[0] * tile[1], sum = 0, spare = 0;
    int *counts = calloc((size_t)bins, sizeof *counts);
    for (int y = y0; y < y0 + tile[1]; y++)
        for (int x = x0; x < x0 + tile[0]; x++)
            counts[sample(judge, gi_border_index(y, judge->height, GI_BORDER_REFLECT101),
                          gi_border_index(x, judge->width, GI_BORDER_REFLECT101), c)]++;
    int limit = (int)fmin(clip * total / bins, 1e9);
    limit = limit < 1 ? 1 : limit;
    for (int v = 0; v < bins && clip > 0; v++)
        if (counts[v] > limit) {
            spare += counts[v] - limit;
            counts[v] = limit;
        }
    for (int v = 0; v < bins; v++)
        counts[v] += spare / bins;
    spare %= bins;
    for (int v = 0, step = spare ? bins / spare : 1; spare > 0; v += step, spare--)
        counts[v]++;
    float scale = (float)(bins - 1) / (float)total;
    for (int v = 0; v < bins; v++) {
        sum += counts[v];
        float f = rintf((float)sum * scale);
        table[v] = f < (float)(bins - 1) ? (unsigned)f : (unsigned)bins - 1;
    }
    free(counts);
}

struct place {
    int before, after;
    float weight;
};

static struct place place_of(int at, int tile, int tiles)
{
    float inverse = 1.0f / (float)tile, product = (float)at * inverse, f = product - 0.5f;
    int i = (int)floorf(f);
    return (struct place){i < 0 ? 0 : i, i + 1 < tiles ? i + 1 : tiles - 1, f - (float)i};
}

static void exact_channel(struct gi_image *dst, const struct gi_image *src,
                          const struct gi_image *judge, int c, const struct gi_clahe *spec)
{
    int n[2] = {spec->across, spec->down}, size[2] = {src->width, src->height}, tile[2];
    bool divides = size[0] % n[0] == 0 && size[1] % n[1] == 0;
    size_t bins = src->type == GI_U8 ? 256 : 65536;
    unsigned *tables = calloc(bins * (size_t)(n[0] * n[1]), sizeof *tables);
    for (int i = 0; i < 2; i++)
        tile[i] = divides ? size[i] / n[i] : (size[i] + n[i] - size[i] % n[i]) / n[i];
    for (int t = 0; t < n[0] * n[1]; t++)
        exact_table(tables + bins * (size_t)t, judge, judge == src ? c : 0, tile,
                    t % n[0] * tile[0], t / n[0] * tile[1], spec->clip);
    for (int y = 0; y < size[1]; y++)
        for (int x = 0; x < size[0]; x++) {
            struct place px = place_of(x, tile[0], n[0]), py = place_of(y, tile[1], n[1]);
            const unsigned *up = tables + sample(src, y, x, c), *down = up;
            up += bins * (size_t)(py.before * n[0]);
            down += bins * (size_t)(py.after * n[0]);
            float a = px.weight, b = py.weight;
            float one = (float)up[bins * (size_t)px.before] * (1 - a);
            float two = (float)up[bins * (size_t)px.after] * a;
            float three = (float)down[bins * (size_t)px.before] * (1 - a);
            float four = (float)down[bins * (size_t)px.after] * a;
            float first = (one + two) * (1 - b), last = (three + four) * b;
            float v = exact_sample(src, y, x, c), f = first + last;
            exact_put(dst, y, x, c, src->type != GI_F32 ? f : isnan(v) ? NAN : f / 65535);
        }
    free(tables);
}

static struct gi_clahe *clahe(struct walk_case *c, int across, int down, double clip)
{
    struct gi_clahe *spec = WALK_SPEC(c, struct gi_clahe);
    *spec = (struct gi_clahe){.across = across, .down = down, .clip = clip};
    walk_source_here(c);
    if (walk_between(c, 0, 1))
        walk_other(c, &spec->judge, c->width, c->height, 1, c->type);
    return spec;
}

static void draw(struct walk_case *c)
{
    static const int tiles[][2] = {{1, 1}, {3, 2}, {16, 5}, {8, 8}, {31, 33}};
    static const double clips[] = {2, 0, 40, 0.01, 1e6};
    int i = walk_between(c, 0, c->type == GI_U8 ? 4 : 2);
    clahe(c, tiles[i][0], tiles[i][1], clips[walk_between(c, 0, 4)]);
}

/* Makes rows of several blocks, tiles of many rows, and the maximum number of tiles. */
static void draw_large(struct walk_case *c)
{
    int across = c->width == 2600 ? 2 : c->width == 700 ? 8 : 256;
    if (c->type == GI_U8 && c->channels % 2)
        clahe(c, across, across == 2 ? 1 : across, 3.3);
}

/* Writes `count` samples of each value, in ascending order, to pixels of one or several equal
 * channels. With twice the limit of counts, half of the samples are above it, and the entries of a
 * table grow as quickly as they can. */
static void fill_ramp(struct gi_image *image, int count)
{
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            int v = 1000 + (y * image->width + (int)i / image->channels) / count;
            if (image->type == GI_F32)
                ((float *)gi_row(image, y))[i] = ((float)v + 0.5f) / 65536;
            else
                ((uint16_t *)gi_row(image, y))[i] = (uint16_t)v;
        }
}

/* Repeats the first pixel in all rows, or in all except the last 90. */
static void fill_flat(struct gi_image *image, bool all)
{
    size_t pixel = (size_t)image->channels * gi_type_nbytes(image->type);
    char *row = gi_row(image, 0);
    for (size_t i = pixel; i < gi_row_nbytes(image); i++)
        row[i] = row[i - pixel];
    int flat = all ? image->height : image->height - 90;
    for (int y = 1; y < flat; y++)
        memcpy(gi_row(image, y), row, gi_row_nbytes(image));
}

/* Makes few tiles of 16-bit or float samples, each of at least 60,000 pixels. All or most pixels
 * have the same value, whose count may not fit in 16 bits, or values ascend. */
static void draw_full(struct walk_case *c)
{
    if (c->type == GI_U8)
        return;
    int across = c->width == 300 ? 1 : walk_between(c, 1, 2);
    clahe(c, across, c->width == 700 ? 1 : 2, walk_between(c, 0, 3) ? 2 : 0);
    struct gi_image *judge = c->nothers ? &c->others[0].image : &c->srcs[0].image;
    if (walk_between(c, 0, 1))
        fill_ramp(judge, 8);
    else
        fill_flat(judge, !walk_between(c, 0, 2));
}

static void define(struct walk_case *c)
{
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    for (int y = 0; y < c->height; y++) /* alpha */
        memcpy(gi_row(want, y), gi_row(src, y), gi_row_nbytes(src));
    for (int i = 0; i < gi_color_channels(src); i++)
        exact_channel(want, src, c->nothers ? &c->others[0].image : src, i, c->spec);
}

static const int large[][2] = {{2600, 300}, {700, 513}, {300, 260}, {0, 0}};

/* With GPUIMG_TEST_QUICK only the second size runs. */
static const int full[][2] = {{700, 380}, {300, 400}, {509, 490}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("clahe", "any tiles", draw, define, .few = true),
    WALK_ROW("clahe", "large", draw_large, define, .sizes = large, .few = true),
    WALK_ROW("clahe", "full counters", draw_full, define, .sizes = full, .few = true),
};

WALK_ROWS(rows)
