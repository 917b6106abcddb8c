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

/* How the result, before the last step, is computed from a sample a of `src`. */
enum gi_pointwise_op {
    GI_POINTWISE_AFFINE, /* fmaf(scale, a, offset), per channel */
    GI_POINTWISE_TABLE,  /* table[channel][a]; GI_F32: table[channel][gi_unit_bin(a)], NaN stays */
};

struct gi_pointwise {
    enum gi_pointwise_op op;
    bool alpha_too; /* true: alpha is computed like colours; false: alpha is copied */
    float scale[GI_MAX_CHANNELS], offset[GI_MAX_CHANNELS]; /* AFFINE: a factor; sample units */
    /* TABLE: one table per channel with 256 or 65536 entries of the type of the images (GI_F32:
     * floats). The table of alpha, the last channel, is read only with `alpha_too`. The lookup is
     * faster if all pointers are equal. A channel whose table is NULL (GI_F32 only) is unchanged.
     * Tables are host memory, read before the primitive returns. */
    const void *table[GI_MAX_CHANNELS];
};

/* pointwise: `dst` may be `src` itself, with the same data and stride. Additional error:
 * GI_E_UNSUPPORTED if the operation does not take the sample type. */

/* threshold: a colour sample becomes full scale if (sample > above) != invert, else 0. Alpha is
 * copied. `dst` may be `src`. */
struct gi_threshold {
    float above; /* sample units */
    bool invert;
};

enum { GI_CLAHE_MAX = 256 }; /* tiles per side; more would have only a few pixels each */

/* Contrast-limited adaptive histogram equalization (K. Zuiderveld, Graphics Gems IV, 1994), with
 * the same bytes as OpenCV's CLAHE. Let B be the number of levels, 256 or 65536.
 *
 * The image is cut into across x down tiles of one size, with N samples each. If the width is not
 * divisible by across, or the height by down, both sides are first extended by n - side % n pixels
 * under GI_BORDER_REFLECT101, where n is the number of tiles on that side. Counts of a tile's
 * histogram are limited to L = max(1, (int)(clip * N / B)), except if clip is 0. The excess E is
 * spread: every count grows by E / B, and r = E % B counts (those of the levels 0, s, 2 s ..., with
 * s = max(1, B / r)) grow by one more. Entry v of the tile's table is the sum of the counts up to
 * v, as float, times ((float)(B - 1) / (float)N), rounded half to even, at most full scale.
 *
 * A pixel is interpolated between the tables T of the four nearest tiles, in float without fmaf.
 * Horizontally X = x * (1 / tile width) - 1/2, i = floor(X), a = X - i. Vertically j and b are
 * computed from y in the same way. If tile i, i + 1, j or j + 1 is outside the image, the nearest
 * tile is used. With p = T(j, i), q = T(j, i + 1), r = T(j + 1, i), s = T(j + 1, i + 1) the result
 * is
 *   f = (p * (1 - a) + q * a) * (1 - b) + (r * (1 - a) + s * a) * b; then the last step.
 *
 * For floats a level is gi_unit_bin() of the sample, B is 65536, and the result is f / 65535, but a
 * NaN remains NaN. */
struct gi_clahe {
    int across, down; /* tiles, 1 to GI_CLAHE_MAX */
    double clip;      /* limit of counts in units of their mean, or 0 for no limit */
    /* The tables of the whole image, [set][tile][value], of 8 or 16 bits; host memory, read before
     * the primitive returns. There is one set per colour channel, or a single set if `judge` is not
     * NULL; the samples of `judge` are then not read. `src` is the band that begins at row y of an
     * image of `height` rows. If `tables` is NULL, `src` is the whole image, and tables are made
     * from it. */
    const void *tables;
    int y, height;
    /* An image of one channel, with the size and type of `src`, from which the tables of all colour
     * channels are made. If it is NULL, each channel has its own tables. */
    const struct gi_image *judge;
};

/* clahe: fewer than 2^32 pixels. Alpha is copied. */

/* The division of the image along x or along y. */
struct gi_clahe_side {
    int n, tiles; /* pixels of the image; tiles */
    int tile;     /* pixels of a tile along this side, including pixels outside the image */
    float inverse;
};

/* Returns the last tile whose centre is at or before pixel `at`, from -1 to tiles - 1, and sets
 * *weight to the weight of the next tile. */
GI_HOST_DEVICE static inline int gi_clahe_tile(const struct gi_clahe_side *side, int at,
                                               float *weight)
{
    float product = (float)at * side->inverse, place = product - 0.5f;
    float before = floorf(place);
    *weight = place - before;
    return (int)before;
}

