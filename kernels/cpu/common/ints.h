/* Lanes of unsigned integers, for boxes, sums and regions.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_INTS_H
#define GI_KERNELS_CPU_INTS_H

#include "kernels/cpu/common/simd.h"

/* GI_INTS holds GI_LANES uint32_t, sums wrap round. ints_prefix gives each lane the sum of itself
 * and the lanes `step`, 2 * `step`, ... below it; ints_spread gives lane i the value of the highest
 * lane of v that would come a multiple of `step` before it if v were followed by lane 0. ints_scale
 * is v * factor + 0.5 in double, cut off; ints_scale_float, for v < 2^24, v * factor in float,
 * rounded half to even. ints_weigh multiplies the colours of pixels of 2 or 4 channels by their
 * alpha, all below 256; ints_weighed_mean gives of such sums (2 S + A) / (2 A) cut off, S a colour
 * and A the alpha, 0 where A is 0, below 2^31, and takes alpha from `alpha`. The stores take values
 * that fit.
 *
 * For pairs of 16 bits in a lane: ints_load_changes gives p[reach + i] - p[i], signed, for
 * 2 * GI_LANES i; ints_pair_sums adds the two of each lane; ints_pair_firsts gives the first ones.
 * ints_store_pairs_u8 stores even[0], odd[0], even[1], ... */

#if GI_LEVEL_avx512

#define GI_INTS __m512i

static inline GI_INTS ints_load(const uint32_t *p)
{
    return _mm512_loadu_si512(p);
}

static inline GI_INTS ints_load_u8(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
}

static inline GI_INTS ints_load_u16(const uint16_t *p)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
}

static inline GI_INTS ints_load_changes(const uint16_t *p, size_t reach)
{
    return _mm512_sub_epi16(_mm512_loadu_si512(p + reach), _mm512_loadu_si512(p));
}

static inline GI_INTS ints_pair_sums(GI_INTS v)
{
    return _mm512_madd_epi16(v, _mm512_set1_epi16(1));
}

static inline GI_INTS ints_pair_firsts(GI_INTS v)
{
    return _mm512_madd_epi16(v, _mm512_set1_epi32(1));
}

static inline GI_INTS ints_set(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

static inline void ints_store(uint32_t *p, GI_INTS v)
{
    _mm512_storeu_si512(p, v);
}

static inline GI_INTS ints_add(GI_INTS a, GI_INTS b)
{
    return _mm512_add_epi32(a, b);
}

static inline GI_INTS ints_sub(GI_INTS a, GI_INTS b)
{
    return _mm512_sub_epi32(a, b);
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

static inline GI_INTS ints_scale_float(GI_INTS v, float factor)
{
    return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(v), _mm512_set1_ps(factor)));
}

static inline __m512i ints_alpha(__m512i v, int channels)
{
    return channels == 4 ? _mm512_shuffle_epi32(v, 0xff) : _mm512_shuffle_epi32(v, 0xf5);
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

#elif GI_LEVEL_avx2

#define GI_INTS __m256i

static inline GI_INTS ints_load(const uint32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline GI_INTS ints_load_u8(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}

static inline GI_INTS ints_load_u16(const uint16_t *p)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
}

static inline GI_INTS ints_load_changes(const uint16_t *p, size_t reach)
{
    return _mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)(p + reach)),
                            _mm256_loadu_si256((const __m256i *)p));
}

static inline GI_INTS ints_pair_sums(GI_INTS v)
{
    return _mm256_madd_epi16(v, _mm256_set1_epi16(1));
}

static inline GI_INTS ints_pair_firsts(GI_INTS v)
{
    return _mm256_madd_epi16(v, _mm256_set1_epi32(1));
}

static inline GI_INTS ints_set(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

static inline void ints_store(uint32_t *p, GI_INTS v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

static inline GI_INTS ints_add(GI_INTS a, GI_INTS b)
{
    return _mm256_add_epi32(a, b);
}

static inline GI_INTS ints_sub(GI_INTS a, GI_INTS b)
{
    return _mm256_sub_epi32(a, b);
}

static inline GI_INTS ints_prefix(GI_INTS v, int step)
{
    const __m256i lanes = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
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

/* Four lanes; the conversion knows only signed integers, so 2^31 is taken off and put back. */
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

static inline GI_INTS ints_scale_float(GI_INTS v, float factor)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(v), _mm256_set1_ps(factor)));
}

