/* Contracts of the family color: the colour transform (matrices, curves, colour spaces), luma,
 * channel permutation, and colour tables: counting the colours of an image, replacing them, and
 * dithering.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_COLOR_H
#define GI_KERNELS_COLOR_H

#include <math.h>
#include <string.h>

#include "kernels/elementary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* luma: converts an image to one channel. Gray is unchanged. Colours become the luma of ITU-R
 * BT.709 of the stored values, as gi_pixel_luma() computes it. The last step follows. Alpha is
 * dropped. */
GI_HOST_DEVICE static inline float gi_pixel_luma(float r, float g, float b)
{
    return fmaf((float)GI_LUMA_BLUE, b, fmaf((float)GI_LUMA_GREEN, g, (float)GI_LUMA_RED * r));
}

/* convert: changes the sample type; `dst` has the size and channels of `src`. Full scale (255,
 * 65535 or 1) becomes full scale. Floats become integers by rounding half to even, with saturation,
 * and NaN becomes 0. Integers become the float nearest to v / full scale. */

enum { GI_POWER_BITS = 11, GI_POWER_CELLS = 1 << GI_POWER_BITS, GI_POWERS_MAX = 3 };

/* Tables for the power x^p of floats. With x = m 2^e, 1 <= m < 2, the power is m^p, interpolated
 * linearly between two entries of `cell`, times 2^(e p). Entries are computed in double and rounded
 * to float. The interpolation error is less than 2^-22 of the power for p up to 2.4. */
struct gi_power {
    float cell[GI_POWER_CELLS + 1]; /* (1 + i / GI_POWER_CELLS)^p */
    float octave[256];              /* 2^((e - 127) p) for exponent bits e; [255] is infinity */
};

/* A curve. It is fmaf(slope, x, low) for x up to `cut`. Above `cut` it is fmaf(scale, w, offset),
 * where u = fmaf(in_scale, x, in_offset), and w is u * u * u if `power` is < 0, otherwise the power
 * of u from the tables powers[power]. If `odd`, the result for a negative x is minus the result for
 * -x. */
struct gi_color_curve {
    float cut, slope, low;
    float in_scale, in_offset, scale, offset;
    int power;
    bool odd;
};

enum gi_color_step_kind {
    GI_COLOR_MATRIX, /* v'[i] = offset[i], then for j = 0, 1, 2: fmaf(matrix[i][j], v[j], v'[i]) */
    GI_COLOR_CURVE,  /* `curve` of v[0] to v[2] */
    GI_COLOR_TO_HSV, /* these four call gi_color_to_hsv(), ... */
    GI_COLOR_FROM_HSV,
    GI_COLOR_TO_HSL,
    GI_COLOR_FROM_HSL,
    GI_COLOR_TO_LUV,   /* gi_color_to_luv() with `curve` of v[1], and the white of `offset` */
    GI_COLOR_FROM_LUV, /* gi_color_from_luv() with `curve` of v[0], and the white of `offset` */
    GI_COLOR_TO_LCH,   /* gi_color_to_lch() of v[1] and v[2] */
    GI_COLOR_FROM_LCH, /* gi_color_from_lch() of v[1] and v[2] */
};

struct gi_color_step {
    enum gi_color_step_kind kind;
    float matrix[4][4], offset[4];
    struct gi_color_curve curve;
    float full;
};

enum { GI_COLOR_STEPS_MAX = 13 };

/* Steps that are applied to the samples v of a pixel, one after the other. gi_settle() and the last
 * step follow.
 * v[3] is alpha, which remains unchanged without `alpha_too`. `alpha_too` requires alpha; a matrix
 * then has a fourth row (i = 3), and a fourth column (j = 3), whose product with v[3] is added
 * last. */
struct gi_color_transform {
    int nsteps; /* 1 to GI_COLOR_STEPS_MAX */
    struct gi_color_step steps[GI_COLOR_STEPS_MAX];
    bool alpha_too;
    /* Tables that curves refer to. They are host memory, which is read before the primitive
     * returns. A table that no curve uses may be NULL. */
    const struct gi_power *powers[GI_POWERS_MAX];
};

