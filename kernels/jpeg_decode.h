/* Decoding of sequential JPEGs, shared by both backends: the grid of MCUs, Huffman codes, the
 * inverse transform (IDCT), upsampling and colour. All values equal those of libjpeg-turbo with
 * islow and fancy upsampling, as long as no function reports that a value leaves 16 bits.
 * Terms and letters are those of ITU-T T.81.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_JPEG_DECODE_H
#define GI_KERNELS_JPEG_DECODE_H

#include <string.h>

#include "kernels/codec.h"

/* ---- the grid of MCUs ---- */

/* How a component's samples become pixels. `kind` of libjpeg-turbo, h = horizontal, v = vertical:
 * fancy upsampling interpolates linearly (a triangle filter). */
struct gi_jpeg_plane {
    int h, v;           /* blocks of an MCU */
    int size;           /* samples that a block has on each side: 8, or 4, 2 or 1 if reduced */
    int across, down;   /* blocks of the plane, which are whole MCUs */
    int width, height;  /* samples that the image has; those beyond are padding */
    int step_x, step_y; /* pixels per sample */
    bool fancy_x, fancy_y;
    int first_unit; /* number of the component's first block in the MCU */
};

struct gi_jpeg_grid {
    int across, down; /* MCUs */
    int nunits;       /* blocks of an MCU */
    uint32_t ncoded;  /* blocks of the scan */
    struct gi_jpeg_plane planes[GI_JPEG_COMPONENTS];
    uint8_t component_of[GI_JPEG_UNITS]; /* component of each block of an MCU */
};

/* Maximum number of blocks of a scan. Their coefficients have 32-bit indices. */
#define GI_JPEG_CODED_MAX (UINT32_C(1) << 26)

static inline int gi_jpeg_ceil(int a, int b)
{
    return a / b + (a % b != 0);
}

/* Returns the number of samples on each side of a block of the component (jdmaster.c of
 * libjpeg-turbo). Subsampled components of a reduced image keep more samples, instead of being
 * upsampled. */
static inline int gi_jpeg_block_size(const struct gi_jpeg_component *component, int hmax, int vmax,
                                     int denominator)
{
    int least = 8 / denominator, size = least;
    while (size < 8 && hmax * least % (component->h * size * 2) == 0 &&
           vmax * least % (component->v * size * 2) == 0)
        size *= 2;
    return size;
}

/* `denominator` is that of struct gi_jpeg_decode. Returns false if the frame is not one that
 * jpeg_decode takes. */
static inline bool gi_jpeg_grid_make(struct gi_jpeg_grid *grid, const struct gi_jpeg_frame *frame,
                                     int denominator)
{
    int hmax = 1, vmax = 1, least = 8 / denominator;
    memset(grid, 0, sizeof *grid);
    for (int i = 0; i < frame->ncomponents; i++) {
        const struct gi_jpeg_component *c = &frame->components[i];
        hmax = c->h > hmax ? c->h : hmax;
        vmax = c->v > vmax ? c->v : vmax;
    }
    grid->across = gi_jpeg_ceil(frame->width, 8 * hmax);
    grid->down = gi_jpeg_ceil(frame->height, 8 * vmax);
    for (int i = 0; i < frame->ncomponents; i++) {
        const struct gi_jpeg_component *c = &frame->components[i];
        struct gi_jpeg_plane *plane = &grid->planes[i];
        if (hmax % c->h || vmax % c->v || grid->nunits + c->h * c->v > GI_JPEG_UNITS)
            return false;
        plane->h = c->h;
        plane->v = c->v;
        plane->across = grid->across * c->h;
        plane->down = grid->down * c->v;
        plane->size = gi_jpeg_block_size(c, hmax, vmax, denominator);
        plane->width = gi_jpeg_ceil(frame->width * c->h * plane->size, hmax * 8);
        plane->height = gi_jpeg_ceil(frame->height * c->v * plane->size, vmax * 8);
        plane->step_x = hmax * least / (c->h * plane->size);
        plane->step_y = vmax * least / (c->v * plane->size);
        /* jinit_upsampler() of libjpeg-turbo: other ratios and narrow planes repeat samples. */
        bool wide = plane->width > 2 && least > 1;
        plane->fancy_x = plane->step_x == 2 && plane->step_y <= 2 && wide;
        plane->fancy_y = plane->step_y == 2 && least > 1 && (plane->step_x == 1 || plane->fancy_x);
        plane->first_unit = grid->nunits;
        for (int unit = 0; unit < c->h * c->v; unit++)
            grid->component_of[grid->nunits++] = (uint8_t)i;
    }
    uint64_t ncoded = (uint64_t)grid->across * (uint64_t)grid->down * (uint64_t)grid->nunits;
    grid->ncoded = (uint32_t)ncoded;
    return ncoded <= GI_JPEG_CODED_MAX;
}

