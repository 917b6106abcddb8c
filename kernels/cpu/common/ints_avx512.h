/* Integer lanes in AVX-512 (ints.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/ints_x86.h"

static inline GI_INTS ints_load_u8(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
}

static inline GI_INTS ints_load_u16(const uint16_t *p)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
}

static inline __m512i ints_lane_numbers(void)
{
    return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

static inline GI_INTS ints_prefix(GI_INTS v, int step)
{
    for (int by = step; by < GI_LANES; by *= 2) {
        __m512i from = _mm512_sub_epi32(ints_lane_numbers(), _mm512_set1_epi32(by));
        __mmask16 keep = (__mmask16)(0xffffu << by);
        v = _mm512_add_epi32(v, _mm512_maskz_permutexvar_epi32(keep, from, v));
    }
    return v;
}

static inline GI_INTS ints_spread(GI_INTS v, int step)
{
    uint32_t from[GI_LANES];
    for (int i = 0; i < GI_LANES; i++)
        from[i] = (uint32_t)(GI_LANES - step + i % step);
    return _mm512_permutexvar_epi32(_mm512_loadu_si512(from), v);
}

static inline GI_INTS ints_scale(GI_INTS v, double factor)
{
    __m512d by = _mm512_set1_pd(factor), half = _mm512_set1_pd(0.5);
    __m512d low = _mm512_cvtepu32_pd(_mm512_castsi512_si256(v));
    __m512d high = _mm512_cvtepu32_pd(_mm512_extracti64x4_epi64(v, 1));
    __m256i a = _mm512_cvttpd_epi32(_mm512_add_pd(_mm512_mul_pd(low, by), half));
    __m256i b = _mm512_cvttpd_epi32(_mm512_add_pd(_mm512_mul_pd(high, by), half));
    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

static inline GI_INTS ints_weigh(GI_INTS v, int channels)
{
    __m512i weighed = _mm512_mullo_epi16(v, ints_alpha(v, channels));
    return _mm512_mask_blend_epi32(channels == 4 ? 0x8888 : 0xaaaa, weighed, v);
}

/* Eight lanes. */
static inline __m256i ints_ratio(__m256i s, __m256i a)
{
    __m512d x = _mm512_cvtepu32_pd(s), y = _mm512_cvtepu32_pd(a);
    x = _mm512_div_pd(_mm512_add_pd(_mm512_add_pd(x, x), y), _mm512_add_pd(y, y));
    return _mm256_maskz_mov_epi32(_mm256_test_epi32_mask(a, a), _mm512_cvttpd_epi32(x));
}

static inline GI_INTS ints_weighed_mean(GI_INTS v, GI_INTS alpha, int channels)
{
    __m512i a = ints_alpha(v, channels);
    __m256i low = ints_ratio(_mm512_castsi512_si256(v), _mm512_castsi512_si256(a));
    __m256i high = ints_ratio(_mm512_extracti64x4_epi64(v, 1), _mm512_extracti64x4_epi64(a, 1));
    __m512i c = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    return _mm512_mask_blend_epi32(channels == 4 ? 0x8888 : 0xaaaa, c, alpha);
}

static inline void ints_store_u8(uint8_t *p, GI_INTS v)
{
    _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(v));
}

static inline void ints_store_u16(uint16_t *p, GI_INTS v)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(v));
}

static inline void ints_store_pairs_u8(uint8_t *p, GI_INTS even, GI_INTS odd)
{
    __m512i pairs = _mm512_or_si512(even, _mm512_slli_epi32(odd, 8));
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(pairs));
}