/* color_transform: images have 3 or 4 channels; `dst` may be `src`. */

/* A colour and the number of pixels that have it. `colour` consists of the samples, which have 8 or
 * 16 bits each, with the first channel in the highest bits. */
struct gi_color_count {
    uint64_t color, count;
};

/* Host memory: all colours of an image, in ascending order. */
struct gi_colors {
    size_t n;
    struct gi_color_count *each;
};

/* count_colors: allocates the array of the result, which the caller frees. All channels,
 * including alpha, belong to the colour. The image has 1 to 4 channels and fewer than 2^31 pixels.
 * Waits. */

/* Counts `n` colours, which are in any order and have `bits` bits each. `n` is 1 or more. Takes
 * ownership of `colours`, which was allocated by malloc(). Errors: GI_E_MEMORY. */
enum gi_status gi_colors_sort(struct gi_colors *found, uint64_t *colors, size_t n, unsigned bits,
                              struct gi_err *err);

enum { GI_RECOLOR_SIDE = 4096, GI_RECOLOR_MOST = 256 };

/* recolor: replaces colours of a GI_U8 image of 3 or 4 channels by entries of `colours`. Let c be
 * the pixel's colour as a number with red in the highest bits. Its entry has the index that is the
 * sample of `table` in row c / GI_RECOLOR_SIDE, column c % GI_RECOLOR_SIDE. Alpha is
 * unchanged. */
struct gi_recolor {
    const struct gi_image
        *table; /* on the backend: one channel of GI_U8, GI_RECOLOR_SIDE x GI_RECOLOR_SIDE */
    uint8_t colors[GI_RECOLOR_MOST][4]; /* the fourth is not used */
};

/* recolor: `dst` may be `src`. */

enum gi_dither_kind { GI_DITHER_ORDERED, GI_DITHER_FLOYD_STEINBERG };
enum {
    GI_DITHER_CELL_SIDE = 16,
    GI_DITHER_CELLS = 4096,
    GI_DITHER_CELL_NBYTES = 1 + GI_RECOLOR_MOST,
};

/* dither: replaces the colours of a GI_U8 image by entries of `colors`, so that the mean of an area
 * stays. A gray image has red alone; its green and blue are 0. Alpha is unchanged. The entry of a
 * colour is gi_dither_entry(). All numbers are integers, and divisions truncate towards 0.
 *
 * GI_DITHER_ORDERED: each colour sample v of pixel (x, y) becomes v + gi_dither_offset(x, y,
 * spread), limited to 0 to 255, before its entry is looked up.
 *
 * GI_DITHER_FLOYD_STEINBERG (1976): pixels are processed from left to right in each row, and rows
 * from top to bottom. With e as the sum of what other pixels have passed on, in sixteenths, a
 * colour sample v becomes w = v + e / 16, limited to 0 to 255. The difference d between w and the
 * entry's sample is passed on: 7 d to the right, 3 d to the left below, 5 d below, d to the right
 * below. What leaves the image is lost. */
struct gi_dither {
    enum gi_dither_kind kind;
    int spread; /* 0 to 255 */
    /* On the backend: one channel of GI_U8, GI_DITHER_CELL_NBYTES x GI_DITHER_CELLS. Row i is for
     * the colours of cell i (gi_dither_cell()). It has the number of candidates less 1, and then
     * the indices of the candidates. */
    const struct gi_image *cells;
    uint8_t colors[GI_RECOLOR_MOST][4]; /* the fourth is not used */
};

/* dither: `dst` may be `src`. */

GI_HOST_DEVICE static inline int gi_dither_cell(int r, int g, int b)
{
    return (r >> 4) << 8 | (g >> 4) << 4 | b >> 4;
}

