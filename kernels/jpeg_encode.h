/* The parts of the JPEG encoder that both backends share: the layout of a scan, the tables of the
 * coder, and the arithmetic of a pixel, a row of eight samples, and a coefficient. It is the
 * arithmetic of libjpeg-turbo 2.1 with the slow integer transform (jccolor.c, jcsample.c,
 * jfdctint.c, jcdctmgr.c, jchuff.c). Terms are those of ITU-T T.81.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_JPEG_ENCODE_H
#define GI_KERNELS_JPEG_ENCODE_H

#include "kernels/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GI_JPEG_SIDE = 8, /* samples on each side of a block */
    GI_JPEG_MAX_QUANTUM = 255,
    /* Maximum bits of a block: a code of 16 bits and 11 bits of the DC difference, and 63 times a
     * code of 16 bits and 10 bits of a coefficient. */
    GI_JPEG_BLOCK_BITS = 27 + 63 * 26,
    GI_JPEG_DC_SIZES = 12,     /* sizes of DC differences, 0 to 11 bits */
    GI_JPEG_AC_SIZES = 11,     /* sizes of AC coefficients, 1 to 10 bits; 0 is not coded */
    GI_JPEG_END = 0x00,        /* symbol of the end of a block (EOB) */
    GI_JPEG_ZEROS = 0xf0,      /* symbol of 16 zeros (ZRL) */
    GI_JPEG_LENGTH_SHIFT = 16, /* a code in a table: its length above its up to 16 bits */
    GI_JPEG_MARKER_RST0 = 0xd0,
};

/* The tables of one component. */
struct gi_jpeg_coder {
    /* ceil(2^32 / (8 q)) and 4 q for each quantum q, in row-major order */
    uint32_t reciprocals[GI_JPEG_BLOCK];
    uint32_t halves[GI_JPEG_BLOCK];
    uint32_t dc[GI_JPEG_DC_SIZES]; /* code of each size */
    uint32_t ac[256];              /* code of each symbol: 16 * zeros before + size */
};

/* How the blocks of an image follow each other in the scan. */
struct gi_jpeg_layout {
    int width, height;
    int ncomponents; /* 1 or 3 */
    bool halved;     /* chroma has half the width and half the height (4:2:0) */
    int nblocks;     /* blocks per MCU: 1, 3, or 6 (four of Y, one of Cb, one of Cr) */
    int across;      /* MCUs in a row of MCUs */
    int nmcus;
    int interval; /* MCUs of a restart segment; nmcus if there is only one segment */
};

struct gi_jpeg_plan {
    struct gi_jpeg_layout layout;
    struct gi_jpeg_coder coders[GI_JPEG_COMPONENTS];
    uint8_t places[GI_JPEG_BLOCK]; /* position in zigzag order of each row-major position */
};

/* Makes the plan for encoding `src` as `frame` says. Errors: GI_E_UNSUPPORTED for a frame that
 * jpeg_encode does not take. */
enum gi_status gi_jpeg_plan_make(struct gi_jpeg_plan *plan, const struct gi_image *src,
                                 const struct gi_jpeg_frame *frame, struct gi_err *err);

/* Allocates a scan of nbytes bytes. Errors: GI_E_MEMORY. */
enum gi_status gi_jpeg_scan_alloc(struct gi_jpeg_scan *scan, size_t nbytes,
                                  const struct gi_allocator *allocator, struct gi_err *err);

/* ---- pixels ---- */

/* Returns component c of a pixel, minus 128. The factors are those of JFIF, in 16 bits of
 * fraction. */
GI_HOST_DEVICE static inline int gi_jpeg_convert(int c, int r, int g, int b)
{
    if (c == 0)
        return ((19595 * r + 38470 * g + 7471 * b + 32768) >> 16) - 128;
    if (c == 1)
        return ((-11059 * r - 21709 * g + 32768 * b + (128 << 16) + 32767) >> 16) - 128;
    return ((32768 * r - 27439 * g - 5329 * b + (128 << 16) + 32767) >> 16) - 128;
}

/* Returns sample x of a row of halved chroma, from the sum of its four samples. The sums are
 * rounded down and up in turn. An offset of -128 of each sample is kept. */
GI_HOST_DEVICE static inline int gi_jpeg_halve(int sum, int x)
{
    return (sum + 1 + (x & 1)) >> 2;
}

