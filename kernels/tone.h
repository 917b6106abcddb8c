/* Contracts of the family tone: pointwise operations and lookup tables, thresholds, local
 * thresholds, and contrast-limited adaptive histogram equalization. SPDX-License-Identifier: MIT
 * */
#ifndef GI_KERNELS_TONE_H
#define GI_KERNELS_TONE_H

#include <math.h>
#include <string.h>

#include "kernels/rules.h"
#include "kernels/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result for a sample a of `src`; then the last step, as for all primitives. */
enum gi_pointwise_op {
    GI_POINTWISE_AFFINE, /* fmaf(scale, a, offset), both of a's channel */
    GI_POINTWISE_TABLE, /* entry a of the table of a's channel; GI_F32: gi_unit_bin(a), NaN stays */
};

struct gi_pointwise {
    enum gi_pointwise_op op;
    bool alpha_too; /* alpha is a channel like the others; else the result has the alpha of `src` */
    float scale[GI_MAX_CHANNELS], offset[GI_MAX_CHANNELS]; /* AFFINE: a factor; sample units */
    /* TABLE: 256 or 65536 entries of the images' type for each channel, of GI_F32 numbers; alpha's
     * (the last) looked at only where `alpha_too`; several may be the same one, which is quicker.
     * NULL, of GI_F32 only: the channel stays. Host memory, read before the primitive returns. */
    const void *table[GI_MAX_CHANNELS];
};

/* pointwise: `dst` may be `src` itself, the same samples at the same stride. Errors too:
 * GI_E_UNSUPPORTED for a type that the operation does not take. */

/* threshold: colour samples become full scale where (sample > above) != invert, else 0; alpha is
 * copied. `dst` may be `src`. */
struct gi_threshold {
    float above; /* sample units */
    bool invert;
};

enum { GI_CLAHE_MAX = 256 }; /* tiles per side: more would have only a few pixels each */

/* Contrast-limited adaptive histogram equalization (K. Zuiderveld, Graphics Gems IV, 1994), with
 * the same bytes as OpenCV's CLAHE. Let B be 256 or 65536. The image is cut into across x down
 * tiles of one size; where one of its sides does not divide, both are first made longer, by n -
 * side % n pixels of GI_BORDER_REFLECT101. A tile has N samples. Its counts above L = max(1,
 * (int)(clip * N / B)) are taken off (clip 0: none is); with E their sum every count grows by E /
 * B, and of the rest r = E % B the counts of 0, s, 2 s ..., r of them, by one more, s = max(1, B /
 * r). The tile's table has for v the sum of the counts up to v, as float, times ((float)(B - 1) /
 * (float)N), rounded half to even, full scale at most.
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
    /* The image that tables are made of, which serve all colour channels: one channel, the size and
     * type of `src`. NULL: each channel has its own tables. */
    const struct gi_image *judge;
};

/* clahe: fewer than 2^32 pixels. Alpha is copied. */

/* One side of the image, along x or y. */
struct gi_clahe_side {
    int n, tiles; /* pixels of the image; tiles */
    int tile;     /* pixels of a tile, including those outside the image */
    float inverse;
};

/* Returns the tile whose centre precedes the pixel, -1 to tiles - 1; *weight is the weight of the
 * next tile. */
GI_HOST_DEVICE static inline int gi_clahe_tile(const struct gi_clahe_side *side, int at,
                                               float *weight)
{
    float product = (float)at * side->inverse, place = product - 0.5f;
    float before = floorf(place);
    *weight = place - before;
    return (int)before;
}

/* Returns tile `i`, or the nearest existing one. */
GI_HOST_DEVICE static inline int gi_clahe_nearest(const struct gi_clahe_side *side, int i)
{
    return i < 0 ? 0 : i < side->tiles ? i : side->tiles - 1;
}

/* Rounds half to even, for 0 to 65535, in a form that compilers vectorise. */
static inline uint32_t gi_clahe_rounded(float f)
{
    return (uint32_t)(int32_t)((f + 8388608.0f) - 8388608.0f);
}

/* How the counts of a tile are clipped before they are accumulated. */
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

/* The two sides; `limit` of the counts, UINT32_MAX for none; `scale` of the tables. */
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

/* Fills a tile's table, of 8 or 16 bits, from its counts, which become cumulative. */
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

enum { GI_LOCAL_LEVELS = 1 << 20 }; /* that floats are taken for */

