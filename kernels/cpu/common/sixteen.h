/* Vectors of 16 bytes, at all levels except the scalar one.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* sixteen_pick is a byte shuffle: byte i becomes byte from[i] of v, or 0 if from[i] is 128 or more.
 * sixteen_words loads 4 bytes at each of 4 offsets. sixteen_zip_low interleaves elements of `size`
 * bytes (1 or 2) from the lower halves of a and b, sixteen_zip_high from the upper halves. */

#if GI_LEVEL_neon

#include <arm_neon.h>

#define GI_SIXTEEN uint8x16_t

static inline GI_SIXTEEN sixteen_load(const void *p)
{
    return vld1q_u8(p);
}

static inline GI_SIXTEEN sixteen_words(const void *p, const int32_t *at)
{
    uint32_t words[4];
    for (int i = 0; i < 4; i++)
        memcpy(&words[i], (const char *)p + at[i], sizeof *words);
    return vreinterpretq_u8_u32(vld1q_u32(words));
}

static inline void sixteen_store(void *p, GI_SIXTEEN v)
{
    vst1q_u8(p, v);
}

static inline GI_SIXTEEN sixteen_pick(GI_SIXTEEN v, GI_SIXTEEN from)
{
    return vqtbl1q_u8(v, from);
}

static inline GI_SIXTEEN sixteen_zip_low(GI_SIXTEEN a, GI_SIXTEEN b, size_t size)
{
    return size == 1
               ? vzip1q_u8(a, b)
               : vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}

static inline GI_SIXTEEN sixteen_zip_high(GI_SIXTEEN a, GI_SIXTEEN b, size_t size)
{
    return size == 1
               ? vzip2q_u8(a, b)
               : vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}

#else

#include <immintrin.h>

#define GI_SIXTEEN __m128i

static inline GI_SIXTEEN sixteen_load(const void *p)
{
    return _mm_loadu_si128(p);
}

static inline GI_SIXTEEN sixteen_words(const void *p, const int32_t *at)
{
    int32_t words[4];
    for (int i = 0; i < 4; i++)
        memcpy(&words[i], (const char *)p + at[i], sizeof *words);
    return _mm_set_epi32(words[3], words[2], words[1], words[0]);
}

static inline void sixteen_store(void *p, GI_SIXTEEN v)
{
    _mm_storeu_si128(p, v);
}

static inline GI_SIXTEEN sixteen_pick(GI_SIXTEEN v, GI_SIXTEEN from)
{
    return _mm_shuffle_epi8(v, from);
}

static inline GI_SIXTEEN sixteen_zip_low(GI_SIXTEEN a, GI_SIXTEEN b, size_t size)
{
    return size == 1 ? _mm_unpacklo_epi8(a, b) : _mm_unpacklo_epi16(a, b);
}

static inline GI_SIXTEEN sixteen_zip_high(GI_SIXTEEN a, GI_SIXTEEN b, size_t size)
{
    return size == 1 ? _mm_unpackhi_epi8(a, b) : _mm_unpackhi_epi16(a, b);
}

#endif
