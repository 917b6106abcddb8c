/* Vector operations on one pixel of a PNG, by SSE2 or NEON if the processor has one of them. The
 * bytes of the pixel, 0 to 255, are in eight lanes of 16 bits.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* lanes_load reads 8 bytes. lanes_store writes 4 or 8 bytes, which is enough for a pixel of `bpp`
 * bytes, from lanes whose values are below 256. lanes_modulo reduces modulo 256, lanes_mean rounds
 * down, and lanes_between returns `high` in lanes where v <= low, `low` where v >= high, and
 * `inside` elsewhere. */

#ifdef __SSE2__

#include <emmintrin.h>

#define GI_PNG_LANES __m128i

static inline GI_PNG_LANES lanes_zero(void)
{
    return _mm_setzero_si128();
}

static inline GI_PNG_LANES lanes_load(const uint8_t *p)
{
    return _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)p), _mm_setzero_si128());
}

static inline void lanes_store(uint8_t *p, GI_PNG_LANES v, size_t bpp)
{
    uint64_t word = (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(v, v));
    memcpy(p, &word, bpp <= 4 ? 4 : 8);
}

static inline GI_PNG_LANES lanes_add(GI_PNG_LANES a, GI_PNG_LANES b)
{
    return _mm_add_epi16(a, b);
}

static inline GI_PNG_LANES lanes_sub(GI_PNG_LANES a, GI_PNG_LANES b)
{
    return _mm_sub_epi16(a, b);
}

static inline GI_PNG_LANES lanes_modulo(GI_PNG_LANES v)
{
    return _mm_and_si128(v, _mm_set1_epi16(255));
}

static inline GI_PNG_LANES lanes_mean(GI_PNG_LANES a, GI_PNG_LANES b)
{
    return _mm_srli_epi16(_mm_add_epi16(a, b), 1);
}

static inline GI_PNG_LANES lanes_most(GI_PNG_LANES a, GI_PNG_LANES b)
{
    return _mm_max_epi16(a, b);
}

static inline GI_PNG_LANES lanes_least(GI_PNG_LANES a, GI_PNG_LANES b)
{
    return _mm_min_epi16(a, b);
}

static inline GI_PNG_LANES lanes_between(GI_PNG_LANES v, GI_PNG_LANES low, GI_PNG_LANES high,
                                         GI_PNG_LANES inside)
{
    __m128i above = _mm_cmpgt_epi16(v, low), below = _mm_cmpgt_epi16(high, v);
    __m128i ends = _mm_or_si128(_mm_andnot_si128(above, high), _mm_andnot_si128(below, low));
    return _mm_or_si128(_mm_and_si128(_mm_and_si128(above, below), inside), ends);
}

#elif defined __aarch64__

#include <arm_neon.h>

#define GI_PNG_LANES int16x8_t

static inline GI_PNG_LANES lanes_zero(void)
{
    return vdupq_n_s16(0);
}

static inline GI_PNG_LANES lanes_load(const uint8_t *p)
{
    return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(p)));
}

static inline void lanes_store(uint8_t *p, GI_PNG_LANES v, size_t bpp)
{
    uint64_t word = vget_lane_u64(vreinterpret_u64_s8(vmovn_s16(v)), 0);
    memcpy(p, &word, bpp <= 4 ? 4 : 8);
}

static inline GI_PNG_LANES lanes_add(GI_PNG_LANES a, GI_PNG_LANES b)
{
    return vaddq_s16(a, b);
}

static inline GI_PNG_LANES lanes_sub(GI_PNG_LANES a, GI_PNG_LANES b)
{
    return vsubq_s16(a, b);
}

static inline GI_PNG_LANES lanes_modulo(GI_PNG_LANES v)
{
    return vandq_s16(v, vdupq_n_s16(255));
}

static inline GI_PNG_LANES lanes_mean(GI_PNG_LANES a, GI_PNG_LANES b)
{
    return vhaddq_s16(a, b);
}

static inline GI_PNG_LANES lanes_most(GI_PNG_LANES a, GI_PNG_LANES b)
{
    return vmaxq_s16(a, b);
}

static inline GI_PNG_LANES lanes_least(GI_PNG_LANES a, GI_PNG_LANES b)
{
    return vminq_s16(a, b);
}

static inline GI_PNG_LANES lanes_between(GI_PNG_LANES v, GI_PNG_LANES low, GI_PNG_LANES high,
                                         GI_PNG_LANES inside)
{
    int16x8_t other = vbslq_s16(vcgtq_s16(high, v), inside, low);
    return vbslq_s16(vcgtq_s16(v, low), other, high);
}

#endif