/* Returns whether block k of a halved MCU, which begins at pixel (left, top), is a dummy: it is one
 * of the four blocks of Y and holds no pixel of the image. A dummy has no AC coefficients, and its
 * DC equals that of the block before. */
GI_HOST_DEVICE static inline bool gi_jpeg_is_dummy(const struct gi_jpeg_layout *layout, int k,
                                                   int left, int top)
{
    return layout->halved && k < 4 &&
           (left + k % 2 * GI_JPEG_SIDE >= layout->width ||
            top + k / 2 * GI_JPEG_SIDE >= layout->height);
}

/* ---- blocks ---- */

/* One-dimensional forward DCT of eight values, with 13 bits of fraction in its factors. Values
 * 0 and 4 are first multiplied by 2^up, then all are rounded to a multiple of 2^down. C. Loeffler,
 * A. Ligtenberg, G. Moschytz, "Practical fast 1-D DCT algorithms with 11 multiplications", 1989. */
GI_HOST_DEVICE static inline void gi_jpeg_dct(int v[GI_JPEG_SIDE], int up, int down)
{
    int a0 = v[0] + v[7], a7 = v[0] - v[7], a1 = v[1] + v[6], a6 = v[1] - v[6];
    int a2 = v[2] + v[5], a5 = v[2] - v[5], a3 = v[3] + v[4], a4 = v[3] - v[4];
    int b0 = a0 + a3, b3 = a0 - a3, b1 = a1 + a2, b2 = a1 - a2;
    int half = 1 << down >> 1, shift = 13 - up + down, round = 1 << (shift - 1);
    v[0] = ((b0 + b1) * (1 << up) + half) >> down;
    v[4] = ((b0 - b1) * (1 << up) + half) >> down;
    int z = (b2 + b3) * 4433;
    v[2] = (z + b3 * 6270 + round) >> shift;
    v[6] = (z - b2 * 15137 + round) >> shift;
    int z5 = (a4 + a6 + a5 + a7) * 9633;
    int z1 = (a4 + a7) * -7373, z2 = (a5 + a6) * -20995;
    int z3 = (a4 + a6) * -16069 + z5, z4 = (a5 + a7) * -3196 + z5;
    v[7] = (a4 * 2446 + z1 + z3 + round) >> shift;
    v[5] = (a5 * 16819 + z2 + z4 + round) >> shift;
    v[3] = (a6 * 25172 + z2 + z3 + round) >> shift;
    v[1] = (a7 * 12299 + z1 + z4 + round) >> shift;
}

/* The two passes over a block: rows first, which keeps two bits of fraction, then columns. */
GI_HOST_DEVICE static inline void gi_jpeg_dct_row(int v[GI_JPEG_SIDE])
{
    gi_jpeg_dct(v, 2, 0);
}

GI_HOST_DEVICE static inline void gi_jpeg_dct_column(int v[GI_JPEG_SIDE])
{
    gi_jpeg_dct(v, 0, 2);
}

/* Returns v / (8 q), rounded to nearest, ties away from 0. |v| is below 2^15 and the divisor at
 * most 2040, for which the product with the rounded reciprocal is exact. */
GI_HOST_DEVICE static inline int gi_jpeg_quantize(int v, uint32_t reciprocal, uint32_t half)
{
    uint32_t magnitude = (uint32_t)(v < 0 ? -v : v) + half;
    int quotient = (int)((uint64_t)magnitude * reciprocal >> 32);
    return v < 0 ? -quotient : quotient;
}

/* Returns the number of bits of |v|, the size of a coefficient. */
#ifdef __CUDACC__
static __device__ inline int gi_jpeg_size(int v)
{
    return 32 - __clz(v < 0 ? -v : v);
}
#else
static inline int gi_jpeg_size(int v)
{
    return v ? 32 - __builtin_clz((unsigned)(v < 0 ? -v : v)) : 0;
}
#endif

/* Returns the bits of a code, followed by the `size` bits of the value v, and sets *length to their
 * number, at most 27. A negative value is coded as v - 1. */
GI_HOST_DEVICE static inline uint32_t gi_jpeg_bits(uint32_t code, int v, int size, int *length)
{
    uint32_t value = (uint32_t)(v < 0 ? v - 1 : v) & ((1u << size) - 1);
    *length = (int)(code >> GI_JPEG_LENGTH_SHIFT) + size;
    return (code & 0xffff) << size | value;
}

#ifdef __cplusplus
}
#endif

#endif
