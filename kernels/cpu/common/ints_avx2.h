/* Integer lanes in AVX2 (ints.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/ints_x86.h"

static inline GI_INTS ints_load_u8(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}

static inline GI_INTS ints_load_u16(const uint16_t *p)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
}

/* For steps that divide 4: computes prefix sums within each 128-bit half, then adds the last sums
 * of the lower half to the upper half. */
static inline GI_INTS ints_prefix(GI_INTS v, int step)
{
    const __m256i lanes = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    if (4 % step == 0) {
        if (step == 1)
            v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
        if (step <= 2)
            v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
        __m256i low = _mm256_permute2x128_si256(v, v, 0x08);
        low = step == 1   ? _mm256_shuffle_epi32(low, 0xff)
              : step == 2 ? _mm256_shuffle_epi32(low, 0xee)
                          : low;
        return _mm256_add_epi32(v, low);
    }
    for (int by = step; by < GI_LANES; by *= 2) {
        __m256i from = _mm256_sub_epi32(lanes, _mm256_set1_epi32(by));
        __m256i keep = _mm256_cmpgt_epi32(from, _mm256_set1_epi32(-1));
        __m256i up = _mm256_permutevar8x32_epi32(v, from);
        v = _mm256_add_epi32(v, _mm256_and_si256(keep, up));
    }
    return v;
}

static inline GI_INTS ints_spread(GI_INTS v, int step)
{
    uint32_t from[GI_LANES];
    for (int i = 0; i < GI_LANES; i++)
        from[i] = (uint32_t)(GI_LANES - step + i % step);
    return _mm256_permutevar8x32_epi32(v, ints_load(from));
}

/* Converts four lanes to double. The instruction takes signed integers only, so 2^31 is subtracted
 * before it and added after it. */
static inline __m256d ints_double(__m128i v)
{
    v = _mm_xor_si128(v, _mm_set1_epi32(INT32_MIN));
    return _mm256_add_pd(_mm256_cvtepi32_pd(v), _mm256_set1_pd(2147483648.0));
}

static inline __m128i ints_scale_half(__m128i v, double factor)
{
    __m256d d = _mm256_mul_pd(ints_double(v), _mm256_set1_pd(factor));
    return _mm256_cvttpd_epi32(_mm256_add_pd(d, _mm256_set1_pd(0.5)));
}

static inline GI_INTS ints_scale(GI_INTS v, double factor)
{
    __m128i low = ints_scale_half(_mm256_castsi256_si128(v), factor);
    __m128i high = ints_scale_half(_mm256_extracti128_si256(v, 1), factor);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

static inline __m256i ints_with_alpha(__m256i c, __m256i a, int channels)
{
    return channels == 4 ? _mm256_blend_epi32(c, a, 0x88) : _mm256_blend_epi32(c, a, 0xaa);
}

static inline GI_INTS ints_weigh(GI_INTS v, int channels)
{
    return ints_with_alpha(_mm256_mullo_epi16(v, ints_alpha(v, channels)), v, channels);
}

/* Four lanes. */
static inline __m128i ints_ratio(__m128i s, __m128i a)
{
    __m256d x = ints_double(s), y = ints_double(a);
    x = _mm256_div_pd(_mm256_add_pd(_mm256_add_pd(x, x), y), _mm256_add_pd(y, y));
    return _mm_andnot_si128(_mm_cmpeq_epi32(a, _mm_setzero_si128()), _mm256_cvttpd_epi32(x));
}

static inline GI_INTS ints_weighed_mean(GI_INTS v, GI_INTS alpha, int channels)
{
    __m256i a = ints_alpha(v, channels);
    __m128i low = ints_ratio(_mm256_castsi256_si128(v), _mm256_castsi256_si128(a));
    __m128i high = ints_ratio(_mm256_extracti128_si256(v, 1), _mm256_extracti128_si256(a, 1));
    return ints_with_alpha(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), alpha,
                           channels);
}

static inline void ints_store_u16(uint16_t *p, GI_INTS v)
{
    __m128i i = _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    _mm_storeu_si128((__m128i *)p, i);
}

static inline void ints_store_u8(uint8_t *p, GI_INTS v)
{
    __m128i i = _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    _mm_storel_epi64((__m128i *)p, _mm_packus_epi16(i, i));
}

static inline void ints_store_pairs_u8(uint8_t *p, GI_INTS even, GI_INTS odd)
{
    __m256i pairs = _mm256_or_si256(even, _mm256_slli_epi32(odd, 8));
    ints_store_u16((uint16_t *)p, pairs);
}
