/* Undoes PNG's row filters (PNG 1.2, section 6). The filters Sub, Average and Paeth depend on the
 * pixel to the left, so they are undone pixel by pixel, with the bytes of a pixel in a vector.
 * Paeth has the longest dependency from pixel to pixel, so two rows with this filter are processed
 * at once.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include "imgio/png/lanes.h"
#include "imgio/png/png_quick.h"

#include <string.h>

static unsigned magnitude(int v)
{
    return (unsigned)(v < 0 ? -v : v);
}

static uint8_t paeth(int left, int up, int corner)
{
    unsigned to_left = magnitude(up - corner), to_up = magnitude(left - corner);
    unsigned to_corner = magnitude(left + up - 2 * corner);
    if (to_left <= to_up && to_left <= to_corner)
        return (uint8_t)left;
    return (uint8_t)(to_up <= to_corner ? up : corner);
}

static void undo_up(uint8_t *restrict dst, const uint8_t *restrict src,
                    const uint8_t *restrict above, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = (uint8_t)(src[i] + above[i]);
}

/* Undoes the filter of bytes `i` to n - 1. The first pixel's left neighbour is 0. */
static void undo_bytes(uint8_t *dst, const uint8_t *src, const uint8_t *above, size_t i, size_t n,
                       size_t bpp, int kind)
{
    for (; i < n; i++) {
        int left = i < bpp ? 0 : dst[i - bpp], corner = i < bpp ? 0 : above[i - bpp];
        int predicted = kind == GI_PNG_SUB       ? left
                        : kind == GI_PNG_AVERAGE ? (left + above[i]) / 2
                                                 : paeth(left, above[i], corner);
        dst[i] = (uint8_t)(src[i] + predicted);
    }
}

#ifdef GI_PNG_LANES
/* Each load reads eight bytes, of which the pixel uses `bpp`. A store may write excess bytes, which
 * the next pixel overwrites. Functions with a parameter `bpp` are inlined with a constant. */

/* Paeth takes the one of left, up and corner that is nearest to left + up - corner. Let low <= high
 * be left and up. If corner is between them, the distances of low, high and corner are high -
 * corner, corner - low, and the difference of both. So high is taken if 2 (corner - low) <= high -
 * corner, that is rest <= low with rest = 3 corner - low - high, and low if rest >= high. If corner
 * is not between them, the same tests choose the right one. */
static inline GI_PNG_LANES predict_paeth(GI_PNG_LANES left, GI_PNG_LANES up, GI_PNG_LANES corner)
{
    GI_PNG_LANES thrice = lanes_add(lanes_add(corner, corner), corner);
    GI_PNG_LANES rest = lanes_sub(lanes_sub(thrice, up), left);
    GI_PNG_LANES low = lanes_least(left, up), high = lanes_most(left, up);
    return lanes_between(rest, low, high, corner);
}

static inline __attribute__((always_inline)) void
undo_pixels(uint8_t *dst, const uint8_t *src, const uint8_t *above, size_t n, size_t bpp, int kind)
{
    GI_PNG_LANES left = lanes_zero(), corner = left;
    size_t i = 0;
    for (; i + 8 <= n; i += bpp) {
        GI_PNG_LANES up = lanes_load(above + i);
        GI_PNG_LANES predicted = kind == GI_PNG_SUB       ? left
                                 : kind == GI_PNG_AVERAGE ? lanes_mean(left, up)
                                                          : predict_paeth(left, up, corner);
        left = lanes_modulo(lanes_add(lanes_load(src + i), predicted));
        corner = up;
        lanes_store(dst + i, left, bpp);
    }
    undo_bytes(dst, src, above, i, n, bpp, kind);
}

/* Undoes Paeth in two rows, `high` and the row `low` below it. The work on `low` is one pixel
 * behind, so that the dependencies of both rows overlap, and the pixels above `low` are in
 * registers. */