/* Returns i, limited to the tiles that exist. */
GI_HOST_DEVICE static inline int gi_clahe_nearest(const struct gi_clahe_side *side, int i)
{
    return i < 0 ? 0 : i < side->tiles ? i : side->tiles - 1;
}

/* Rounds a float from 0 to 65535 (half to even), in a form that compilers vectorise. */
static inline uint32_t gi_clahe_rounded(float f)
{
    return (uint32_t)(int32_t)((f + 8388608.0f) - 8388608.0f);
}

/* How the counts of a tile are clipped and the excess is spread, before they are accumulated. */
struct gi_clahe_cut {
    uint32_t limit;       /* counts are limited to this */
    uint32_t each, extra; /* `each` is added to every count, and 1 more to `extra` of them: */
    uint32_t step;        /* those of 0, step, 2 * step ... */
};

GI_HOST_DEVICE static inline void gi_clahe_share(struct gi_clahe_cut *cut, uint32_t clipped,
                                                 uint32_t bins)
{
    cut->each = clipped / bins;
    cut->extra = clipped % bins;
    cut->step = cut->extra ? bins / cut->extra : 1;
}

/* Constants that all tiles share: the two sides, the limit of counts (UINT32_MAX for no limit), and
 * the scale of the tables. */
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

/* Fills a tile's table, whose entries have 8 or 16 bits, from the tile's counts. The counts become
 * cumulative. */
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

/* Local threshold. A sample has a level v, which is an integer. For GI_U8 and GI_U16 v is the
 * sample itself. For GI_F32 v is (sample - lo) * scale in double, limited to 0 to GI_LOCAL_LEVELS -
 * 1 (0 for NaN), plus 0.5, truncated. Border values of GI_U8 and GI_U16 are first rounded to
 * integers (half to even, saturated).
 *
 * Let S be the sum of the levels of the k x k samples around a sample, Q the sum of their squares
 * (both exact), and N = k * k. With `mean` a sample is above its threshold if A > 0, where A =
 * (N * v - S) + shift. Without `mean` a sample is above if A > t * sqrt(D), in double, with
 *   D = N * Q - S * S, 0 or more, exact and then rounded as gi_local_spread() does;
 *   A = fma(part, S, (N * v - S) + shift), from which, if swell is not 0,
 *       (swell * E(decay * u)) * u is subtracted, where u = S - base and E is gi_local_fall();
 *   t = fma(slope, S, level).
 * The test is computed as t < 0 ? A > 0 || A * A < t * t * D : A > 0 && A * A > t * t * D. */
struct gi_local {
    int k; /* odd, 1 to GI_TAPS_MAX */
    bool mean, invert;
    double lo, scale; /* GI_F32 */
    double shift, part, slope, level, swell, decay, base;
    int above, below; /* rows at the top and at the bottom that local_spread ignores */
    struct gi_border_spec border;
};

/* local_threshold: a colour sample becomes full scale if (it is above its threshold) != invert,
 * else 0. Alpha is copied. Each channel is processed separately.
 *
 * local_spread: returns the maximum D of all colour samples, without the first spec->above and the
 * last spec->below rows. Waits. */

/* Bernsen's threshold, in double. Let l and g be the minimum and the maximum around a sample v. If
 * g - l < contrast, v is above its threshold if l + g > full scale. Otherwise v is above its
 * threshold if 2 * v - (l + g) > more. Comparisons with NaN are false. */
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
    return (uint32_t)(int32_t)((v < most ? v : most) + 0.5);
}

/* Returns whether sample v is above its threshold, as gi_bernsen defines it. */
GI_HOST_DEVICE static inline bool gi_bernsen_above(const struct gi_bernsen *spec, double full,
                                                   double v, double l, double g)
{
    return g - l < spec->contrast ? l + g > full : 2 * v - (l + g) > spec->more;
}

/* Returns D, which is n * squares - sum * sum, computed in 128 bits. Its upper half and its lower
 * half are each rounded to double; the result is the upper half times 2^64 plus the lower half. */
GI_HOST_DEVICE static inline double gi_local_spread(uint64_t n, uint64_t sum, uint64_t squares)
{
    __extension__ typedef unsigned __int128 wide;
    wide spread = (wide)n * squares - (wide)sum * sum;
    return (double)(uint64_t)(spread >> 64) * 0x1p64 + (double)(uint64_t)spread;
}

/* Returns an approximation of e^-x, with x limited to -700 to 700. With x = m * ln 2 + r the result
 * is 2^-m times the sum of the first 14 terms of the series of e^-r, added from the last term to
 * the first. */
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

/* Returns whether a sample is above its threshold, without `mean`. `rest` is N * v - S, and
 * `spread` is D. */
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
