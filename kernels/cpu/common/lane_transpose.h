/* Transposes square blocks of vector lanes.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/simd.h"

/* Transposes GI_LANES vectors: lane j of v[i] becomes lane i of v[j]. */
static inline __attribute__((always_inline)) void vec_transpose(GI_VEC *v);

#if GI_LEVEL_avx512 || GI_LEVEL_avx2

/* Transposes v[0] to v[3] within each group of four lanes: lane j of v[i] becomes lane i of v[j] in
 * the group. */
static inline __attribute__((always_inline)) void vec_transpose_fours(GI_VEC *v)
{
    GI_DOUBLES a = GI_MM(castps_pd)(GI_MM(unpacklo_ps)(v[0], v[1]));
    GI_DOUBLES b = GI_MM(castps_pd)(GI_MM(unpackhi_ps)(v[0], v[1]));
    GI_DOUBLES c = GI_MM(castps_pd)(GI_MM(unpacklo_ps)(v[2], v[3]));
    GI_DOUBLES d = GI_MM(castps_pd)(GI_MM(unpackhi_ps)(v[2], v[3]));
    v[0] = GI_MM(castpd_ps)(GI_MM(unpacklo_pd)(a, c));
    v[1] = GI_MM(castpd_ps)(GI_MM(unpackhi_pd)(a, c));
    v[2] = GI_MM(castpd_ps)(GI_MM(unpacklo_pd)(b, d));
    v[3] = GI_MM(castpd_ps)(GI_MM(unpackhi_pd)(b, d));
}

#endif

#if GI_LEVEL_avx512

/* Transposes v[0], v[4], v[8], v[12] in the same way, with groups of four lanes as elements. */
static inline __attribute__((always_inline)) void vec_transpose_quarters(GI_VEC *v)
{
    GI_VEC a = _mm512_shuffle_f32x4(v[0], v[4], 0x44), b = _mm512_shuffle_f32x4(v[0], v[4], 0xee);
    GI_VEC c = _mm512_shuffle_f32x4(v[8], v[12], 0x44), d = _mm512_shuffle_f32x4(v[8], v[12], 0xee);
    v[0] = _mm512_shuffle_f32x4(a, c, 0x88);
    v[4] = _mm512_shuffle_f32x4(a, c, 0xdd);
    v[8] = _mm512_shuffle_f32x4(b, d, 0x88);
    v[12] = _mm512_shuffle_f32x4(b, d, 0xdd);
}

static inline __attribute__((always_inline)) void vec_transpose(GI_VEC *v)
{
#pragma GCC unroll 4
    for (int i = 0; i < GI_LANES; i += 4)
        vec_transpose_fours(v + i);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        vec_transpose_quarters(v + i);
}

#elif GI_LEVEL_avx2

static inline __attribute__((always_inline)) void vec_transpose(GI_VEC *v)
{
    vec_transpose_fours(v);
    vec_transpose_fours(v + 4);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        GI_VEC a = v[i], b = v[4 + i];
        v[i] = _mm256_permute2f128_ps(a, b, 0x20);
        v[4 + i] = _mm256_permute2f128_ps(a, b, 0x31);
    }
}

#elif GI_LEVEL_neon

/* Half h of v[0] to v[3]. */
static inline __attribute__((always_inline)) void vec_transpose_fours(GI_VEC *v, int h)
{
    float64x2_t a = vreinterpretq_f64_f32(vtrn1q_f32(v[0].half[h], v[1].half[h]));
    float64x2_t b = vreinterpretq_f64_f32(vtrn2q_f32(v[0].half[h], v[1].half[h]));
    float64x2_t c = vreinterpretq_f64_f32(vtrn1q_f32(v[2].half[h], v[3].half[h]));
    float64x2_t d = vreinterpretq_f64_f32(vtrn2q_f32(v[2].half[h], v[3].half[h]));
    v[0].half[h] = vreinterpretq_f32_f64(vtrn1q_f64(a, c));
    v[1].half[h] = vreinterpretq_f32_f64(vtrn1q_f64(b, d));
    v[2].half[h] = vreinterpretq_f32_f64(vtrn2q_f64(a, c));
    v[3].half[h] = vreinterpretq_f32_f64(vtrn2q_f64(b, d));
}

static inline __attribute__((always_inline)) void vec_transpose(GI_VEC *v)
{
    for (int i = 0; i < GI_LANES; i += 4) {
        vec_transpose_fours(v + i, 0);
        vec_transpose_fours(v + i, 1);
    }
    for (int i = 0; i < 4; i++) {
        float32x4_t right = v[i].half[1];
        v[i].half[1] = v[4 + i].half[0];
        v[4 + i].half[0] = right;
    }
}

#else

static inline __attribute__((always_inline)) void vec_transpose(GI_VEC *v)
{
    for (int i = 0; i < GI_LANES; i++)
        for (int j = 0; j < i; j++) {
            float x = v[i].x[j];
            v[i].x[j] = v[j].x[i];
            v[j].x[i] = x;
        }
}

#endif
