/* PNG's row filters undone (PNG 1.2, section 6). Sub, Average and Paeth need the pixel to the left,
 * so they go pixel by pixel, all bytes of a pixel at once where SSE2 is there; and Paeth, the
 * longest wait from pixel to pixel, two rows at once. SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include "imgio/png/png_quick.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { NONE, SUB, UP, AVERAGE, PAETH };

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

/* From byte `i` to the end; the first pixel has zeros to its left. */
static void undo_bytes(uint8_t *dst, const uint8_t *src, const uint8_t *above, size_t i, size_t n,
                       size_t bpp, int kind)
{
    for (; i < n; i++) {
        int left = i < bpp ? 0 : dst[i - bpp], corner = i < bpp ? 0 : above[i - bpp];
        int guess = kind == SUB       ? left
                    : kind == AVERAGE ? (left + above[i]) / 2
                                      : paeth(left, above[i], corner);
        dst[i] = (uint8_t)(src[i] + guess);
    }
}

#ifdef __SSE2__
/* Eight bytes are loaded for each pixel, of which `bpp` count; what is stored beyond them is
 * written again by the next pixel. A pixel is kept in 16-bit lanes, 0 to 255. Functions with a
 * parameter bpp are inlined with it constant. */
static inline __m128i load_pixel(const uint8_t *p)
{
    return _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)p), _mm_setzero_si128());
}

static inline void store_pixel(uint8_t *p, __m128i pixel, size_t bpp)
{
    uint64_t word = (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(pixel, pixel));
    memcpy(p, &word, bpp <= 4 ? 4 : 8);
}

static inline __m128i magnitude16(__m128i v)
{
    return _mm_max_epi16(v, _mm_sub_epi16(_mm_setzero_si128(), v));
}

static inline __m128i pick(__m128i mask, __m128i yes, __m128i no)
{
    return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

static inline __m128i add_modulo(__m128i pixel, __m128i guess)
{
    return _mm_and_si128(_mm_add_epi16(pixel, guess), _mm_set1_epi16(255));
}

static inline __m128i guess_paeth(__m128i left, __m128i up, __m128i corner)
{
    __m128i to_left = _mm_sub_epi16(up, corner), to_up = _mm_sub_epi16(left, corner);
    __m128i to_corner = magnitude16(_mm_add_epi16(to_left, to_up));
    to_left = magnitude16(to_left);
    to_up = magnitude16(to_up);
    __m128i least = _mm_min_epi16(to_corner, _mm_min_epi16(to_left, to_up));
    __m128i guess = pick(_mm_cmpeq_epi16(least, to_up), up, corner);
    return pick(_mm_cmpeq_epi16(least, to_left), left, guess);
}

static inline __attribute__((always_inline)) void
undo_pixels(uint8_t *dst, const uint8_t *src, const uint8_t *above, size_t n, size_t bpp, int kind)
{
    __m128i left = _mm_setzero_si128(), corner = left;
    size_t i = 0;
    for (; i + 8 <= n; i += bpp) {
        __m128i up = load_pixel(above + i);
        __m128i guess = kind == SUB       ? left
                        : kind == AVERAGE ? _mm_srli_epi16(_mm_add_epi16(left, up), 1)
                                          : guess_paeth(left, up, corner);
        left = add_modulo(load_pixel(src + i), guess);
        corner = up;
        store_pixel(dst + i, left, bpp);
    }
    undo_bytes(dst, src, above, i, n, bpp, kind);
}

/* Two rows of Paeth, `low` under `high`. The lower one follows a pixel behind, so that neither
 * waits for the other, and finds what is above it in registers. */
static inline __attribute__((always_inline)) void
undo_paeth_pair(uint8_t *high, uint8_t *low, const uint8_t *src_high, const uint8_t *src_low,
                const uint8_t *above, size_t n, size_t bpp)
{
    __m128i zero = _mm_setzero_si128(), left = zero, corner = zero, low_left = zero,
            low_corner = zero;
    size_t i = 0;
    for (; i + 8 <= n; i += bpp) {
        __m128i up = load_pixel(above + i);
        __m128i pixel = add_modulo(load_pixel(src_high + i), guess_paeth(left, up, corner));
        store_pixel(high + i, pixel, bpp);
        if (i) {
            __m128i guess = guess_paeth(low_left, left, low_corner);
            low_left = add_modulo(load_pixel(src_low + i - bpp), guess);
            low_corner = left;
            store_pixel(low + i - bpp, low_left, bpp);
        }
        left = pixel;
        corner = up;
    }
    undo_bytes(high, src_high, above, i, n, bpp, PAETH);
    undo_bytes(low, src_low, high, i ? i - bpp : 0, n, bpp, PAETH);
}

#define UNDO_BY_PIXELS(bytes)                                                                      \
    static void undo_##bytes(uint8_t *dst, const uint8_t *src, const uint8_t *above, size_t n,     \
                             int kind)                                                             \
    {                                                                                              \
        if (kind == SUB)                                                                           \
            undo_pixels(dst, src, above, n, bytes, SUB);                                           \
        else if (kind == AVERAGE)                                                                  \
            undo_pixels(dst, src, above, n, bytes, AVERAGE);                                       \
        else                                                                                       \
            undo_pixels(dst, src, above, n, bytes, PAETH);                                         \
    }

UNDO_BY_PIXELS(3)
UNDO_BY_PIXELS(4)
UNDO_BY_PIXELS(6)
UNDO_BY_PIXELS(8)

/* Both rows' filter is Paeth; false where this size of pixel has no such way. */
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
    (void)dst, (void)stride, (void)src, (void)above, (void)n, (void)bpp;
    return false;
}
#endif

static void undo_row(uint8_t *dst, const uint8_t *src, const uint8_t *above, size_t n, size_t bpp,
                     int kind)
{
    if (kind == NONE)
        memcpy(dst, src, n);
    else if (kind == UP)
        undo_up(dst, src, above, n);
#ifdef __SSE2__
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
        if (kind > PAETH)
            return false;
        if (kind == PAETH && y + 1 < rows && src[n + 1] == PAETH &&
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
