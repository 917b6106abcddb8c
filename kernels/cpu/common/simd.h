/* Float lanes of one instruction level: the only place where the levels differ. Every operation is
 * the plain IEEE one in each lane, so a result never depends on the number of lanes.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_SIMD_H
#define GI_KERNELS_CPU_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "imgio/image.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

/* GI_VEC holds GI_LANES floats, a multiple of 4, so that whole pixels with alpha fit in it. Loads
 * and stores take any alignment. The stores to integers round half to even; NaN and below 0 become
 * 0, above full scale becomes full scale. vec_store_f32 stores every NaN as the quiet NaN
 * 0x7fc00000. vec_alpha spreads the alpha of each pixel of `channels` (2 or 4) samples over its
 * lanes; vec_with_alpha takes colour from `c` and alpha from `a`. vec_third gives samples channel,
 * channel + 3, channel + 6, ... of the row of samples a, b, c: 3 is prime to the number of lanes,
 * so they lie in different lanes and only want putting in order. vec_slide gives lanes n,
 * n + 1, ... of a followed by b, n a constant from 0 to GI_LANES - 1. vec_gather gives the 4 bytes
 * at p + at[l] as lane l of v[0] to v[3]. */

#if GI_LEVEL_avx512

#define GI_LANES 16
#define GI_VEC   __m512

static inline GI_VEC vec_set(float x)
{
    return _mm512_set1_ps(x);
}

static inline GI_VEC vec_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

static inline GI_VEC vec_load_u8(const uint8_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

static inline GI_VEC vec_load_u16(const uint16_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)));
}

static inline void vec_store(float *p, GI_VEC v)
{
    _mm512_storeu_ps(p, v);
}

static inline void vec_store_f32(float *p, GI_VEC v)
{
    __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    _mm512_storeu_ps(p, _mm512_mask_blend_ps(nan, v, _mm512_set1_ps(NAN)));
}

/* What does not fit in 32 bits converts to 0x80000000, which saturates as it should. */
static inline void vec_store_u8(uint8_t *p, GI_VEC v)
{
    __m512i i = _mm512_cvtps_epi32(_mm512_max_ps(v, _mm512_setzero_ps()));
    _mm_storeu_si128((__m128i *)p, _mm512_cvtusepi32_epi8(i));
}

static inline void vec_store_u16(uint16_t *p, GI_VEC v)
{
    __m512i i = _mm512_cvtps_epi32(_mm512_max_ps(v, _mm512_setzero_ps()));
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtusepi32_epi16(i));
}

static inline GI_VEC vec_fma(GI_VEC a, GI_VEC b, GI_VEC c)
{
    return _mm512_fmadd_ps(a, b, c);
}

static inline GI_VEC vec_add(GI_VEC a, GI_VEC b)
{
    return _mm512_add_ps(a, b);
}

static inline GI_VEC vec_sub(GI_VEC a, GI_VEC b)
{
    return _mm512_sub_ps(a, b);
}

static inline GI_VEC vec_mul(GI_VEC a, GI_VEC b)
{
    return _mm512_mul_ps(a, b);
}

static inline GI_VEC vec_div(GI_VEC a, GI_VEC b)
{
    return _mm512_div_ps(a, b);
}

static inline GI_VEC vec_sqrt(GI_VEC a)
{
    return _mm512_sqrt_ps(a);
}

static inline GI_VEC vec_abs(GI_VEC a)
{
    return _mm512_abs_ps(a);
}

static inline void vec_gather(GI_VEC *v, const uint8_t *p, const int32_t *at)
{
    __m512i all = _mm512_i32gather_epi32(_mm512_loadu_si512(at), p, 1),
            low = _mm512_set1_epi32(255);
    v[0] = _mm512_cvtepi32_ps(_mm512_and_si512(all, low));
    v[1] = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(all, 8), low));
    v[2] = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(all, 16), low));
    v[3] = _mm512_cvtepi32_ps(_mm512_srli_epi32(all, 24));
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

static inline GI_VEC vec_alpha(GI_VEC v, int channels)
{
    return channels == 4 ? _mm512_permute_ps(v, 0xff) : _mm512_movehdup_ps(v);
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

#elif GI_LEVEL_avx2

#define GI_LANES 8
#define GI_VEC   __m256

static inline GI_VEC vec_set(float x)
{
    return _mm256_set1_ps(x);
}

static inline GI_VEC vec_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

static inline GI_VEC vec_load_u8(const uint8_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

static inline GI_VEC vec_load_u16(const uint16_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)));
}

