/* PNG's row filters undone (PNG 1.2, section 6). Sub, Average and Paeth need the pixel to the left,
 * so they go pixel by pixel, all bytes of a pixel at once where SSE2 is there.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include "imgio/png_quick.h"

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

static void undo_up(uint8_t *restrict row, const uint8_t *restrict above, size_t n)
{
    for (size_t i = 0; i < n; i++)
        row[i] = (uint8_t)(row[i] + above[i]);
}

/* From byte `i` to the end; the first pixel has zeros to its left. */
static void undo_bytes(uint8_t *row, const uint8_t *above, size_t i, size_t n, size_t bpp, int kind)
{
    for (; i < n; i++) {
        int left = i < bpp ? 0 : row[i - bpp], corner = i < bpp ? 0 : above[i - bpp];
        int guess = kind == SUB       ? left
                    : kind == AVERAGE ? (left + above[i]) / 2
                                      : paeth(left, above[i], corner);
        row[i] = (uint8_t)(row[i] + guess);
    }
}

#ifdef __SSE2__
/* Eight bytes are loaded for each pixel, of which `bpp` count and are stored. Inlined with constant
 * bpp and kind. */
static inline __m128i load_pixel(const uint8_t *p)
{
    return _mm_loadl_epi64((const __m128i *)p);
}

static inline void store_pixel(uint8_t *p, __m128i pixel, size_t bpp)
{
    uint64_t word = (uint64_t)_mm_cvtsi128_si64(pixel);
    memcpy(p, &word, bpp);
}

static inline __m128i magnitude16(__m128i v)
{
    return _mm_max_epi16(v, _mm_sub_epi16(_mm_setzero_si128(), v));
}

static inline __m128i pick(__m128i mask, __m128i yes, __m128i no)
{
    return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

/* Paeth's guess in 16-bit lanes. */
static inline __m128i paeth16(__m128i left, __m128i up, __m128i corner)
{
    __m128i to_left = _mm_sub_epi16(up, corner), to_up = _mm_sub_epi16(left, corner);
    __m128i to_corner = magnitude16(_mm_add_epi16(to_left, to_up));
    to_left = magnitude16(to_left);
    to_up = magnitude16(to_up);
    __m128i least = _mm_min_epi16(to_corner, _mm_min_epi16(to_left, to_up));
    __m128i guess = pick(_mm_cmpeq_epi16(least, to_up), up, corner);
    return pick(_mm_cmpeq_epi16(least, to_left), left, guess);
}

/* The floor of the mean; SSE2's own mean rounds up. */
static inline __m128i mean8(__m128i a, __m128i b)
{
    __m128i odd = _mm_and_si128(_mm_xor_si128(a, b), _mm_set1_epi8(1));
    return _mm_sub_epi8(_mm_avg_epu8(a, b), odd);
}

static inline __attribute__((always_inline)) void undo_pixels(uint8_t *row, const uint8_t *above,
                                                              size_t n, size_t bpp, int kind)
{
    __m128i zero = _mm_setzero_si128(), left = zero, corner = zero;
    size_t i = 0;
    for (; i + 8 <= n; i += bpp) {
        __m128i now = load_pixel(row + i), up = load_pixel(above + i);
        if (kind == SUB) {
            left = _mm_add_epi8(now, left);
        } else if (kind == AVERAGE) {
            left = _mm_add_epi8(now, mean8(left, up));
        } else {
            __m128i wide = _mm_unpacklo_epi8(up, zero);
            __m128i guess = paeth16(_mm_unpacklo_epi8(left, zero), wide, corner);
            left = _mm_add_epi8(now, _mm_packus_epi16(guess, guess));
            corner = wide;
        }
        store_pixel(row + i, left, bpp);
    }
    undo_bytes(row, above, i, n, bpp, kind);
}

#define UNDO_BY_PIXELS(bytes)                                                                      \
    static void undo_##bytes(uint8_t *row, const uint8_t *above, size_t n, int kind)               \
    {                                                                                              \
        if (kind == SUB)                                                                           \
            undo_pixels(row, above, n, bytes, SUB);                                                \
        else if (kind == AVERAGE)                                                                  \
            undo_pixels(row, above, n, bytes, AVERAGE);                                            \
        else                                                                                       \
            undo_pixels(row, above, n, bytes, PAETH);                                              \
    }

UNDO_BY_PIXELS(3)
UNDO_BY_PIXELS(4)
UNDO_BY_PIXELS(6)
UNDO_BY_PIXELS(8)
#endif

void gi_png_unfilter_row(uint8_t *row, const uint8_t *above, size_t n, size_t bpp, int kind)
{
    if (kind == NONE)
        return;
    if (kind == UP)
        undo_up(row, above, n);
#ifdef __SSE2__
    else if (bpp == 3)
        undo_3(row, above, n, kind);
    else if (bpp == 4)
        undo_4(row, above, n, kind);
    else if (bpp == 6)
        undo_6(row, above, n, kind);
    else if (bpp == 8)
        undo_8(row, above, n, kind);
#endif
    else
        undo_bytes(row, above, 0, n, bpp, kind);
}