/* Returns whether the image has the shape of the result. */
static inline bool gi_jpeg_fits(const struct gi_image *result, const struct gi_jpeg_decode *spec)
{
    return result->width == gi_jpeg_ceil(spec->frame->width, spec->denominator) &&
           result->height == gi_jpeg_ceil(spec->frame->height, spec->denominator) &&
           result->channels == spec->frame->ncomponents;
}

/* Returns x / factor for a sampling factor, 1 to 4. GPUs have no instruction for division. */
GI_HOST_DEVICE static inline uint32_t gi_jpeg_divide(uint32_t x, int factor)
{
    return factor == 1 ? x : factor == 3 ? x / 3 : x >> factor / 2;
}

/* Returns the number of the block at (bx, by) of a plane in the order of the scan, whose rows have
 * `across` MCUs of `nunits` blocks. */
GI_HOST_DEVICE static inline uint32_t gi_jpeg_unit_at(const struct gi_jpeg_plane *plane,
                                                      uint32_t bx, uint32_t by, uint32_t across,
                                                      uint32_t nunits)
{
    uint32_t h = (uint32_t)plane->h, v = (uint32_t)plane->v;
    uint32_t column = gi_jpeg_divide(bx, plane->h), row = gi_jpeg_divide(by, plane->v);
    return (row * across + column) * nunits + (uint32_t)plane->first_unit + (by - row * v) * h +
           (bx - column * h);
}

/* ---- Huffman codes ---- */

enum {
    GI_JPEG_LOOK = 10, /* bits of the look-up table */
    GI_JPEG_LONG = 16 - GI_JPEG_LOOK,
    GI_JPEG_PREFIXES = 8,      /* maximum number of prefixes with a look-up table of their own */
    GI_JPEG_NO_CODE = 1 << 16, /* flag of gi_jpeg_symbol() */
};

/* A Huffman table for decoding. Most codes are found by their first GI_JPEG_LOOK bits. Longer codes
 * share few such prefixes (5 in the standard tables), each of which has a second table for the
 * other bits. If there are more prefixes, codes are compared with limits. */
struct gi_jpeg_codes {
    /* length << 8 | symbol; or 1 to GI_JPEG_PREFIXES, the number of the second table; or 0 */
    uint16_t look[1 << GI_JPEG_LOOK];
    uint16_t second[GI_JPEG_PREFIXES][1 << GI_JPEG_LONG]; /* length << 8 | symbol; 0: no code */
    /* For the lengths from GI_JPEG_LOOK + 1 on: the 16 bits after the last code of this length, and
     * what added to a code gives the index of its symbol. */
    uint32_t limits[GI_JPEG_LONG];
    int32_t offsets[GI_JPEG_LONG];
    uint8_t values[256];
};

/* Adds a code that is longer than GI_JPEG_LOOK bits to a second table. */
static inline void gi_jpeg_add_long(struct gi_jpeg_codes *codes, unsigned *nprefixes, unsigned code,
                                    unsigned length, unsigned symbol)
{
    unsigned more = length - GI_JPEG_LOOK, prefix = code >> more;
    if (!codes->look[prefix] && *nprefixes < GI_JPEG_PREFIXES)
        codes->look[prefix] = (uint16_t)++ * nprefixes;
    unsigned same = 1u << (GI_JPEG_LONG - more), first = (code & ((1u << more) - 1)) * same;
    for (unsigned k = 0; codes->look[prefix] && k < same; k++)
        codes->second[codes->look[prefix] - 1][first + k] = (uint16_t)(length << 8 | symbol);
}

