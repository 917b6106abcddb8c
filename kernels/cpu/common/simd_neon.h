/* Vectors of floats in NEON (simd.h). A vector is two registers of four floats, so that loads,
 * widening and narrowing handle eight bytes at once, and two independent sums hide latency.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <arm_neon.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define GI_LANES 8
#define GI_VEC   struct gi_vec

struct gi_vec {
    float32x4_t half[2];
};

/* Makes a vector whose half h, for h = 0 and 1, is the expression. */
#define GI_EACH_HALF(type, expression)                                                             \
    type r;                                                                                        \
    {                                                                                              \
        enum { h = 0 };                                                                            \
        r.half[h] = expression;                                                                    \
    }                                                                                              \
    {                                                                                              \
        enum { h = 1 };                                                                            \
        r.half[h] = expression;                                                                    \
    }                                                                                              \
    return r
#define GI_EACH_FLOATS(expression) GI_EACH_HALF(GI_VEC, expression)

static inline GI_VEC vec_set(float x)
{
    float32x4_t half = vdupq_n_f32(x);
    return (GI_VEC){{half, half}};
}

static inline GI_VEC vec_load(const float *p)
{
    GI_EACH_FLOATS(vld1q_f32(p + 4 * h));
}

static inline GI_VEC vec_of_u16(uint16x8_t v)
{
    return (GI_VEC){{vcvtq_f32_u32(vmovl_u16(vget_low_u16(v))), vcvtq_f32_u32(vmovl_high_u16(v))}};
}

static inline GI_VEC vec_load_u8(const uint8_t *p)
{
    return vec_of_u16(vmovl_u8(vld1_u8(p)));
}

static inline void vec_load_u8_thirds(GI_VEC v[3], const uint8_t *p)
{
    uint8x8x3_t all = vld3_u8(p);
    for (int c = 0; c < 3; c++)
        v[c] = vec_of_u16(vmovl_u8(all.val[c]));
}

static inline GI_VEC vec_load_u16(const uint16_t *p)
{
    return vec_of_u16(vld1q_u16(p));
}

static inline void vec_store(float *p, GI_VEC v)
{
    vst1q_f32(p, v.half[0]);
    vst1q_f32(p + 4, v.half[1]);
}

/* Rounds to 16 bits. Conversion and narrowing saturate; NaN becomes 0. */
static inline uint16x8_t vec_round(GI_VEC v)
{
    return vqmovn_high_u32(vqmovn_u32(vcvtnq_u32_f32(v.half[0])), vcvtnq_u32_f32(v.half[1]));
}

static inline void vec_store_u8(uint8_t *p, GI_VEC v)
{
    vst1_u8(p, vqmovn_u16(vec_round(v)));
}

static inline void vec_store_u8_rows(uint8_t *const p[4], const GI_VEC v[4])
{
    for (int r = 0; r < 4; r++)
        vec_store_u8(p[r], v[r]);
}

static inline void vec_store_u8_thirds(uint8_t *p, const GI_VEC v[3])
{
    uint8x8x3_t all;
    for (int c = 0; c < 3; c++)
        all.val[c] = vqmovn_u16(vec_round(v[c]));
    vst3_u8(p, all);
}

static inline void vec_store_u16(uint16_t *p, GI_VEC v)
{
    vst1q_u16(p, vec_round(v));
}

static inline GI_VEC vec_fma(GI_VEC a, GI_VEC b, GI_VEC c)
{
    GI_EACH_FLOATS(vfmaq_f32(c.half[h], a.half[h], b.half[h]));
}

static inline GI_VEC vec_add(GI_VEC a, GI_VEC b)
{
    GI_EACH_FLOATS(vaddq_f32(a.half[h], b.half[h]));
}

static inline GI_VEC vec_sub(GI_VEC a, GI_VEC b)
{
    GI_EACH_FLOATS(vsubq_f32(a.half[h], b.half[h]));
}

static inline GI_VEC vec_mul(GI_VEC a, GI_VEC b)
{
    GI_EACH_FLOATS(vmulq_f32(a.half[h], b.half[h]));
}

static inline GI_VEC vec_div(GI_VEC a, GI_VEC b)
{
    GI_EACH_FLOATS(vdivq_f32(a.half[h], b.half[h]));
}

static inline GI_VEC vec_sqrt(GI_VEC a)
{
    GI_EACH_FLOATS(vsqrtq_f32(a.half[h]));
}

static inline GI_VEC vec_abs(GI_VEC a)
{
    GI_EACH_FLOATS(vabsq_f32(a.half[h]));
}

static inline GI_VEC vec_if_greater(GI_VEC a, GI_VEC b, GI_VEC x, GI_VEC y)
{
    GI_EACH_FLOATS(vbslq_f32(vcgtq_f32(a.half[h], b.half[h]), x.half[h], y.half[h]));
}

