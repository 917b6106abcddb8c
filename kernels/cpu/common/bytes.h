/* Vectors of bytes, at all levels except the scalar one.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/ints.h"

/* These headers define, in this order:
 *   a AND b; a OR b; NOT v; minimum of two bytes;
 *   the odd bytes widened to 16 bits; the sum of each 8 bytes;
 *   the sum of the squares of each two 16-bit lanes; a + b in 64-bit lanes;
 *   the sum of each two 32-bit lanes; the sum of all 64-bit lanes; the minimum byte;
 *   a vector with a byte of 255 for each bit that is 1, from the lowest bit on.
 * bytes_table() and look_up() do not exist for AVX2. A table is 16 bytes, repeated; byte v is
 * replaced by entry v % 16 of table v / 16. */

#if GI_LEVEL_neon
#include "kernels/cpu/common/bytes_neon.h"
#else

static inline uint64_t total_of_4(__m256i v)
{
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
}

static inline uint32_t least_of_32(__m256i v)
{
    __m128i m = _mm_min_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    m = _mm_minpos_epu16(_mm_min_epu8(m, _mm_srli_epi16(m, 8)));
    return (uint32_t)_mm_cvtsi128_si32(m) & 255;
}

static inline GI_INTS both(GI_INTS a, GI_INTS b)
{
    return GI_MM_SI(and)(a, b);
}

static inline GI_INTS either(GI_INTS a, GI_INTS b)
{
    return GI_MM_SI(or)(a, b);
}

static inline GI_INTS opposite(GI_INTS v)
{
    return GI_MM_SI(xor)(v, GI_MM(set1_epi32)(-1));
}

static inline GI_INTS least_bytes(GI_INTS a, GI_INTS b)
{
    return GI_MM(min_epu8)(a, b);
}

static inline GI_INTS odd_bytes(GI_INTS v)
{
    return GI_MM(srli_epi16)(v, 8);
}

static inline GI_INTS sums_of_bytes(GI_INTS v)
{
    return GI_MM(sad_epu8)(v, GI_MM_SI(setzero)());
}

static inline GI_INTS squares_of_pairs(GI_INTS v)
{
    return GI_MM(madd_epi16)(v, v);
}

static inline GI_INTS add_wide(GI_INTS a, GI_INTS b)
{
    return GI_MM(add_epi64)(a, b);
}

static inline GI_INTS wide_sums(GI_INTS v)
{
    GI_INTS low = GI_MM(srli_epi64)(GI_MM(slli_epi64)(v, 32), 32);
    return GI_MM(add_epi64)(low, GI_MM(srli_epi64)(v, 32));
}

#if GI_LEVEL_avx512

static inline uint64_t wide_total(GI_INTS v)
{
    return total_of_4(_mm256_add_epi64(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1)));
}

static inline uint32_t least_byte(GI_INTS v)
{
    return least_of_32(_mm256_min_epu8(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1)));
}

static inline GI_INTS bytes_of_bits(uint64_t bits)
{
    return _mm512_movm_epi8(bits);
}

static inline GI_INTS bytes_table(const uint8_t *entries)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)entries));
}

static inline GI_INTS look_up(const GI_INTS tables[16], GI_INTS v)
{
    GI_INTS low = _mm512_and_si512(v, _mm512_set1_epi8(15)), found[16];
    for (int i = 0; i < 16; i++)
        found[i] = _mm512_shuffle_epi8(tables[i], low);
    for (int n = 8, bit = 16; n > 0; n /= 2, bit *= 2) {
        __mmask64 odd = _mm512_test_epi8_mask(v, _mm512_set1_epi8((char)bit));
        for (int i = 0; i < n; i++)
            found[i] = _mm512_mask_blend_epi8(odd, found[2 * i], found[2 * i + 1]);
    }
    return found[0];
}

#else

static inline uint64_t wide_total(GI_INTS v)
{
    return total_of_4(v);
}

static inline uint32_t least_byte(GI_INTS v)
{
    return least_of_32(v);
}

static inline GI_INTS bytes_of_bits(uint64_t bits)
{
    const __m256i from =
        _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    __m256i v = _mm256_shuffle_epi8(_mm256_set1_epi32((int)(uint32_t)bits), from);
    return _mm256_cmpeq_epi8(_mm256_and_si256(v, bit), bit);
}

#endif

#endif

static inline GI_INTS load_bytes(const uint8_t *p)
{
    return ints_load((const void *)p);
}

static inline void store_bytes(uint8_t *p, GI_INTS v)
{
    ints_store((void *)p, v);
}

/* The sum of the squares of each 4 bytes. */
static inline GI_INTS squares_of_bytes(GI_INTS v)
{
    return ints_add(squares_of_pairs(both(v, ints_set(0x00ff00ff))),
                    squares_of_pairs(odd_bytes(v)));
}
