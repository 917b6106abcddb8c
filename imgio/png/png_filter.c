/* PNG's five row filters (PNG 1.2, section 6). The loops have a form that the compiler can
 * vectorise.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include "imgio/png/png_filter.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#elif defined __aarch64__
#include <arm_neon.h>
#endif

enum { NONE, SUB, UP, AVERAGE, PAETH };

static void filter_sub(uint8_t *restrict out, const uint8_t *restrict row, size_t n, size_t bpp)
{
    memcpy(out, row, bpp);
    for (size_t i = bpp; i < n; i++)
        out[i] = (uint8_t)(row[i] - row[i - bpp]);
}

static void filter_up(uint8_t *restrict out, const uint8_t *restrict row,
                      const uint8_t *restrict above, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(row[i] - above[i]);
}

static void filter_average(uint8_t *restrict out, const uint8_t *restrict row,
                           const uint8_t *restrict above, size_t n, size_t bpp)
{
    for (size_t i = 0; i < bpp; i++)
        out[i] = (uint8_t)(row[i] - (above[i] >> 1));
    for (size_t i = bpp; i < n; i++)
        out[i] = (uint8_t)(row[i] - ((row[i - bpp] + above[i]) >> 1));
}

static int16_t magnitude(int16_t v)
{
    return (int16_t)(v < 0 ? -v : v);
}

static void filter_paeth(uint8_t *restrict out, const uint8_t *restrict row,
                         const uint8_t *restrict above, size_t n, size_t bpp)
{
    filter_up(out, row, above, bpp);
    for (size_t i = bpp; i < n; i++) {
        int16_t left = row[i - bpp], up = above[i], corner = above[i - bpp];
        int16_t to_left = (int16_t)(up - corner), to_up = (int16_t)(left - corner);
        int16_t to_corner = magnitude((int16_t)(to_left + to_up));
        to_left = magnitude(to_left);
        to_up = magnitude(to_up);
        int16_t predicted = to_up <= to_corner ? up : corner;
        predicted = to_left <= to_up && to_left <= to_corner ? left : predicted;
        out[i] = (uint8_t)(row[i] - predicted);
    }
}

/* Returns the sum of the absolute values of the bytes, read as signed numbers. The absolute value
 * of a byte v is min(v, 256 - v). */
static uint64_t cost(const uint8_t *bytes, size_t n)
{
    uint64_t sum = 0;
    size_t i = 0;
#ifdef __SSE2__
    __m128i zero = _mm_setzero_si128(), sums = zero;
    for (; i + 16 <= n; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(bytes + i));
        v = _mm_min_epu8(v, _mm_sub_epi8(zero, v));
        sums = _mm_add_epi64(sums, _mm_sad_epu8(v, zero));
    }
    sum = (uint64_t)_mm_cvtsi128_si64(sums) +
          (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums));
#elif defined __aarch64__
    uint64x2_t sums = vdupq_n_u64(0);
    for (; i + 16 <= n; i += 16) {
        uint8x16_t v = vreinterpretq_u8_s8(vabsq_s8(vld1q_s8((const int8_t *)bytes + i)));
        sums = vpadalq_u32(sums, vpaddlq_u16(vpaddlq_u8(v)));
    }
    sum = vaddvq_u64(sums);
#endif
    for (; i < n; i++)
        sum += (uint64_t)(bytes[i] < 128 ? bytes[i] : 256 - bytes[i]);
    return sum;
}

static void filter(int kind, uint8_t *out, const uint8_t *row, const uint8_t *above, size_t n,
                   size_t bpp)
{
    if (kind == NONE)
        memcpy(out, row, n);
    else if (kind == SUB)
        filter_sub(out, row, n, bpp);
    else if (kind == UP)
        filter_up(out, row, above, n);
    else if (kind == AVERAGE)
        filter_average(out, row, above, n, bpp);
    else
        filter_paeth(out, row, above, n, bpp);
}

void gi_png_filter_row(uint8_t *out, const uint8_t *row, const uint8_t *above, size_t nbytes,
                       size_t bpp, uint8_t *scratch)
{
    uint64_t least = UINT64_MAX;
    /* Tries Paeth first. In photographs Paeth is usually the best filter, and then no other row is
     * copied. */
    for (int kind = PAETH; kind >= NONE; kind--) {
        filter(kind, scratch, row, above, nbytes, bpp);
        uint64_t sum = cost(scratch, nbytes);
        if (sum >= least)
            continue;
        least = sum;
        out[0] = (uint8_t)kind;
        memcpy(out + 1, scratch, nbytes);
    }
}