/* Returns false if the table is no Huffman code as libjpeg accepts it. `symbols` is the maximum
 * symbol. */
static inline bool gi_jpeg_codes_make(struct gi_jpeg_codes *codes,
                                      const struct gi_jpeg_huffman *table, unsigned symbols)
{
    unsigned code = 0, n = 0, nprefixes = 0;
    memset(codes->look, 0, sizeof codes->look);
    memset(codes->second, 0, sizeof codes->second);
    for (unsigned i = 0; i < 256; i++)
        codes->values[i] = table->values[i];
    for (unsigned length = 1; length <= 16; length++, code *= 2) {
        unsigned count = table->counts[length - 1];
        if (n + count > 256 || (count && code + count >= 1u << length))
            return false;
        if (length > GI_JPEG_LOOK) {
            codes->limits[length - GI_JPEG_LOOK - 1] = (code + count) << (16 - length);
            codes->offsets[length - GI_JPEG_LOOK - 1] = (int32_t)n - (int32_t)code;
        }
        for (unsigned i = 0; i < count; i++, n++, code++) {
            if (table->values[n] > symbols)
                return false;
            if (length > GI_JPEG_LOOK)
                gi_jpeg_add_long(codes, &nprefixes, code, length, table->values[n]);
            unsigned same = length > GI_JPEG_LOOK ? 0 : 1u << (GI_JPEG_LOOK - length);
            for (unsigned k = 0; k < same; k++)
                codes->look[code * same + k] = (uint16_t)(length << 8 | table->values[n]);
        }
    }
    return true;
}

/* Decodes the code at the upper end of `bits`. Returns its length << 8 | symbol. If there is no
 * such code, returns GI_JPEG_NO_CODE with the length 16 and the symbol 0. */
GI_HOST_DEVICE static inline uint32_t gi_jpeg_symbol(const struct gi_jpeg_codes *codes,
                                                     uint32_t bits)
{
    uint32_t entry = codes->look[bits >> (32 - GI_JPEG_LOOK)];
    if (entry && entry <= GI_JPEG_PREFIXES)
        entry = codes->second[entry - 1][bits >> 16 & ((1 << GI_JPEG_LONG) - 1)];
    if (entry)
        return entry;
    for (unsigned i = 0; i < GI_JPEG_LONG; i++)
        if (bits >> 16 < codes->limits[i]) {
            uint32_t code = bits >> (GI_JPEG_LONG - 1 - i + 16);
            int32_t at = (int32_t)code + codes->offsets[i];
            return (GI_JPEG_LOOK + 1 + i) << 8 | codes->values[at & 255];
        }
    return GI_JPEG_NO_CODE | 16 << 8;
}

/* Returns the value of `n` additional bits, 0 to 15, at the upper end of `bits` (F.2.2.1). */
GI_HOST_DEVICE static inline int gi_jpeg_extend(uint32_t bits, unsigned n)
{
    if (n == 0)
        return 0;
    int value = (int)(bits >> (32 - n));
    return bits >> 31 ? value : value + 1 - (1 << n);
}

/* The position, in row-major order, of coefficient k of the zigzag order. */
#define GI_JPEG_ZIGZAG                                                                             \
    {                                                                                              \
        0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34,    \
            27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37,  \
            44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63                 \
    }

/* ---- inverse transform ---- */

/* Returns 1 if the value leaves 16 bits, in which libjpeg-turbo's vector code computes it. */
GI_HOST_DEVICE static inline uint32_t gi_jpeg_leaves16(int value)
{
    return (uint32_t)value + 32768u > 65535u;
}

/* Returns a * b, of which the lower 32 bits are right. */
GI_HOST_DEVICE static inline uint32_t gi_jpeg_mul(int a, int b)
{
    return (uint32_t)a * (uint32_t)b;
}

/* Transforms 8 values (jidctint.c of libjpeg-turbo; Loeffler, Ligtenberg and Moschytz, 1989).
 * Results are scaled down by 2^shift, rounded. Sums wrap at 32 bits; then the result leaves 16
 * bits, too. Returns 1 if a sum of inputs leaves 16 bits. */