static inline void vec_store(float *p, GI_VEC v)
{
    _mm256_storeu_ps(p, v);
}

static inline void vec_store_f32(float *p, GI_VEC v)
{
    __m256 nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
    _mm256_storeu_ps(p, _mm256_blendv_ps(v, _mm256_set1_ps(NAN), nan));
}

/* To 16 bits; `full` keeps the value within what converts to 32 bits. */
static inline __m128i vec_round(GI_VEC v, float full)
{
    v = _mm256_min_ps(_mm256_max_ps(v, _mm256_setzero_ps()), _mm256_set1_ps(full));
    __m256i i = _mm256_cvtps_epi32(v);
    return _mm_packus_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1));
}

static inline void vec_store_u8(uint8_t *p, GI_VEC v)
{
    __m128i i = vec_round(v, 255.0f);
    _mm_storel_epi64((__m128i *)p, _mm_packus_epi16(i, i));
}

static inline void vec_store_u16(uint16_t *p, GI_VEC v)
{
    _mm_storeu_si128((__m128i *)p, vec_round(v, 65535.0f));
}

static inline GI_VEC vec_fma(GI_VEC a, GI_VEC b, GI_VEC c)
{
    return _mm256_fmadd_ps(a, b, c);
}

static inline GI_VEC vec_add(GI_VEC a, GI_VEC b)
{
    return _mm256_add_ps(a, b);
}

static inline GI_VEC vec_sub(GI_VEC a, GI_VEC b)
{
    return _mm256_sub_ps(a, b);
}

static inline GI_VEC vec_mul(GI_VEC a, GI_VEC b)
{
    return _mm256_mul_ps(a, b);
}

static inline GI_VEC vec_div(GI_VEC a, GI_VEC b)
{
    return _mm256_div_ps(a, b);
}

static inline GI_VEC vec_sqrt(GI_VEC a)
{
    return _mm256_sqrt_ps(a);
}

static inline GI_VEC vec_abs(GI_VEC a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

static inline void vec_gather(GI_VEC *v, const uint8_t *p, const int32_t *at)
{
    __m256i where = _mm256_loadu_si256((const __m256i *)at), low = _mm256_set1_epi32(255);
    __m256i all = _mm256_i32gather_epi32((const int *)(const void *)p, where, 1);
    v[0] = _mm256_cvtepi32_ps(_mm256_and_si256(all, low));
    v[1] = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(all, 8), low));
    v[2] = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(all, 16), low));
    v[3] = _mm256_cvtepi32_ps(_mm256_srli_epi32(all, 24));
}

static inline GI_VEC vec_if_greater(GI_VEC a, GI_VEC b, GI_VEC x, GI_VEC y)
{
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}

