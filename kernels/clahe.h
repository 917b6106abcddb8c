/* Contrast-limited adaptive histogram equalization: the primitive, and what both sides agree on.
 * Included by kernels/kernels.h, whose rules hold here too. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CLAHE_H
#define GI_KERNELS_CLAHE_H

#include <math.h>

#include "imgio/image.h"
#include "kernels/border.h"
#include "kernels/histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gi_queue;

enum { GI_CLAHE_MAX = 256 }; /* tiles of a side: more would hold a few pixels each */

/* Contrast-limited adaptive histogram equalization (K. Zuiderveld, Graphics Gems IV, 1994), to the
 * byte as OpenCV's CLAHE. Let B be 256 or 65536. The image is cut into across x down tiles of one
 * size; where one of its sides does not divide, both are first made longer, by n - side % n pixels
 * of GI_BORDER_REFLECT101. A tile has N samples. Its counts above L = max(1, (int)(clip * N / B))
 * are taken off (clip 0: none is); with E their sum every count grows by E / B, and of the rest r =
 * E % B the counts of 0, s, 2 s ..., r of them, by one more, s = max(1, B / r). The tile's table
 * has for v the sum of the counts up to v, as float, times ((float)(B - 1) / (float)N), rounded
 * half to even, full scale at most.
 *
 * A pixel is looked up in the tables about it, all in float without fmaf: X = x * (1 / tile width)
 * - 1/2, i = floor(X), a = X - i, and so j and b of y; tiles i and i + 1, j and j + 1, those
 * outside being the nearest ones. With p = T(j, i), q = T(j, i + 1), r and s so of row j + 1: f =
 * (p * (1 - a) + q * a) * (1 - b) + (r * (1 - a) + s * a) * b. Then the last step.
 *
 * Floats count and are looked up as gi_unit_bin(), B being 65536; f / 65535 is the result, of NaN
 * NaN. */
struct gi_clahe {
    int across, down; /* tiles, 1 to GI_CLAHE_MAX */
    double clip;      /* times the mean of the counts; 0: no limit */
    /* The tables of the whole image, [set][tile][value], of 8 or 16 bits, in host memory, read
     * before the primitive returns; `src` is then the band of rows y and on of an image that is
     * `height` rows high. The content of `judge` is not used then; if it is set there is one table
     * set. NULL: `src` is the whole image. */
    const void *tables;
    int y, height;
};

/* Less than 2^32 pixels. Tables are made of `judge`, an image of one channel and
 * the shape and type of `src`, and serve all colour channels; where it is NULL each has its own.
 * Alpha is copied. */
typedef enum gi_status gi_clahe_fn(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_image *judge,
                                   const struct gi_clahe *spec, struct gi_err *err);

/* One side of the image, along x or y. */
struct gi_clahe_side {
    int n, tiles; /* pixels of the image; tiles */
    int tile;     /* pixels of a tile, including those outside the image */
    float inverse;
};

/* The tile before the pixel's place among the centres of tiles, -1 to tiles - 1; *weight is that of
 * the tile after it. */
GI_HOST_DEVICE static inline int gi_clahe_tile(const struct gi_clahe_side *side, int at,
                                               float *weight)
{
    float product = (float)at * side->inverse, place = product - 0.5f;
    float before = floorf(place);
    *weight = place - before;
    return (int)before;
}

/* Tile `i`, or the nearest there is. */
GI_HOST_DEVICE static inline int gi_clahe_nearest(const struct gi_clahe_side *side, int i)
{
    return i < 0 ? 0 : i < side->tiles ? i : side->tiles - 1;
}

/* Half to even, of 0 to 65535, in loops of vectors. */
static inline uint32_t gi_clahe_rounded(float f)
{
    return (uint32_t)(int32_t)((f + 8388608.0f) - 8388608.0f);
}

/* How the counts of a tile are clipped before they are summed up. */
struct gi_clahe_cut {
    uint32_t limit; /* counts are limited to this */
    uint32_t each,
        extra;     /* then `each` is added to every count, and one more to `extra` of them: */
    uint32_t step; /* those of 0, step, 2 * step ... */
};

GI_HOST_DEVICE static inline void gi_clahe_share(struct gi_clahe_cut *cut, uint32_t clipped,
                                                 uint32_t bins)
{
    cut->each = clipped / bins;
    cut->extra = clipped % bins;
    cut->step = cut->extra ? bins / cut->extra : 1;
}

/* The two sides; `limit` of the counts, UINT32_MAX for none; the tables' `scale`. */
struct gi_clahe_shape {
    struct gi_clahe_side x, y;
    uint32_t bins, limit;
    float scale;
};

static inline struct gi_clahe_side gi_clahe_side_of(int n, int tiles, bool divides)
{
    struct gi_clahe_side side = {n, tiles, n / tiles + !divides, 0};
    side.inverse = 1.0f / (float)side.tile;
    return side;
}

static inline struct gi_clahe_shape gi_clahe_shape_of(const struct gi_image *src,
                                                      const struct gi_clahe *spec)
{
    int height = spec->tables ? spec->height : src->height;
    bool divides = src->width % spec->across == 0 && height % spec->down == 0;
    struct gi_clahe_shape shape = {gi_clahe_side_of(src->width, spec->across, divides),
                                   gi_clahe_side_of(height, spec->down, divides),
                                   src->type == GI_U8 ? 256u : 65536u, UINT32_MAX, 0};
    uint64_t total = (uint64_t)shape.x.tile * (uint64_t)shape.y.tile;
    double limit = spec->clip * (double)total / (double)shape.bins;
    if (spec->clip > 0 && limit < (double)total)
        shape.limit = limit < 1 ? 1 : (uint32_t)limit;
    shape.scale = (float)(shape.bins - 1) / (float)total;
    return shape;
}

/* A tile's table, bytes or 16 bits, of its counts, which become sums. */
static inline void gi_clahe_fill(void *table, uint32_t *counts, const struct gi_clahe_shape *shape)
{
    struct gi_clahe_cut cut = {shape->limit, 0, 0, 1};
    uint32_t bins = shape->bins, clipped = 0, sum = 0;
    float full = (float)(bins - 1), scale = shape->scale;
    for (uint32_t v = 0; v < bins; v++) {
        uint32_t kept = counts[v] < cut.limit ? counts[v] : cut.limit;
        clipped += counts[v] - kept;
        counts[v] = kept;
    }
    gi_clahe_share(&cut, clipped, bins);
    for (uint32_t i = 0; i < cut.extra; i++)
        counts[i * cut.step]++;
    for (uint32_t v = 0; v < bins; v++)
        counts[v] = sum += counts[v] + cut.each;
    for (uint32_t v = 0; v < bins; v++) {
        float f = (float)counts[v] * scale;
        uint32_t to = gi_clahe_rounded(f < full ? f : full);
        if (bins == 256)
            ((uint8_t *)table)[v] = (uint8_t)to;
        else
            ((uint16_t *)table)[v] = (uint16_t)to;
    }
}

#ifdef __cplusplus
}
#endif
#endif
