/* Float lanes in AVX-512 (simd.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include <immintrin.h>
#include <math.h>
#include <stdint.h>

#define GI_LANES       16
#define GI_VEC         __m512
#define GI_INTS        __m512i
#define GI_DOUBLES     __m512d
#define GI_MM(name)    _mm512_##name
#define GI_MM_SI(name) _mm512_##name##_si512
#include "kernels/cpu/common/simd_x86.h"

static inline GI_VEC vec_load_u8(const uint8_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

static inline void vec_load_u8_thirds(GI_VEC v[3], const uint8_t *p)
{
    const __m512i fours = _mm512_set_epi32(12, 11, 10, 9, 9, 8, 7, 6, 6, 5, 4, 3, 3, 2, 1, 0);
    const __m512i first = _mm512_broadcast_i32x4(_mm_set_epi32(9, 6, 3, 0));
    const __m512i empty = _mm512_set1_epi32((int)0x80808000);
    __m512i all = _mm512_permutexvar_epi32(fours, _mm512_loadu_si512(p));
    for (int c = 0; c < 3; c++) {
        __m512i from = _mm512_or_si512(_mm512_add_epi32(first, _mm512_set1_epi32(c)), empty);
        v[c] = _mm512_cvtepi32_ps(_mm512_shuffle_epi8(all, from));
    }
}

static inline GI_VEC vec_load_u16(const uint16_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)));
}

static inline void vec_store_f32(float *p, GI_VEC v)
{
    __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    _mm512_storeu_ps(p, _mm512_mask_blend_ps(nan, v, _mm512_set1_ps(NAN)));
}

/* Numbers that do not fit in 32 bits become 0x80000000, which then saturates to 0. */
static inline void vec_store_u8(uint8_t *p, GI_VEC v)
{
    __m512i i = _mm512_cvtps_epi32(_mm512_max_ps(v, _mm512_setzero_ps()));
    _mm_storeu_si128((__m128i *)p, _mm512_cvtusepi32_epi8(i));
}

/* Each quarter of v has 4 bytes of each of four vectors; makes the bytes of a vector adjacent. */
static inline __m512i vec_join_quarters(__m512i v)
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return _mm512_permutexvar_epi32(order, v);
}

static inline void vec_store_u8_rows(uint8_t *const p[4], const GI_VEC v[4])
{
    __m512i i[4];
    for (int k = 0; k < 4; k++)
        i[k] = _mm512_cvtps_epi32(v[k]);
    __m512i all = vec_join_quarters(vec_pack(i));
    _mm_storeu_si128((__m128i *)p[0], _mm512_castsi512_si128(all));
    _mm_storeu_si128((__m128i *)p[1], _mm512_extracti32x4_epi32(all, 1));
    _mm_storeu_si128((__m128i *)p[2], _mm512_extracti32x4_epi32(all, 2));
    _mm_storeu_si128((__m128i *)p[3], _mm512_extracti32x4_epi32(all, 3));
}

static inline void vec_store_twelves(uint8_t *p, __m512i v, __m128i order)
{
    const __m512i together = _mm512_set_epi32(15, 11, 7, 3, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0);
    __m512i all = _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(order));
    all = _mm512_permutexvar_epi32(together, all);
    _mm256_storeu_si256((__m256i *)p, _mm512_castsi512_si256(all));
    _mm_storeu_si128((__m128i *)(p + 32), _mm512_extracti32x4_epi32(all, 2));
}

static inline __m512i vec_words(__m512i low, __m512i high)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(high, 16));
}

static inline void vec_settle_u8(uint8_t *p, const GI_VEC v[4], bool bounded, const uint8_t *kept,
                                 const uint8_t *keep)
{
    __m512i i[4];
    for (int k = 0; k < 4; k++)
        i[k] = vec_settled_ints(v[k], bounded);
    __m512i all = _mm512_ternarylogic_epi32(_mm512_loadu_si512(keep), _mm512_loadu_si512(kept),
                                            vec_join_quarters(vec_pack(i)), 0xca);
    _mm512_storeu_si512(p, all);
}