/* A sample counts as a whole number v, its level: of GI_U8 and GI_U16 itself, of GI_F32 (sample -
 * lo) * scale in double, 0 where that is below 0 or NaN, GI_LOCAL_LEVELS - 1 where it is above, +
 * 0.5, cut off. Border values of GI_U8 and GI_U16 are rounded to integers (half to even, saturated)
 * first.
 *
 * With S the sum of the levels of the k x k samples around one, Q that of their squares, both
 * exact, and N = k * k, a sample is above its threshold where, all in double,
 *   A > 0, A = (N * v - S) + shift, where `mean`; else with
 *   D = N * Q - S * S, 0 or more, exact and then rounded as gi_local_spread() does,
 *   A = fma(part, S, (N * v - S) + shift), and where swell is not 0
 *       A - (swell * E(decay * u)) * u, u = S - base, E as gi_local_fall(),
 *   t = fma(slope, S, level):
 *   A > t * sqrt(D), that is t < 0 ? A > 0 || A * A < t * t * D : A > 0 && A * A > t * t * D. */
struct gi_local {
    int k; /* odd, 1 to GI_TAPS_MAX */
    bool mean, invert;
    double lo, scale; /* GI_F32 */
    double shift, part, slope, level, swell, decay, base;
    int above, below; /* rows at the top and at the bottom that gi_local_spread_fn ignores */
    struct gi_border_spec border;
};

/* local_threshold: colour samples become full scale where (above its threshold) != invert, else 0;
 * alpha is copied. Each channel separately.
 *
 * local_spread: the result is the maximum D of the colour samples, except those in spec->above and
 * spec->below rows. Waits. */

/* Bernsen's threshold: let l and g be the minimum and maximum around a sample v, all in double. If
 * g - l is less than `contrast`, v is above its threshold if l + g > full scale; otherwise if 2 * v
 * - (l + g) > `more`. No comparison with NaN holds. */
struct gi_bernsen {
    const struct gi_image *least, *greatest; /* shaped as the source, on the backend */
    double contrast, more;
    bool invert;
};

/* Returns the level of a float. */
GI_HOST_DEVICE static inline uint32_t gi_local_float(const struct gi_local *spec, float sample)
{
    double v = ((double)sample - spec->lo) * spec->scale, most = GI_LOCAL_LEVELS - 1;
    v = v > 0 ? v : 0;
    return (uint32_t)((v < most ? v : most) + 0.5);
}

/* Returns whether a sample is above its threshold as defined by gi_bernsen. */
GI_HOST_DEVICE static inline bool gi_bernsen_above(const struct gi_bernsen *spec, double full,
                                                   double v, double l, double g)
{
    return g - l < spec->contrast ? l + g > full : 2 * v - (l + g) > spec->more;
}

/* n * squares - sum * sum in 128 bits, then the upper half times 2^64 plus the lower one, each in
 * double. */
GI_HOST_DEVICE static inline double gi_local_spread(uint64_t n, uint64_t sum, uint64_t squares)
{
    __extension__ typedef unsigned __int128 wide;
    wide spread = (wide)n * squares - (wide)sum * sum;
    return (double)(uint64_t)(spread >> 64) * 0x1p64 + (double)(uint64_t)spread;
}

/* About e^-x, x limited to -700 to 700: 2^-m times the first 14 terms of the series of e^-r, from
 * the last one on, x = m * ln 2 + r. */
GI_HOST_DEVICE static inline double gi_local_fall(double x)
{
    const double whole = 0x1.8p52; /* added, it leaves no fractions */
    x = x < -700 ? -700 : x > 700 ? 700 : x;
    double m = (x * 0x1.71547652b82fep0 + whole) - whole;
    double r = (x - m * 0x1.62e42fee00000p-1) - m * 0x1.a39ef35793c76p-33;
    double sum = 1;
    for (int i = 13; i > 0; i--)
        sum = 1 - sum * r / i;
    uint64_t bits = (uint64_t)(1023 - (int64_t)m) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* Whether a sample is above its threshold; not for `mean`. `rest` is N * v - S, `spread` is D. */
GI_HOST_DEVICE static inline bool gi_local_above(const struct gi_local *spec, double rest,
                                                 double sum, double spread)
{
    double a = fma(spec->part, sum, rest + spec->shift), t = fma(spec->slope, sum, spec->level);
    if (spec->swell != 0) {
        double u = sum - spec->base;
        a -= spec->swell * gi_local_fall(spec->decay * u) * u;
    }
    double square = a * a, limit = t * t * spread;
    return ((a > 0) & (square > limit)) | ((t < 0) & ((a > 0) | (square < limit)));
}

#ifdef __cplusplus
}
#endif

#endif
