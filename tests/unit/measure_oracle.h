/* Patterns of foreground, and oracles in plain loops for the measuring primitives: histogram, sums,
 * stream compaction, labels, sums of regions.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_MEASURE_ORACLE_H
#define GI_TESTS_MEASURE_ORACLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/regions.h"

static uint64_t seed = 20240521;

enum pattern {
    NOISE_10,
    NOISE_41,
    NOISE_60,
    NOISE_95,
    ALL,
    NONE,
    CHECKERS,
    SPIRAL,
    COMB,
    DOMINOES,
    RINGS,
    PATTERNS
};

static uint32_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

/* A spiral of one arm whose turns are two pixels apart. */
static bool on_spiral(int x, int y, int width, int height)
{
    int right = width - 1 - x, below = height - 1 - y;
    int ring = x < y ? x : y;
    ring = right < ring ? right : ring;
    ring = below < ring ? below : ring;
    if (x == ring && y == ring + 1 && ring % 2 == 0)
        return false; /* opens the ring ... */
    if (x == ring && y == ring + 2 && ring % 2 == 1)
        return true; /* ... and leads to the next */
    return ring % 2 == 0;
}

static bool pattern_on(enum pattern pattern, int x, int y, int width, int height)
{
    long dx = 2L * x - width, dy = 2L * y - height;
    switch (pattern) {
    case NOISE_10:
        return draw() % 100 < 10;
    case NOISE_41:
        return draw() % 100 < 41;
    case NOISE_60:
        return draw() % 100 < 60;
    case NOISE_95:
        return draw() % 100 < 95;
    case ALL:
        return true;
    case CHECKERS:
        return (x + y) % 2;
    case SPIRAL:
        return on_spiral(x, y, width, height);
    case COMB:
        return x % 2 == 0 || y == height - 1;
    case DOMINOES: /* each spans two squares of 4 x 4 */
        return y % 2 == 0 && (x + 1) % 4 < 2;
    case RINGS:
        return (long)sqrt((double)(dx * dx + dy * dy)) / 8 % 2;
    default:
        return false;
    }
}

static double get(const struct gi_image *image, int x, int y, int c)
{
    size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
    const void *row = gi_row(image, y);
    return image->type == GI_U8    ? ((const uint8_t *)row)[i]
           : image->type == GI_U16 ? ((const uint16_t *)row)[i]
           : image->type == GI_F32 ? (double)((const float *)row)[i]
                                   : ((const uint32_t *)row)[i];
}

static void put(struct gi_image *image, int x, int y, int c, double v)
{
    size_t i = (size_t)x * (size_t)image->channels + (size_t)c;
    void *row = gi_row(image, y);
    if (image->type == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)v;
    else if (image->type == GI_U16)
        ((uint16_t *)row)[i] = (uint16_t)v;
    else
        ((float *)row)[i] = (float)v;
}

/* Returns the bin of a sample among those of prefix `p` (0 for keys without a prefix), or -1 if it
 * has none. */
static int bin_of(const struct gi_histogram_spec *spec, int p, double v)
{
    float f = (float)v;
    uint32_t bits, key;
    if (spec->key == GI_KEY_VALUE)
        return (int)v;
    if (isnan(v))
        return -1;
    if (spec->key == GI_KEY_RANGE) {
        double width = (spec->hi - spec->lo) / spec->nbins;
        for (int i = 0; i < spec->nbins; i++) {
            double low = spec->lo + i * width;
            double high = i + 1 == spec->nbins ? spec->hi : spec->lo + (i + 1) * width;
            if ((low <= v && v < high) || (i + 1 == spec->nbins && v == high && v >= spec->lo))
                return i;
        }
        return -1;
    }
    memcpy(&bits, &f, 4);
    key = bits >> 31 ? ~bits : bits + 0x80000000u;
    if (spec->key == GI_KEY_FLOAT_LOW)
        return key / 65536 == spec->prefixes[p] ? (int)(key % 65536) : -1;
    return (int)(key / 65536);
}

/* Returns the number of counters of a histogram of `image`. */
static size_t histogram_counters(const struct gi_image *image, const struct gi_histogram_spec *spec)
{
    int n = spec->key == GI_KEY_FLOAT_LOW ? spec->nprefixes : 1;
    return (size_t)(n * image->channels) * (size_t)spec->nbins;
}

static void histogram_oracle(uint64_t *counts, const struct gi_image *image,
                             const struct gi_histogram_spec *spec)
{
    int nprefixes = spec->key == GI_KEY_FLOAT_LOW ? spec->nprefixes : 1;
    for (int p = 0; p < nprefixes; p++)
        for (int y = 0; y < image->height; y++)
            for (int x = 0; x < image->width; x++)
                for (int c = 0; c < image->channels; c++) {
                    int bin = bin_of(spec, p, get(image, x, y, c));
                    if (bin >= 0)
                        counts[(p * image->channels + c) * spec->nbins + bin]++;
                }
}