GI_HOST_DEVICE static inline int gi_dither_limit(int v)
{
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

/* Returns the offset of a pixel in ordered dithering, from -63/128 to 63/128 of `spread`. With M as
 * the 8 x 8 matrix of B. E. Bayer (1973), whose 2 x 2 matrix is 0 2, 3 1, the offset is (2 M - 63)
 * spread / 128. */
GI_HOST_DEVICE static inline int gi_dither_offset(int x, int y, int spread)
{
    int m = 0;
    for (int bit = 0; bit < 3; bit++) {
        int right = x >> bit & 1, down = y >> bit & 1;
        m |= ((right ^ down) << 1 | down) << 2 * (2 - bit);
    }
    return (2 * m - 63) * spread / 128;
}

/* Returns the first of the candidates with the smallest sum of squared differences from the colour.
 * `cell` is the row of the cell, and `colors` has red, green and blue in the lowest three bytes. */
GI_HOST_DEVICE static inline int gi_dither_entry(const uint8_t *cell, const uint32_t *colors, int r,
                                                 int g, int b)
{
    int best = 0, least = 3 * 255 * 255 + 1;
    for (int i = 1; i <= cell[0] + 1; i++) {
        uint32_t color = colors[cell[i]];
        int dr = r - (int)(color & 255), dg = g - (int)(color >> 8 & 255);
        int db = b - (int)(color >> 16 & 255);
        int distance = dr * dr + dg * dg + db * db;
        if (distance < least) {
            least = distance;
            best = cell[i];
        }
    }
    return best;
}

/* How gi_color_lut interpolates between the entries of a table. */
enum gi_color_lut_kind {
    GI_COLOR_LUT_CURVES,      /* 1-D: each channel on its own, linear */
    GI_COLOR_LUT_TRILINEAR,   /* 3-D: 8 entries */
    GI_COLOR_LUT_TETRAHEDRAL, /* 3-D: 4 entries */
};

enum { GI_COLOR_LUT_MOST = 256 /* 3-D */, GI_COLOR_CURVE_MOST = 1 << 20 };

/* A colour look-up table of n entries a side. The place of a sample v is p = fmaf(scale, v,
 * offset), limited to 0 to n - 1 (0 for NaN). With i = the smaller of floor(p) and n - 2, and t = p
 * - i, entries are read at i and i + 1, and L(t, a, b) is fmaf(t, b - a, a).
 *
 * CURVES: L(t, T[i], T[i + 1]), where channel c reads channel c of the table, or channel 0 if the
 * table has one channel. NaN stays NaN.
 *
 * TRILINEAR: four L along red, two L along green, one L along blue.
 *
 * TETRAHEDRAL: E0 is the entry at i of all axes, E1 that after a step along the axis with the
 * largest t, E2 that after a further step along the axis with the second largest t, and E3 that
 * after all three steps. If t are equal, red comes before green and green before blue. The result
 * is fmaf(t3, E3 - E2, fmaf(t2, E2 - E1, fmaf(t1, E1 - E0, E0))), where t1 >= t2 >= t3.
 *
 * The result is multiplied by `full`; then the last step. */
struct gi_color_lut {
    /* On the backend, GI_F32. 1-D: n x 1, of 1 or 3 channels. 3-D: n^2 x n, of 3 channels; the
     * entry of red r, green g and blue b is the pixel in row b, column g * n + r. */
    const struct gi_image *table;
    enum gi_color_lut_kind kind;
    int n; /* 2 to GI_COLOR_LUT_MOST, 1-D to GI_COLOR_CURVE_MOST */
    float scale[3], offset[3];
    float full;
};

/* color_lut: 3-D tables take images of 3 or 4 channels. Alpha is copied. `dst` is not `src`. */

/* Returns t, and sets *i. */
GI_HOST_DEVICE static inline float gi_color_lut_place(const struct gi_color_lut *spec, int c,
                                                      float v, int *i)
{
    float p = fmaf(spec->scale[c], v, spec->offset[c]), last = (float)(spec->n - 1);
    p = p > 0 ? p : 0;
    p = p < last ? p : last;
    *i = (int)p;
    *i = *i < spec->n - 2 ? *i : spec->n - 2;
    return p - (float)*i;
}

GI_HOST_DEVICE static inline float gi_color_lut_between(float t, float a, float b)
{
    return fmaf(t, b - a, a);
}

/* Returns the result of CURVES for sample v of channel c. `table` is the first sample of the
 * table. */
GI_HOST_DEVICE static inline float gi_color_lut_curve(const struct gi_color_lut *spec,
                                                      const float *table, int channels, int c,
                                                      float v)
{
    int i;
    float t = gi_color_lut_place(spec, c, v, &i);
    const float *at = table + i * channels + (channels == 3 ? c : 0);
    float y = gi_color_lut_between(t, at[0], at[channels]) * spec->full;
    return v == v ? y : v;
}

/* Replaces the samples of a pixel by the results of TRILINEAR. `blue` is the number of floats from
 * a row of the table to the next one. */
GI_HOST_DEVICE static inline void
gi_color_lut_trilinear(const struct gi_color_lut *spec, const float *table, size_t blue, float v[3])
{
    int r, g, b, green = 3 * spec->n;
    float tr = gi_color_lut_place(spec, 0, v[0], &r), tg = gi_color_lut_place(spec, 1, v[1], &g);
    float tb = gi_color_lut_place(spec, 2, v[2], &b);
    const float *low = table + (size_t)b * blue + g * green + 3 * r, *high = low + blue;
    for (int c = 0; c < 3; c++) {
        float w = gi_color_lut_between(tr, low[c], low[3 + c]);
        float x = gi_color_lut_between(tr, low[green + c], low[green + 3 + c]);
        float y = gi_color_lut_between(tr, high[c], high[3 + c]);
        float z = gi_color_lut_between(tr, high[green + c], high[green + 3 + c]);
        v[c] = gi_color_lut_between(tb, gi_color_lut_between(tg, w, x),
                                    gi_color_lut_between(tg, y, z)) *
               spec->full;
    }
}

/* As gi_color_lut_trilinear(), for TETRAHEDRAL. */
GI_HOST_DEVICE static inline void gi_color_lut_tetrahedral(const struct gi_color_lut *spec,
                                                           const float *table, size_t blue,
                                                           float v[3])
{
    int r, g, b;
    float tr = gi_color_lut_place(spec, 0, v[0], &r), tg = gi_color_lut_place(spec, 1, v[1], &g);
    float tb = gi_color_lut_place(spec, 2, v[2], &b);
    bool rg = tr >= tg, gb = tg >= tb, rb = tr >= tb;
    size_t red = 3, green = (size_t)(3 * spec->n);
    size_t first = rg ? (rb ? red : blue) : (gb ? green : blue);
    size_t last = rg ? (gb ? blue : green) : (rb ? blue : red);
    float t1 = rg ? (rb ? tr : tb) : (gb ? tg : tb);
    float t2 = rg ? (rb ? (gb ? tg : tb) : tr) : (gb ? (rb ? tr : tb) : tg);
    float t3 = rg ? (gb ? tb : tg) : (rb ? tb : tr);
    const float *e0 = table + (size_t)b * blue + (size_t)g * green + (size_t)r * red;
    const float *e1 = e0 + first, *e3 = e0 + red + green + blue, *e2 = e3 - last;
    for (int c = 0; c < 3; c++) {
        float y = fmaf(t1, e1[c] - e0[c], e0[c]);
        v[c] = fmaf(t3, e3[c] - e2[c], fmaf(t2, e2[c] - e1[c], y)) * spec->full;
    }
}

/* Where the tables of gi_power are read for a number: the index in `cell`, the fraction between
 * that cell and the next cell, and the index in `octave`. */
struct gi_power_place {
    int32_t cell, octave;
    float t;
};

GI_HOST_DEVICE static inline struct gi_power_place gi_power_place_of(float x)
{
    const int low = 23 - GI_POWER_BITS;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    struct gi_power_place place = {
        (int32_t)(bits >> low & (GI_POWER_CELLS - 1)), (int32_t)(bits >> 23 & 255),
        (float)(int32_t)(bits & ((1u << low) - 1)) * (1.0f / (float)(1 << low))};
    return place;
}

/* For x > 0; undefined for others. */
GI_HOST_DEVICE static inline float gi_power_at(const float *cell, const float *octave, float x)
{
    struct gi_power_place at = gi_power_place_of(x);
    float from = cell[at.cell];
    return octave[at.octave] * fmaf(at.t, cell[at.cell + 1] - from, from);
}

/* Returns the value of the curve at x. `cell` and `octave` are the tables of the curve's power;
 * they are not read if curve->power is < 0. */
GI_HOST_DEVICE static inline float gi_color_curve_at(const struct gi_color_curve *curve,
                                                     const float *cell, const float *octave,
                                                     float x)
{
    float size = curve->odd ? fabsf(x) : x;
    float u = fmaf(curve->in_scale, size, curve->in_offset);
    float w = curve->power < 0 ? u * u * u : gi_power_at(cell, octave, u);
    float straight = fmaf(curve->slope, size, curve->low);
    float y = size > curve->cut ? fmaf(curve->scale, w, curve->offset) : straight;
    return curve->odd && x < 0 ? -y : y;
}

/* Conversions between red, green, blue and hue, saturation, value, all from 0 to `full`. A. R.
 * Smith, "Color gamut transform pairs", SIGGRAPH 1978, in the form of
 * https://en.wikipedia.org/wiki/HSL_and_HSV. Divisions come last, so that 8-bit results that are
 * exact ties between two samples are ties in float, too. Gray has hue 0; black has saturation 0. */
GI_HOST_DEVICE static inline float gi_hue(float r, float g, float b, float most, float spread,
                                          float full)
{
    float by_r = g < b ? fmaf(6.0f, spread, g - b) : g - b;
    float by_g = fmaf(2.0f, spread, b - r), by_b = fmaf(4.0f, spread, r - g);
    float turn = (most == r ? by_r : most == g ? by_g : by_b) * full / (6.0f * spread);
    return spread > 0 ? turn : 0.0f;
}

GI_HOST_DEVICE static inline float gi_most(float a, float b)
{
    return a > b ? a : b;
}

GI_HOST_DEVICE static inline float gi_least(float a, float b)
{
    return a < b ? a : b;
}

GI_HOST_DEVICE static inline void gi_color_to_hsv(float *r, float *g, float *b, float full)
{
    float most = gi_most(*r, gi_most(*g, *b)), least = gi_least(*r, gi_least(*g, *b));
    float spread = most - least, hue = gi_hue(*r, *g, *b, most, spread, full);
    float part = spread * full / most;
    *r = hue;
    *g = most > 0 ? part : 0.0f;
    *b = most;
}

/* Hue, saturation and lightness (the mean of the largest and the smallest sample). */
GI_HOST_DEVICE static inline void gi_color_to_hsl(float *r, float *g, float *b, float full)
{
    float most = gi_most(*r, gi_most(*g, *b)), least = gi_least(*r, gi_least(*g, *b));
    float spread = most - least, sum = most + least;
    float room = sum > full ? (full - most) + (full - least) : sum;
    float hue = gi_hue(*r, *g, *b, most, spread, full), part = spread * full / room;
    *r = hue;
    *g = room > 0 ? part : 0.0f;
    *b = sum * 0.5f;
}

/* x - n floor(x / n), n a whole number. */
GI_HOST_DEVICE static inline float gi_around(float x, float n)
{
    return x - n * floorf(x / n);
}

/* Numbers are first made at least 0, then at most 1, so that NaN becomes 0, as with the GPU's
 * instructions for saturation. */
GI_HOST_DEVICE static inline float gi_from_hsv(float turn, float chroma, float value, float n)
{
    float k = gi_around(turn + n, 6.0f), part = gi_most(gi_least(k, 4.0f - k), 0.0f);
    return fmaf(-chroma, gi_least(part, 1.0f), value);
}

GI_HOST_DEVICE static inline void gi_color_from_hsv(float *h, float *s, float *v, float full)
{
    float turn = *h * 6.0f / full, value = *v, chroma = value * *s / full;
    *h = gi_from_hsv(turn, chroma, value, 5.0f);
    *s = gi_from_hsv(turn, chroma, value, 3.0f);
    *v = gi_from_hsv(turn, chroma, value, 1.0f);
}

GI_HOST_DEVICE static inline float gi_from_hsl(float turn, float chroma, float light, float n)
{
    float k = gi_around(turn + n, 12.0f);
    float part = gi_least(gi_least(k - 3.0f, 9.0f - k), 1.0f);
    return fmaf(-chroma, gi_most(part, -1.0f), light);
}

GI_HOST_DEVICE static inline void gi_color_from_hsl(float *h, float *s, float *l, float full)
{
    float turn = *h * 12.0f / full, light = *l;
    float chroma = *s * gi_least(light, full - light) / full;
    *h = gi_from_hsl(turn, chroma, light, 0.0f);
    *s = gi_from_hsl(turn, chroma, light, 8.0f);
    *l = gi_from_hsl(turn, chroma, light, 4.0f);
}

/* Converts X, Y and Z, with Y = 1 for white, to CIE 1976 L*, u* and v* (CIE 15). `light` is L*, and
 * `white` is u' and v' of white. A colour whose sum is 0, as black, has u* = v* = 0. */
GI_HOST_DEVICE static inline void gi_color_to_luv(float *x, float *y, float *z, float light,
                                                  const float *white)
{
    float sum = fmaf(3.0f, *z, fmaf(15.0f, *y, *x)), by = 13.0f * light;
    float u = by * (4.0f * *x / sum - white[0]), v = by * (9.0f * *y / sum - white[1]);
    *x = light;
    *y = sum != 0 ? u : 0.0f;
    *z = sum != 0 ? v : 0.0f;
}

/* The inverse, where `y` is Y. */
GI_HOST_DEVICE static inline void gi_color_from_luv(float *light, float *u, float *v, float y,
                                                    const float *white)
{
    float by = 13.0f * *light, to_u = *u / by + white[0], to_v = *v / by + white[1];
    float x = y * (9.0f * to_u) / (4.0f * to_v);
    float z = y * fmaf(-20.0f, to_v, fmaf(-3.0f, to_u, 12.0f)) / (4.0f * to_v);
    bool black = *light == 0;
    *light = black ? 0.0f : x;
    *u = black ? 0.0f : y;
    *v = black ? 0.0f : z;
}

/* Converts a* and b*, or u* and v*, to chroma and hue, an angle from 0 to 360 degrees. */
GI_ELEMENTARY void gi_color_to_lch(float *a, float *b)
{
    float angle = gi_atan2(*b, *a) * (float)(180 / GI_PI);
    *a = gi_hypot(*a, *b);
    *b = angle < 0 ? angle + 360.0f : angle;
}

GI_ELEMENTARY void gi_color_from_lch(float *chroma, float *hue)
{
    float angle = *hue * (float)(GI_PI / 180), size = *chroma;
    *chroma = size * gi_cos(angle);
    *hue = size * gi_sin(angle);
}

/* Returns the product of row `row` of a matrix and v. With `alpha` the fourth column is
 * included. */
GI_HOST_DEVICE static inline float gi_color_matrix_row(const struct gi_color_step *step, int row,
                                                       float r, float g, float b, float a,
                                                       bool alpha)
{
    const float *m = step->matrix[row];
    float sum = fmaf(m[2], b, fmaf(m[1], g, fmaf(m[0], r, step->offset[row])));
    return alpha ? fmaf(m[3], a, sum) : sum;
}

/* Channel c of `dst` is channel from[c].channel of image from[c].source. If that source is -1, the
 * channel is filled with value[c], converted by the last step. */
struct gi_permute_channels {
    struct {
        int source, channel;
    } from[GI_MAX_CHANNELS];
    float value[GI_MAX_CHANNELS];
    int nsources; /* 1 to GI_PERMUTE_CHANNELS_SOURCES */
};

enum { GI_PERMUTE_CHANNELS_SOURCES = 4 };

/* permute_channels: `src` is an array of spec->nsources images of one size and type; their numbers
 * of channels may differ. */

#ifdef __cplusplus
}
#endif

#endif