GI_HOST_DEVICE static inline uint32_t gi_jpeg_idct8(int v[8], int shift)
{
    int sum = v[0] + v[4], difference = v[0] - v[4], odd3 = v[7] + v[3], odd4 = v[5] + v[1];
    uint32_t leaves = gi_jpeg_leaves16(sum) | gi_jpeg_leaves16(difference) |
                      gi_jpeg_leaves16(odd3) | gi_jpeg_leaves16(odd4);
    uint32_t z1 = gi_jpeg_mul(v[2] + v[6], 4433);
    uint32_t t2 = z1 - gi_jpeg_mul(v[6], 15137), t3 = z1 + gi_jpeg_mul(v[2], 6270);
    uint32_t t0 = gi_jpeg_mul(sum, 1 << 13), t1 = gi_jpeg_mul(difference, 1 << 13);
    uint32_t half = 1u << (shift - 1);
    uint32_t even[4] = {t0 + t3 + half, t1 + t2 + half, t1 - t2 + half, t0 - t3 + half};
    uint32_t z5 = gi_jpeg_mul(odd3 + odd4, 9633);
    uint32_t z3 = z5 - gi_jpeg_mul(odd3, 16069), z4 = z5 - gi_jpeg_mul(odd4, 3196);
    z1 = 0u - gi_jpeg_mul(v[7] + v[1], 7373);
    uint32_t z2 = 0u - gi_jpeg_mul(v[5] + v[3], 20995);
    uint32_t odd[4] = {
        gi_jpeg_mul(v[1], 12299) + z1 + z4,
        gi_jpeg_mul(v[3], 25172) + z2 + z3,
        gi_jpeg_mul(v[5], 16819) + z2 + z4,
        gi_jpeg_mul(v[7], 2446) + z1 + z3,
    };
    for (int i = 0; i < 4; i++) {
        v[i] = (int)(even[i] + odd[i]) >> shift;
        v[7 - i] = (int)(even[i] - odd[i]) >> shift;
    }
    return leaves;
}

/* The same for 4 results (jidctred.c of libjpeg-turbo). v[4] is not used. */
GI_HOST_DEVICE static inline void gi_jpeg_idct4(int v[8], int shift)
{
    uint32_t half = 1u << (shift - 1), t0 = gi_jpeg_mul(v[0], 1 << 14) + half;
    uint32_t t2 = gi_jpeg_mul(v[2], 15137) - gi_jpeg_mul(v[6], 6270);
    uint32_t odd1 = gi_jpeg_mul(v[5], 11893) - gi_jpeg_mul(v[7], 1730) - gi_jpeg_mul(v[3], 17799) +
                    gi_jpeg_mul(v[1], 8697);
    uint32_t odd0 = gi_jpeg_mul(v[3], 7373) - gi_jpeg_mul(v[7], 4176) - gi_jpeg_mul(v[5], 4926) +
                    gi_jpeg_mul(v[1], 20995);
    v[0] = (int)(t0 + t2 + odd0) >> shift;
    v[3] = (int)(t0 + t2 - odd0) >> shift;
    v[1] = (int)(t0 - t2 + odd1) >> shift;
    v[2] = (int)(t0 - t2 - odd1) >> shift;
}

/* The same for 2 results. v[2], v[4] and v[6] are not used. */
GI_HOST_DEVICE static inline void gi_jpeg_idct2(int v[8], int shift)
{
    uint32_t t0 = gi_jpeg_mul(v[0], 1 << 15) + (1u << (shift - 1));
    uint32_t odd = gi_jpeg_mul(v[5], 6967) - gi_jpeg_mul(v[7], 5906) - gi_jpeg_mul(v[3], 10426) +
                   gi_jpeg_mul(v[1], 29692);
    v[0] = (int)(t0 + odd) >> shift;
    v[1] = (int)(t0 - odd) >> shift;
}

/* Returns whether a block of this size uses column x, or row x, of the coefficients. */
GI_HOST_DEVICE static inline bool gi_jpeg_uses(int x, int size)
{
    return x == 0 || size == 8 || (size == 4 && x != 4) || (size == 2 && x % 2 == 1);
}