static void sums_oracle(struct gi_sums *sums, const struct gi_image *image, const float *lo,
                        const float *hi)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                double v = get(image, x, y, c), span = (double)hi[c] - (double)lo[c];
                if (isnan(v))
                    continue;
                if (image->type == GI_F32) {
                    v = fmin(fmax(v, (double)lo[c]), (double)hi[c]);
                    v = span > 0 ? rint((v - (double)lo[c]) * (2147483647.0 / span)) : 0;
                }
                uint64_t q = (uint64_t)v;
                sums[c].n++;
                sums[c].q += q;
                sums[c].q2_low += q * q % (1ull << 32);
                sums[c].q2_high += q * q / (1ull << 32);
            }
}

static bool is_on(const struct gi_predicate *p, int x, int y)
{
    return (get(p->on, x, y, 0) > (double)p->above) != p->invert;
}

/* Labels connected components by flood fill, in raster order of their first pixels. */
static uint32_t flood(uint32_t *labels, const struct gi_predicate *p, int connectivity)
{
    int width = p->on->width, height = p->on->height;
    size_t pixels = (size_t)width * (size_t)height, depth;
    size_t *stack = malloc(pixels * sizeof *stack);
    uint32_t n = 0;
    memset(labels, 0, pixels * sizeof *labels);
    for (size_t i = 0; i < pixels; i++) {
        if (labels[i] || !is_on(p, (int)(i % (size_t)width), (int)(i / (size_t)width)))
            continue;
        labels[i] = ++n;
        stack[0] = i;
        for (depth = 1; depth > 0;) {
            size_t at = stack[--depth];
            for (int k = 0; k < 9; k++) {
                int dx = k % 3 - 1, dy = k / 3 - 1;
                int x = (int)(at % (size_t)width) + dx, y = (int)(at / (size_t)width) + dy;
                if ((connectivity == 4 && dx && dy) || x < 0 || y < 0 || x >= width || y >= height)
                    continue;
                size_t j = (size_t)y * (size_t)width + (size_t)x;
                if (!labels[j] && is_on(p, x, y)) {
                    labels[j] = n;
                    stack[depth++] = j;
                }
            }
        }
    }
    free(stack);
    return n;
}

struct grid {
    const uint32_t *labels;
    int width, height;
};

static uint32_t at(const struct grid *g, int x, int y)
{
    return x < 0 || y < 0 || x >= g->width || y >= g->height
               ? 0
               : g->labels[(size_t)y * (size_t)g->width + (size_t)x];
}

static bool is_border(const struct grid *g, int x, int y, uint32_t label)
{
    return at(g, x, y) == label && (at(g, x - 1, y) != label || at(g, x + 1, y) != label ||
                                    at(g, x, y - 1) != label || at(g, x, y + 1) != label);
}

static void perimeter_add(struct gi_region_sums *r, const struct grid *g, int x, int y)
{
    uint32_t l = at(g, x, y);
    if (!is_border(g, x, y, l))
        return;
    int class = 1;
    for (int d = -1; d <= 1; d += 2) {
        class += 2 * is_border(g, x + d, y, l) + 2 * is_border(g, x, y + d, l);
        class += 10 * is_border(g, x + d, y + d, l) + 10 * is_border(g, x + d, y - d, l);
    }
    if (class == 5 || class == 7 || class == 15 || class == 17 || class == 25 || class == 27)
        r->straight++;
    else if (class == 21 || class == 33)
        r->diagonal++;
    else if (class == 13 || class == 23)
        r->mixed++;
}

static void region_oracle(struct gi_region_sums *regions, uint32_t n, const struct grid *g,
                          const struct gi_image *values, float lo, float hi)
{
    for (uint32_t i = 0; i < n; i++)
        regions[i] = (struct gi_region_sums){
            .min_x = UINT32_MAX, .min_y = UINT32_MAX, .min_key = UINT32_MAX};
    for (int y = 0; y < g->height; y++)
        for (int x = 0; x < g->width; x++) {
            uint32_t l = at(g, x, y), key;
            if (l == 0)
                continue;
            struct gi_region_sums *r = &regions[l - 1];
            uint32_t ux = (uint32_t)x, uy = (uint32_t)y;
            r->area++;
            r->sum_x += ux;
            r->sum_y += uy;
            r->min_x = ux < r->min_x ? ux : r->min_x;
            r->max_x = ux > r->max_x ? ux : r->max_x;
            r->min_y = uy < r->min_y ? uy : r->min_y;
            r->max_y = uy > r->max_y ? uy : r->max_y;
            perimeter_add(r, g, x, y);
            double v = get(values, x, y, 0);
            if (isnan(v))
                continue;
            uint64_t q = values->type == GI_F32 ? 0 : (uint64_t)v;
            key = (uint32_t)q;
            if (values->type == GI_F32) {
                float f = (float)v;
                memcpy(&key, &f, 4);
                key = key >> 31 ? ~key : key + 0x80000000u;
                v = v < (double)lo ? (double)lo : v > (double)hi ? (double)hi : v;
                q = (uint64_t)rint((v - (double)lo) * (2147483647.0 / ((double)hi - (double)lo)));
            }
            r->min_key = key < r->min_key ? key : r->min_key;
            r->max_key = key > r->max_key ? key : r->max_key;
            r->value.n++;
            r->value.q += q;
            r->value.q2_low += q * q % (1ull << 32);
            r->value.q2_high += q * q >> 32;
        }
}

#endif