static inline __m256i ints_alpha(__m256i v, int channels)
{
    return channels == 4 ? _mm256_shuffle_epi32(v, 0xff) : _mm256_shuffle_epi32(v, 0xf5);
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

#else

#define GI_INTS struct gi_ints

struct gi_ints {
    uint32_t x[GI_LANES];
};

static inline GI_INTS ints_load(const uint32_t *p)
{
    GI_INTS r;
    memcpy(r.x, p, sizeof r.x);
    return r;
}

static inline GI_INTS ints_load_u8(const uint8_t *p)
{
    GI_INTS r;
    for (int i = 0; i < GI_LANES; i++)
        r.x[i] = p[i];
    return r;
}

static inline GI_INTS ints_load_u16(const uint16_t *p)
{
    GI_INTS r;
    for (int i = 0; i < GI_LANES; i++)
        r.x[i] = p[i];
    return r;
}

static inline GI_INTS ints_load_changes(const uint16_t *p, size_t reach)
{
    GI_INTS r;
    for (int i = 0; i < GI_LANES; i++) {
        uint32_t first = (uint32_t)p[reach + 2 * i] - p[2 * i];
        uint32_t second = (uint32_t)p[reach + 2 * i + 1] - p[2 * i + 1];
        r.x[i] = (first & 0xffff) | second << 16;
    }
    return r;
}

static inline GI_INTS ints_pair_firsts(GI_INTS v)
{
    for (int i = 0; i < GI_LANES; i++)
        v.x[i] = (uint32_t)(int16_t)v.x[i];
    return v;
}

static inline GI_INTS ints_pair_sums(GI_INTS v)
{
    for (int i = 0; i < GI_LANES; i++)
        v.x[i] = (uint32_t)((int16_t)v.x[i] + (int16_t)(v.x[i] >> 16));
    return v;
}

static inline GI_INTS ints_set(uint32_t x)
{
    GI_INTS r;
    for (int i = 0; i < GI_LANES; i++)
        r.x[i] = x;
    return r;
}

static inline void ints_store(uint32_t *p, GI_INTS v)
{
    memcpy(p, v.x, sizeof v.x);
}

static inline GI_INTS ints_add(GI_INTS a, GI_INTS b)
{
    for (int i = 0; i < GI_LANES; i++)
        a.x[i] += b.x[i];
    return a;
}

static inline GI_INTS ints_sub(GI_INTS a, GI_INTS b)
{
    for (int i = 0; i < GI_LANES; i++)
        a.x[i] -= b.x[i];
    return a;
}

static inline GI_INTS ints_prefix(GI_INTS v, int step)
{
    for (int i = step; i < GI_LANES; i++)
        v.x[i] += v.x[i - step];
    return v;
}

static inline GI_INTS ints_spread(GI_INTS v, int step)
{
    GI_INTS r;
    for (int i = 0; i < GI_LANES; i++)
        r.x[i] = v.x[GI_LANES - step + i % step];
    return r;
}

static inline GI_INTS ints_scale(GI_INTS v, double factor)
{
    for (int i = 0; i < GI_LANES; i++)
        v.x[i] = (uint32_t)(v.x[i] * factor + 0.5);
    return v;
}

static inline GI_INTS ints_scale_float(GI_INTS v, float factor)
{
    for (int i = 0; i < GI_LANES; i++)
        v.x[i] = (uint32_t)lrintf((float)v.x[i] * factor);
    return v;
}

static inline GI_INTS ints_weigh(GI_INTS v, int channels)
{
    GI_INTS r = v;
    for (int i = 0; i < GI_LANES; i++)
        r.x[i] *= (i + 1) % channels ? v.x[i | (channels - 1)] : 1;
    return r;
}

static inline GI_INTS ints_weighed_mean(GI_INTS v, GI_INTS alpha, int channels)
{
    for (int i = 0; i < GI_LANES; i++) {
        uint64_t s = v.x[i], a = v.x[i | (channels - 1)];
        if ((i + 1) % channels)
            alpha.x[i] = a ? (uint32_t)((2 * s + a) / (2 * a)) : 0;
    }
    return alpha;
}

static inline void ints_store_u8(uint8_t *p, GI_INTS v)
{
    for (int i = 0; i < GI_LANES; i++)
        p[i] = (uint8_t)v.x[i];
}

static inline void ints_store_u16(uint16_t *p, GI_INTS v)
{
    for (int i = 0; i < GI_LANES; i++)
        p[i] = (uint16_t)v.x[i];
}

static inline void ints_store_pairs_u8(uint8_t *p, GI_INTS even, GI_INTS odd)
{
    for (int i = 0; i < GI_LANES; i++) {
        p[2 * i] = (uint8_t)even.x[i];
        p[2 * i + 1] = (uint8_t)odd.x[i];
    }
}

#endif

#endif
