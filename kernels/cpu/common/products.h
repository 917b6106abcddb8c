/* Signed products in vectors of 32-bit integers.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/ints.h"

/* ints_fma is a * b + c modulo 2^32. ints_shift divides signed lanes by 2^n, rounding down.
 * ints_to_u8 limits signed lanes to 0..255. ints_bits and ints_vec reinterpret bits. */

#if GI_LEVEL_avx512 || GI_LEVEL_avx2

static inline GI_INTS ints_fma(GI_INTS a, GI_INTS b, GI_INTS c)
{
    return GI_MM(add_epi32)(GI_MM(mullo_epi32)(a, b), c);
}

static inline GI_INTS ints_shift(GI_INTS v, int n)
{
    return GI_MM(sra_epi32)(v, _mm_cvtsi32_si128(n));
}

static inline GI_INTS ints_to_u8(GI_INTS v)
{
    return GI_MM(min_epi32)(GI_MM(max_epi32)(v, GI_MM_SI(setzero)()), GI_MM(set1_epi32)(255));
}

#elif GI_LEVEL_neon

static inline GI_INTS ints_fma(GI_INTS a, GI_INTS b, GI_INTS c)
{
    GI_EACH_INTS(vmlaq_u32(c.half[h], a.half[h], b.half[h]));
}

static inline GI_INTS ints_shift(GI_INTS v, int n)
{
    GI_EACH_INTS(
        vreinterpretq_u32_s32(vshlq_s32(vreinterpretq_s32_u32(v.half[h]), vdupq_n_s32(-n))));
}

static inline uint32x4_t ints_to_u8_four(int32x4_t v)
{
    return vreinterpretq_u32_s32(vminq_s32(vmaxq_s32(v, vdupq_n_s32(0)), vdupq_n_s32(255)));
}

static inline GI_INTS ints_to_u8(GI_INTS v)
{
    GI_EACH_INTS(ints_to_u8_four(vreinterpretq_s32_u32(v.half[h])));
}

static inline GI_INTS ints_bits(GI_VEC v)
{
    GI_EACH_INTS(vreinterpretq_u32_f32(v.half[h]));
}

static inline GI_VEC ints_vec(GI_INTS v)
{
    GI_EACH_FLOATS(vreinterpretq_f32_u32(v.half[h]));
}

#else

static inline GI_INTS ints_fma(GI_INTS a, GI_INTS b, GI_INTS c)
{
    GI_EACH_INT(c.x[i] + a.x[i] * b.x[i]);
}

/* gcc and clang shift signed integers arithmetically. */
static inline GI_INTS ints_shift(GI_INTS v, int n)
{
    GI_EACH_INT((uint32_t)((int32_t)v.x[i] >> n));
}

static inline GI_INTS ints_to_u8(GI_INTS v)
{
    for (int l = 0; l < GI_LANES; l++) {
        int32_t x = (int32_t)v.x[l];
        v.x[l] = x < 0 ? 0 : x > 255 ? 255 : (uint32_t)x;
    }
    return v;
}

#endif

#if !GI_LEVEL_neon

static inline GI_INTS ints_bits(GI_VEC v)
{
    GI_INTS bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline GI_VEC ints_vec(GI_INTS v)
{
    GI_VEC vec;
    memcpy(&vec, &v, sizeof vec);
    return vec;
}

#endif