static inline GI_VEC vec_if_nan(GI_VEC a, GI_VEC x, GI_VEC y)
{
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

static inline GI_VEC vec_alpha(GI_VEC v, int channels)
{
    return channels == 4 ? _mm256_permute_ps(v, 0xff) : _mm256_movehdup_ps(v);
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

#else

#define GI_LANES 4
#define GI_VEC   struct gi_vec

struct gi_vec {
    float x[GI_LANES];
};

#define GI_EACH_LANE(expression)                                                                   \
    struct gi_vec r;                                                                               \
    for (int l = 0; l < GI_LANES; l++)                                                             \
        r.x[l] = expression;                                                                       \
    return r

static inline GI_VEC vec_set(float x)
{
    GI_EACH_LANE(x);
}

static inline GI_VEC vec_load(const float *p)
{
    GI_EACH_LANE(p[l]);
}

static inline GI_VEC vec_load_u8(const uint8_t *p)
{
    GI_EACH_LANE(p[l]);
}

static inline GI_VEC vec_load_u16(const uint16_t *p)
{
    GI_EACH_LANE(p[l]);
}

static inline void vec_store(float *p, GI_VEC v)
{
    memcpy(p, v.x, sizeof v.x);
}

static inline void vec_store_f32(float *p, GI_VEC v)
{
    for (int l = 0; l < GI_LANES; l++)
        p[l] = v.x[l] != v.x[l] ? NAN : v.x[l];
}

static inline long vec_round(float v, float full)
{
    return lrintf(v > 0 ? v < full ? v : full : 0);
}

static inline void vec_store_u8(uint8_t *p, GI_VEC v)
{
    for (int l = 0; l < GI_LANES; l++)
        p[l] = (uint8_t)vec_round(v.x[l], 255.0f);
}

static inline void vec_store_u16(uint16_t *p, GI_VEC v)
{
    for (int l = 0; l < GI_LANES; l++)
        p[l] = (uint16_t)vec_round(v.x[l], 65535.0f);
}

static inline GI_VEC vec_fma(GI_VEC a, GI_VEC b, GI_VEC c)
{
    GI_EACH_LANE(fmaf(a.x[l], b.x[l], c.x[l]));
}

static inline GI_VEC vec_add(GI_VEC a, GI_VEC b)
{
    GI_EACH_LANE(a.x[l] + b.x[l]);
}

static inline GI_VEC vec_sub(GI_VEC a, GI_VEC b)
{
    GI_EACH_LANE(a.x[l] - b.x[l]);
}

static inline GI_VEC vec_mul(GI_VEC a, GI_VEC b)
{
    GI_EACH_LANE(a.x[l] * b.x[l]);
}

static inline GI_VEC vec_div(GI_VEC a, GI_VEC b)
{
    GI_EACH_LANE(a.x[l] / b.x[l]);
}

static inline GI_VEC vec_sqrt(GI_VEC a)
{
    GI_EACH_LANE(sqrtf(a.x[l]));
}

static inline GI_VEC vec_abs(GI_VEC a)
{
    GI_EACH_LANE(fabsf(a.x[l]));
}

static inline void vec_gather(GI_VEC *v, const uint8_t *p, const int32_t *at)
{
    for (int i = 0; i < 4 * GI_LANES; i++)
        v[i / GI_LANES].x[i % GI_LANES] = p[at[i % GI_LANES] + i / GI_LANES];
}

static inline GI_VEC vec_if_greater(GI_VEC a, GI_VEC b, GI_VEC x, GI_VEC y)
{
    GI_EACH_LANE(a.x[l] > b.x[l] ? x.x[l] : y.x[l]);
}

static inline GI_VEC vec_if_nan(GI_VEC a, GI_VEC x, GI_VEC y)
{
    GI_EACH_LANE(a.x[l] != a.x[l] ? x.x[l] : y.x[l]);
}

static inline GI_VEC vec_alpha(GI_VEC v, int channels)
{
    GI_EACH_LANE(v.x[l | (channels - 1)]);
}

static inline GI_VEC vec_with_alpha(GI_VEC c, GI_VEC a, int channels)
{
    GI_EACH_LANE((l + 1) % channels ? c.x[l] : a.x[l]);
}

static inline GI_VEC vec_slide(GI_VEC a, GI_VEC b, int n)
{
    GI_EACH_LANE(l + n < GI_LANES ? a.x[l + n] : b.x[l + n - GI_LANES]);
}

static inline GI_VEC vec_third(GI_VEC a, GI_VEC b, GI_VEC c, int channel)
{
    float row[3 * GI_LANES];
    memcpy(row, a.x, sizeof a.x);
    memcpy(row + GI_LANES, b.x, sizeof b.x);
    memcpy(row + 2 * GI_LANES, c.x, sizeof c.x);
    GI_EACH_LANE(row[3 * l + channel]);
}

#endif

/* Samples of `type` at p + i to GI_LANES floats and back. */
static inline GI_VEC vec_load_samples(const void *p, size_t i, enum gi_type type)
{
    if (type == GI_U8)
        return vec_load_u8((const uint8_t *)p + i);
    if (type == GI_U16)
        return vec_load_u16((const uint16_t *)p + i);
    return vec_load((const float *)p + i);
}

static inline void vec_store_samples(void *p, size_t i, GI_VEC v, enum gi_type type)
{
    if (type == GI_U8)
        vec_store_u8((uint8_t *)p + i, v);
    else if (type == GI_U16)
        vec_store_u16((uint16_t *)p + i, v);
    else
        vec_store_f32((float *)p + i, v);
}

#endif