static inline void vec_store_u16(uint16_t *p, GI_VEC v)
{
    __m512i i = _mm512_cvtps_epi32(_mm512_max_ps(v, _mm512_setzero_ps()));
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtusepi32_epi16(i));
}

static inline GI_VEC vec_abs(GI_VEC a)
{
    return _mm512_abs_ps(a);
}

/* Joins four vectors of 16 bytes, the lowest first. */
static inline __m512i vec_join(__m128i a, __m128i b, __m128i c, __m128i d)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_set_m128i(b, a)),
                              _mm256_set_m128i(d, c), 1);
}

static inline GI_INTS vec_words_at(const void *p, const int32_t *at)
{
    return vec_join(words_at(p, at), words_at(p, at + 4), words_at(p, at + 8),
                    words_at(p, at + 12));
}

static inline GI_VEC vec_two_words_at(const void *p, const int32_t *at)
{
    return _mm512_castsi512_ps(vec_join(
        _mm_castps_si128(two_words_at(p, at)), _mm_castps_si128(two_words_at(p, at + 4)),
        _mm_castps_si128(two_words_at(p, at + 8)), _mm_castps_si128(two_words_at(p, at + 12))));
}

/* This gather is as quick as single loads, whose offsets would have to be stored first. It keeps
 * the lanes of its destination register where the mask is 0, so it waits for the last write to that
 * register, unless compilers clear the register first. They do that only if they do not know that
 * the mask is constant. */
static inline GI_VEC vec_lookup(const float *table, GI_VEC at)
{
    unsigned ones = 0xffff;
    __asm__("" : "+r"(ones));
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), (__mmask16)ones, _mm512_cvttps_epi32(at),
                                    table, 4);
}

/* a > b ? x : y */
static inline GI_VEC vec_if_greater(GI_VEC a, GI_VEC b, GI_VEC x, GI_VEC y)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), y, x);
}

/* a is NaN ? x : y */
static inline GI_VEC vec_if_nan(GI_VEC a, GI_VEC x, GI_VEC y)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), y, x);
}

static inline GI_VEC vec_with_alpha(GI_VEC c, GI_VEC a, int channels)
{
    return _mm512_mask_blend_ps(channels == 4 ? 0x8888 : 0xaaaa, c, a);
}

#define GI_SLIDE(n)                                                                                \
    case n:                                                                                        \
        return _mm512_castsi512_ps(                                                                \
            _mm512_alignr_epi32(_mm512_castps_si512(b), _mm512_castps_si512(a), n))

static inline __attribute__((always_inline)) GI_VEC vec_slide(GI_VEC a, GI_VEC b, int n)
{
    switch (n) {
        GI_SLIDE(1);
        GI_SLIDE(2);
        GI_SLIDE(3);
        GI_SLIDE(4);
        GI_SLIDE(5);
        GI_SLIDE(6);
        GI_SLIDE(7);
        GI_SLIDE(8);
        GI_SLIDE(9);
        GI_SLIDE(10);
        GI_SLIDE(11);
        GI_SLIDE(12);
        GI_SLIDE(13);
        GI_SLIDE(14);
        GI_SLIDE(15);
    default:
        return a;
    }
}

static inline GI_VEC vec_third(GI_VEC a, GI_VEC b, GI_VEC c, int channel)
{
    uint32_t from[GI_LANES], masks[3] = {0};
    for (int l = 0; l < GI_LANES; l++) {
        from[l] = (uint32_t)(3 * l + channel) % GI_LANES;
        masks[(3 * l + channel) / GI_LANES] |= 1u << from[l];
    }
    GI_VEC all = _mm512_mask_blend_ps((__mmask16)masks[1], a, b);
    all = _mm512_mask_blend_ps((__mmask16)masks[2], all, c);
    return _mm512_permutexvar_ps(_mm512_loadu_si512(from), all);
}