/* Transforms a column of coefficients that are multiplied by their quantization steps into `size`
 * values. Returns 1 if a value leaves 16 bits. */
GI_HOST_DEVICE static inline uint32_t gi_jpeg_idct_column(int v[8], int size)
{
    uint32_t leaves = 0;
    for (int i = 0; i < 8; i++)
        leaves |= gi_jpeg_leaves16(v[i]);
    if (size == 8)
        leaves |= gi_jpeg_idct8(v, 11);
    else if (size == 4)
        gi_jpeg_idct4(v, 12);
    else if (size == 2)
        gi_jpeg_idct2(v, 13);
    for (int i = 0; i < 8; i++)
        leaves |= i < size ? gi_jpeg_leaves16(v[i]) : 0;
    return leaves;
}

/* Transforms a row of the columns' results into `size` samples. Returns 1 if a sum of inputs leaves
 * 16 bits or a result leaves -512 to 511, beyond which libjpeg's table of clamped samples
 * repeats. */
GI_HOST_DEVICE static inline uint32_t gi_jpeg_idct_row(int v[8], int size)
{
    uint32_t leaves = 0;
    if (size == 8)
        leaves = gi_jpeg_idct8(v, 18);
    else if (size == 4)
        gi_jpeg_idct4(v, 19);
    else if (size == 2)
        gi_jpeg_idct2(v, 20);
    else
        v[0] = (v[0] + 4) >> 3;
    for (int i = 0; i < 8; i++) {
        leaves |= i < size && (uint32_t)v[i] + 512u > 1023u;
        int sample = v[i] + 128;
        v[i] = sample < 0 ? 0 : sample > 255 ? 255 : sample;
    }
    return leaves;
}

/* ---- upsampling and colour ---- */

/* Returns the sample of a plane at pixel (x, y) (jdsample.c of libjpeg-turbo). `data` has rows of
 * plane->size * plane->across samples. */
GI_HOST_DEVICE static inline int gi_jpeg_sample(const uint8_t *data,
                                                const struct gi_jpeg_plane *plane, int x, int y)
{
    size_t stride = (size_t)plane->across * (size_t)plane->size;
    if (!plane->fancy_x && !plane->fancy_y)
        return data[(size_t)(y / plane->step_y) * stride + (size_t)(x / plane->step_x)];
    int cx = x >> plane->fancy_x, cy = y >> plane->fancy_y;
    int nx = cx, ny = cy;
    const uint8_t *row = data + (size_t)cy * stride;
    if (plane->fancy_x)
        nx = x & 1 ? (cx + 1 < plane->width ? cx + 1 : cx) : (cx > 0 ? cx - 1 : 0);
    if (!plane->fancy_y)
        return (3 * row[cx] + row[nx] + 1 + (x & 1)) >> 2;
    ny = y & 1 ? (cy + 1 < plane->height ? cy + 1 : cy) : (cy > 0 ? cy - 1 : 0);
    const uint8_t *other = data + (size_t)ny * stride;
    int near = 3 * row[cx] + other[cx];
    if (!plane->fancy_x)
        return (near + 1 + (y & 1)) >> 2;
    return (3 * near + 3 * row[nx] + other[nx] + 8 - (x & 1)) >> 4;
}

/* Converts Y, Cb and Cr to red, green and blue (jdcolor.c of libjpeg-turbo: 16 bits of fraction,
 * green is rounded once). */
GI_HOST_DEVICE static inline void gi_jpeg_rgb(uint8_t rgb[3], int luma, int cb, int cr)
{
    enum { HALF = 1 << 15 };
    cb -= 128;
    cr -= 128;
    int v[3] = {luma + ((91881 * cr + HALF) >> 16),
                luma + ((-22554 * cb - 46802 * cr + HALF) >> 16),
                luma + ((116130 * cb + HALF) >> 16)};
    for (int i = 0; i < 3; i++)
        rgb[i] = (uint8_t)(v[i] < 0 ? 0 : v[i] > 255 ? 255 : v[i]);
}

#endif