static inline GI_VEC vec_if_nan(GI_VEC a, GI_VEC x, GI_VEC y)
{
    GI_EACH_FLOATS(vbslq_f32(vceqq_f32(a.half[h], a.half[h]), y.half[h], x.half[h]));
}

static inline void vec_store_f32(float *p, GI_VEC v)
{
    vec_store(p, vec_if_nan(v, vec_set(NAN), v));
}

static inline __attribute__((always_inline)) void vec_gather(GI_VEC *v, const void *p,
                                                             const int32_t *at, enum gi_type type)
{
    uint32_t all[GI_LANES];
    for (int l = 0; l < GI_LANES; l++)
        memcpy(all + l, (const char *)p + at[l], sizeof *all);
    for (int h = 0; h < 2; h++) {
        const uint32x4_t four = vld1q_u32(all + 4 * h);
        const uint32x4_t low = vdupq_n_u32(type == GI_U8 ? 255 : 65535);
        if (type == GI_F32) {
            v[0].half[h] = vreinterpretq_f32_u32(four);
            continue;
        }
        if (type == GI_U16) {
            v[0].half[h] = vcvtq_f32_u32(vandq_u32(four, low));
            v[1].half[h] = vcvtq_f32_u32(vshrq_n_u32(four, 16));
            continue;
        }
        v[0].half[h] = vcvtq_f32_u32(vandq_u32(four, low));
        v[1].half[h] = vcvtq_f32_u32(vandq_u32(vshrq_n_u32(four, 8), low));
        v[2].half[h] = vcvtq_f32_u32(vandq_u32(vshrq_n_u32(four, 16), low));
        v[3].half[h] = vcvtq_f32_u32(vshrq_n_u32(four, 24));
    }
}

static inline __attribute__((always_inline)) void
vec_gather_twice(GI_VEC *v, const void *p, const int32_t *at, enum gi_type type)
{
    vec_gather(v, p, at, type);
    vec_gather(v + 4 / gi_type_nbytes(type), (const char *)p + 4, at, type);
}

static inline GI_VEC vec_lookup(const float *table, GI_VEC at)
{
    float from[GI_LANES];
    vec_store(from, at);
    for (int l = 0; l < GI_LANES; l++)
        from[l] = table[(int)from[l]];
    return vec_load(from);
}

static inline GI_VEC vec_alpha(GI_VEC v, int channels)
{
    GI_EACH_FLOATS(channels == 4 ? vdupq_laneq_f32(v.half[h], 3)
                                 : vtrn2q_f32(v.half[h], v.half[h]));
}

/* Returns a mask with all bits set in lanes that are alpha. */
static inline uint32x4_t vec_alpha_mask(int channels)
{
    return channels == 4 ? (uint32x4_t){0, 0, 0, UINT32_MAX}
                         : (uint32x4_t){0, UINT32_MAX, 0, UINT32_MAX};
}

static inline GI_VEC vec_with_alpha(GI_VEC c, GI_VEC a, int channels)
{
    GI_EACH_FLOATS(vbslq_f32(vec_alpha_mask(channels), a.half[h], c.half[h]));
}

/* Lanes n to n + 3 of a followed by b. */
static inline __attribute__((always_inline)) float32x4_t vec_slide_four(float32x4_t a,
                                                                        float32x4_t b, int n)
{
    return n == 0   ? a
           : n == 1 ? vextq_f32(a, b, 1)
           : n == 2 ? vextq_f32(a, b, 2)
                    : vextq_f32(a, b, 3);
}

static inline __attribute__((always_inline)) GI_VEC vec_slide(GI_VEC a, GI_VEC b, int n)
{
    float32x4_t second = n < 4 ? a.half[1] : b.half[0], last = n < 4 ? b.half[0] : b.half[1];
    return (GI_VEC){{vec_slide_four(n < 4 ? a.half[0] : a.half[1], second, n % 4),
                     vec_slide_four(second, last, n % 4)}};
}

/* Returns lanes channel, channel + 3, channel + 6 and channel + 9 of a, b, c. */
static inline float32x4_t vec_third_four(float32x4_t a, float32x4_t b, float32x4_t c, int channel)
{
    const uint8x16x3_t row = {
        {vreinterpretq_u8_f32(a), vreinterpretq_u8_f32(b), vreinterpretq_u8_f32(c)}};
    const uint8x16_t from = {0, 1, 2, 3, 12, 13, 14, 15, 24, 25, 26, 27, 36, 37, 38, 39};
    return vreinterpretq_f32_u8(
        vqtbl3q_u8(row, vaddq_u8(from, vdupq_n_u8((uint8_t)(4 * channel)))));
}

static inline GI_VEC vec_third(GI_VEC a, GI_VEC b, GI_VEC c, int channel)
{
    return (GI_VEC){{vec_third_four(a.half[0], a.half[1], b.half[0], channel),
                     vec_third_four(b.half[1], c.half[0], c.half[1], channel)}};
}
