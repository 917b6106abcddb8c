/* Float lanes in AVX2 (simd.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include <immintrin.h>
#include <math.h>
#include <stdint.h>

#define GI_LANES       8
#define GI_VEC         __m256
#define GI_INTS        __m256i
#define GI_DOUBLES     __m256d
#define GI_MM(name)    _mm256_##name
#define GI_MM_SI(name) _mm256_##name##_si256
#include "kernels/cpu/common/simd_x86.h"

static inline GI_VEC vec_load_u8(const uint8_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

static inline void vec_load_u8_thirds(GI_VEC v[3], const uint8_t *p)
{
    const __m256i first = _mm256_broadcastsi128_si256(_mm_set_epi32(9, 6, 3, 0));
    const __m256i empty = _mm256_set1_epi32((int)0x80808000);
    __m256i four = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p));
    __m256i all = _mm256_inserti128_si256(four, _mm_loadu_si128((const __m128i *)(p + 12)), 1);
    for (int c = 0; c < 3; c++) {
        __m256i from = _mm256_or_si256(_mm256_add_epi32(first, _mm256_set1_epi32(c)), empty);
        v[c] = _mm256_cvtepi32_ps(_mm256_shuffle_epi8(all, from));
    }
}

static inline GI_VEC vec_load_u16(const uint16_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)));
}

static inline void vec_store_f32(float *p, GI_VEC v)
{
    __m256 nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
    _mm256_storeu_ps(p, _mm256_blendv_ps(v, _mm256_set1_ps(NAN), nan));
}

/* Rounds to unsigned 16 bits, 0 to `full`. NaN and values below INT32_MIN become INT32_MIN in the
 * conversion, and so 0. */
static inline __m128i vec_round(GI_VEC v, float full)
{
    v = _mm256_min_ps(_mm256_set1_ps(full), v);
    __m256i i = _mm256_cvtps_epi32(v);
    return _mm_packus_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1));
}

static inline void vec_store_u8(uint8_t *p, GI_VEC v)
{
    __m128i i = vec_round(v, 255.0f);
    _mm_storel_epi64((__m128i *)p, _mm_packus_epi16(i, i));
}

/* Each half of v has 4 bytes of each of four vectors; makes the bytes of a vector adjacent. */
static inline __m256i vec_join_halves(__m256i v)
{
    return _mm256_permutevar8x32_epi32(v, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
}

static inline void vec_store_u8_rows(uint8_t *const p[4], const GI_VEC v[4])
{
    __m256i i[4];
    for (int k = 0; k < 4; k++)
        i[k] = _mm256_cvtps_epi32(v[k]);
    __m256i all = vec_join_halves(vec_pack(i));
    __m128i first = _mm256_castsi256_si128(all), last = _mm256_extracti128_si256(all, 1);
    _mm_storel_epi64((__m128i *)p[0], first);
    _mm_storel_epi64((__m128i *)p[1], _mm_unpackhi_epi64(first, first));
    _mm_storel_epi64((__m128i *)p[2], last);
    _mm_storel_epi64((__m128i *)p[3], _mm_unpackhi_epi64(last, last));
}

static inline void vec_store_twelves(uint8_t *p, __m256i v, __m128i order)
{
    __m256i all = _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(order));
    all = _mm256_permutevar8x32_epi32(all, _mm256_set_epi32(7, 3, 6, 5, 4, 2, 1, 0));
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(all));
    _mm_storel_epi64((__m128i *)(p + 16), _mm256_extracti128_si256(all, 1));
}

static inline __m256i vec_words(__m256i low, __m256i high)
{
    return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);
}

static inline void vec_settle_u8(uint8_t *p, const GI_VEC v[4], bool bounded, const uint8_t *kept,
                                 const uint8_t *keep)
{
    __m256i i[4];
    for (int k = 0; k < 4; k++)
        i[k] = vec_settled_ints(v[k], bounded);
    __m256i all =
        _mm256_blendv_epi8(vec_join_halves(vec_pack(i)), _mm256_loadu_si256((const void *)kept),
                           _mm256_loadu_si256((const void *)keep));
    _mm256_storeu_si256((void *)p, all);
}

static inline void vec_store_u16(uint16_t *p, GI_VEC v)
{
    _mm_storeu_si128((__m128i *)p, vec_round(v, 65535.0f));
}

static inline GI_VEC vec_abs(GI_VEC a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

static inline GI_INTS vec_words_at(const void *p, const int32_t *at)
{
    return _mm256_set_m128i(words_at(p, at + 4), words_at(p, at));
}

static inline GI_VEC vec_two_words_at(const void *p, const int32_t *at)
{
    return _mm256_set_m128(two_words_at(p, at + 4), two_words_at(p, at));
}

static inline GI_VEC vec_lookup(const float *table, GI_VEC at)
{
    int32_t offset[8];
    _mm256_storeu_si256((__m256i *)offset, _mm256_slli_epi32(_mm256_cvttps_epi32(at), 2));
    return _mm256_castsi256_ps(vec_words_at(table, offset));
}

static inline GI_VEC vec_if_greater(GI_VEC a, GI_VEC b, GI_VEC x, GI_VEC y)
{
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}

static inline GI_VEC vec_if_nan(GI_VEC a, GI_VEC x, GI_VEC y)
{
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

static inline GI_VEC vec_with_alpha(GI_VEC c, GI_VEC a, int channels)
{
    return channels == 4 ? _mm256_blend_ps(c, a, 0x88) : _mm256_blend_ps(c, a, 0xaa);
}

#define GI_SLIDE(n, low, high)                                                                     \
    case n:                                                                                        \
        return _mm256_castsi256_ps(                                                                \
            _mm256_alignr_epi8(_mm256_castps_si256(high), _mm256_castps_si256(low), n % 4 * 4))

static inline __attribute__((always_inline)) GI_VEC vec_slide(GI_VEC a, GI_VEC b, int n)
{
    GI_VEC mid = _mm256_permute2f128_ps(a, b, 0x21);
    switch (n) {
        GI_SLIDE(1, a, mid);
        GI_SLIDE(2, a, mid);
        GI_SLIDE(3, a, mid);
        GI_SLIDE(5, mid, b);
        GI_SLIDE(6, mid, b);
        GI_SLIDE(7, mid, b);
    case 4:
        return mid;
    default:
        return a;
    }
}

static inline GI_VEC vec_third(GI_VEC a, GI_VEC b, GI_VEC c, int channel)
{
    int32_t from[GI_LANES], masks[3][GI_LANES] = {{0}};
    for (int l = 0; l < GI_LANES; l++) {
        from[l] = (3 * l + channel) % GI_LANES;
        masks[(3 * l + channel) / GI_LANES][from[l]] = -1;
    }
    GI_VEC all =
        _mm256_blendv_ps(a, b, _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)masks[1])));
    all = _mm256_blendv_ps(all, c,
                           _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)masks[2])));
    return _mm256_permutevar8x32_ps(all, _mm256_loadu_si256((const __m256i *)from));
}