static inline __attribute__((always_inline)) void
undo_paeth_pair(uint8_t *high, uint8_t *low, const uint8_t *src_high, const uint8_t *src_low,
                const uint8_t *above, size_t n, size_t bpp)
{
    GI_PNG_LANES zero = lanes_zero(), left = zero, corner = zero, low_left = zero,
                 low_corner = zero;
    size_t i = 0;
    for (; i + 8 <= n; i += bpp) {
        GI_PNG_LANES up = lanes_load(above + i);
        GI_PNG_LANES pixel =
            lanes_modulo(lanes_add(lanes_load(src_high + i), predict_paeth(left, up, corner)));
        lanes_store(high + i, pixel, bpp);
        if (i) {
            GI_PNG_LANES predicted = predict_paeth(low_left, left, low_corner);
            low_left = lanes_modulo(lanes_add(lanes_load(src_low + i - bpp), predicted));
            low_corner = left;
            lanes_store(low + i - bpp, low_left, bpp);
        }
        left = pixel;
        corner = up;
    }
    undo_bytes(high, src_high, above, i, n, bpp, GI_PNG_PAETH);
    undo_bytes(low, src_low, high, i ? i - bpp : 0, n, bpp, GI_PNG_PAETH);
}

#define UNDO_BY_PIXELS(bytes)                                                                      \
    static void undo_##bytes(uint8_t *dst, const uint8_t *src, const uint8_t *above, size_t n,     \
                             int kind)                                                             \
    {                                                                                              \
        if (kind == GI_PNG_SUB)                                                                    \
            undo_pixels(dst, src, above, n, bytes, GI_PNG_SUB);                                    \
        else if (kind == GI_PNG_AVERAGE)                                                           \
            undo_pixels(dst, src, above, n, bytes, GI_PNG_AVERAGE);                                \
        else                                                                                       \
            undo_pixels(dst, src, above, n, bytes, GI_PNG_PAETH);                                  \
    }

UNDO_BY_PIXELS(3)
UNDO_BY_PIXELS(4)
UNDO_BY_PIXELS(6)
UNDO_BY_PIXELS(8)

/* Undoes the Paeth filters of two rows. Returns false for sizes of pixels that have no such
 * code. */
static bool undo_pair(uint8_t *dst, size_t stride, const uint8_t *src, const uint8_t *above,
                      size_t n, size_t bpp)
{
    const uint8_t *src_low = src + n + 1;
    if (bpp == 3)
        undo_paeth_pair(dst, dst + stride, src, src_low, above, n, 3);
    else if (bpp == 4)
        undo_paeth_pair(dst, dst + stride, src, src_low, above, n, 4);
    else if (bpp == 6)
        undo_paeth_pair(dst, dst + stride, src, src_low, above, n, 6);
    else if (bpp == 8)
        undo_paeth_pair(dst, dst + stride, src, src_low, above, n, 8);
    return bpp == 3 || bpp == 4 || bpp == 6 || bpp == 8;
}
#else
static bool undo_pair(uint8_t *dst, size_t stride, const uint8_t *src, const uint8_t *above,
                      size_t n, size_t bpp)
{
    return false;
}
#endif

static void undo_row(uint8_t *dst, const uint8_t *src, const uint8_t *above, size_t n, size_t bpp,
                     int kind)
{
    if (kind == GI_PNG_NONE)
        memcpy(dst, src, n);
    else if (kind == GI_PNG_UP)
        undo_up(dst, src, above, n);
#ifdef GI_PNG_LANES
    else if (bpp == 3)
        undo_3(dst, src, above, n, kind);
    else if (bpp == 4)
        undo_4(dst, src, above, n, kind);
    else if (bpp == 6)
        undo_6(dst, src, above, n, kind);
    else if (bpp == 8)
        undo_8(dst, src, above, n, kind);
#endif
    else
        undo_bytes(dst, src, above, 0, n, bpp, kind);
}

bool gi_png_unfilter(uint8_t *dst, size_t stride, const uint8_t *src, int rows, size_t n,
                     size_t bpp, const uint8_t *above)
{
    for (int y = 0; y < rows;) {
        int kind = src[0], done = 1;
        if (kind > GI_PNG_PAETH)
            return false;
        if (kind == GI_PNG_PAETH && y + 1 < rows && src[n + 1] == GI_PNG_PAETH &&
            undo_pair(dst, stride, src + 1, above, n, bpp))
            done = 2;
        else
            undo_row(dst, src + 1, above, n, bpp, kind);
        above = dst + (size_t)(done - 1) * stride;
        dst += (size_t)done * stride;
        src += (size_t)done * (n + 1);
        y += done;
    }
    return true;
}
