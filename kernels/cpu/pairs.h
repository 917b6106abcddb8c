/* Sums and sums of squares of bytes, by the instructions that add neighbours; not for the scalar
 * level. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_PAIRS_H
#define GI_KERNELS_CPU_PAIRS_H

#include "kernels/cpu/ints.h"

/* In this order: the bits set in a and b; the odd bytes as 16 bits; the sum of each 8 bytes; the
 * sum of the squares of each two 16 bits; a + b in 64-bit lanes; the sum of each two 32-bit lanes.
 */
#if GI_LEVEL_avx512

static inline GI_INTS both(GI_INTS a, GI_INTS b)
{
    return _mm512_and_si512(a, b);
}

static inline GI_INTS odd_bytes(GI_INTS v)
{
    return _mm512_srli_epi16(v, 8);
}

static inline GI_INTS sums_of_bytes(GI_INTS v)
{
    return _mm512_sad_epu8(v, _mm512_setzero_si512());
}

static inline GI_INTS squares_of_pairs(GI_INTS v)
{
    return _mm512_madd_epi16(v, v);
}

static inline GI_INTS add_wide(GI_INTS a, GI_INTS b)
{
    return _mm512_add_epi64(a, b);
}

static inline GI_INTS wide_sums(GI_INTS v)
{
    GI_INTS low = _mm512_and_si512(v, _mm512_set1_epi64(UINT32_MAX));
    return _mm512_add_epi64(low, _mm512_srli_epi64(v, 32));
}

#else

static inline GI_INTS both(GI_INTS a, GI_INTS b)
{
    return _mm256_and_si256(a, b);
}

static inline GI_INTS odd_bytes(GI_INTS v)
{
    return _mm256_srli_epi16(v, 8);
}

static inline GI_INTS sums_of_bytes(GI_INTS v)
{
    return _mm256_sad_epu8(v, _mm256_setzero_si256());
}

static inline GI_INTS squares_of_pairs(GI_INTS v)
{
    return _mm256_madd_epi16(v, v);
}

static inline GI_INTS add_wide(GI_INTS a, GI_INTS b)
{
    return _mm256_add_epi64(a, b);
}

static inline GI_INTS wide_sums(GI_INTS v)
{
    GI_INTS low = _mm256_and_si256(v, _mm256_set1_epi64x(UINT32_MAX));
    return _mm256_add_epi64(low, _mm256_srli_epi64(v, 32));
}

#endif

/* Sums in 64-bit lanes. Sample i of a row counts in [i % period], 2 or 4: even and odd bytes become
 * 16 bits, of which for a period of 4 every other one is of a kind. */
struct pairs {
    GI_INTS q[4], squares[4];
};

/* `squares`: in 32 bits. */
static inline void pairs_add(struct pairs *pairs, GI_INTS *squares, GI_INTS bytes, const int period)
{
    const GI_INTS halves[2] = {both(bytes, ints_set(0x00ff00ff)), odd_bytes(bytes)};
    for (int i = 0; i < period; i++) {
        GI_INTS mask = ints_set(period == 2 ? 0xffffffff : i < 2 ? 0x0000ffff : 0xffff0000);
        GI_INTS v = both(halves[i % 2], mask);
        pairs->q[i] = add_wide(pairs->q[i], sums_of_bytes(v));
        squares[i] = ints_add(squares[i], squares_of_pairs(v));
    }
}

/* At most 2^18 samples: 2^15 times two squares of 8 bits fit in each of 8 lanes. */
static inline void pairs_add_samples(struct pairs *sums, const uint8_t *row, size_t n,
                                     const int period)
{
    enum { VECTOR = sizeof(GI_INTS) };
    struct pairs pairs = *sums;
    GI_INTS squares[4] = {ints_set(0), ints_set(0), ints_set(0), ints_set(0)};
    size_t at = 0;
    for (; at + VECTOR <= n; at += VECTOR)
        pairs_add(&pairs, squares, ints_load((const void *)(row + at)), period);
    if (at < n) {
        uint8_t rest[VECTOR] = {0};
        pairs_add(&pairs, squares, ints_load(memcpy(rest, row + at, n - at)), period);
    }
    for (int i = 0; i < period; i++) {
        sums->q[i] = pairs.q[i];
        sums->squares[i] = add_wide(pairs.squares[i], wide_sums(squares[i]));
    }
}

static inline void pairs_add_row(struct pairs *pairs, const uint8_t *row, size_t n, int channels)
{
    if (channels == 4)
        pairs_add_samples(pairs, row, n, 4);
    else
        pairs_add_samples(pairs, row, n, 2);
}

static inline uint64_t wide_total(GI_INTS v)
{
    uint64_t lanes[GI_LANES / 2], total = 0;
    memcpy(lanes, &v, sizeof v);
    for (int l = 0; l < GI_LANES / 2; l++)
        total += lanes[l];
    return total;
}

#endif
