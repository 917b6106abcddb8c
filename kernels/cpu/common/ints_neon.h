/* Integer lanes in NEON (ints.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/simd.h"

#define GI_INTS struct gi_ints

struct gi_ints {
    uint32x4_t half[2];
};

#define GI_EACH_INTS(expression) GI_EACH_HALF(GI_INTS, expression)

static inline GI_INTS ints_load(const uint32_t *p)
{
    GI_EACH_INTS(vld1q_u32(p + 4 * h));
}

static inline GI_INTS ints_of_u16(uint16x8_t v)
{
    return (GI_INTS){{vmovl_u16(vget_low_u16(v)), vmovl_high_u16(v)}};
}

static inline GI_INTS ints_load_u8(const uint8_t *p)
{
    return ints_of_u16(vmovl_u8(vld1_u8(p)));
}

static inline GI_INTS ints_load_u16(const uint16_t *p)
{
    return ints_of_u16(vld1q_u16(p));
}

static inline GI_INTS ints_load_changes(const uint16_t *p, size_t reach)
{
    GI_EACH_INTS(
        vreinterpretq_u32_u16(vsubq_u16(vld1q_u16(p + reach + 8 * h), vld1q_u16(p + 8 * h))));
}

static inline GI_INTS ints_pair_sums(GI_INTS v)
{
    GI_EACH_INTS(vreinterpretq_u32_s32(vpaddlq_s16(vreinterpretq_s16_u32(v.half[h]))));
}

static inline GI_INTS ints_pair_firsts(GI_INTS v)
{
    GI_EACH_INTS(
        vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_u32(vshlq_n_u32(v.half[h], 16)), 16)));
}

static inline GI_INTS ints_set(uint32_t x)
{
    uint32x4_t half = vdupq_n_u32(x);
    return (GI_INTS){{half, half}};
}

static inline void ints_store(uint32_t *p, GI_INTS v)
{
    vst1q_u32(p, v.half[0]);
    vst1q_u32(p + 4, v.half[1]);
}

static inline GI_INTS ints_add(GI_INTS a, GI_INTS b)
{
    GI_EACH_INTS(vaddq_u32(a.half[h], b.half[h]));
}

static inline GI_INTS ints_sub(GI_INTS a, GI_INTS b)
{
    GI_EACH_INTS(vsubq_u32(a.half[h], b.half[h]));
}

/* Moves the lanes up by `by` lanes; the lowest lanes come from the top of `below`. */
static inline __attribute__((always_inline)) uint32x4_t ints_up_four(uint32x4_t v, uint32x4_t below,
                                                                     int by)
{
    return by == 1   ? vextq_u32(below, v, 3)
           : by == 2 ? vextq_u32(below, v, 2)
           : by == 3 ? vextq_u32(below, v, 1)
                     : below;
}

static inline __attribute__((always_inline)) GI_INTS ints_up(GI_INTS v, int by)
{
    const uint32x4_t zero = vdupq_n_u32(0);
    if (by > 4)
        return (GI_INTS){{zero, ints_up_four(v.half[0], zero, by - 4)}};
    return (GI_INTS){{ints_up_four(v.half[0], zero, by), ints_up_four(v.half[1], v.half[0], by)}};
}

static inline __attribute__((always_inline)) GI_INTS ints_prefix(GI_INTS v, int step)
{
    v = ints_add(v, ints_up(v, step));
    if (2 * step < GI_LANES)
        v = ints_add(v, ints_up(v, 2 * step));
    if (4 * step < GI_LANES)
        v = ints_add(v, ints_up(v, 4 * step));
    return v;
}

static inline __attribute__((always_inline)) GI_INTS ints_spread(GI_INTS v, int step)
{
    uint32_t from[GI_LANES]; /* the lowest four bytes of each lane in the upper half */
    const uint8x16_t upper = vreinterpretq_u8_u32(v.half[1]);
    for (int i = 0; i < GI_LANES; i++)
        from[i] = 0x03020100 + 0x04040404 * (uint32_t)(4 - step + i % step);
    GI_EACH_INTS(
        vreinterpretq_u32_u8(vqtbl1q_u8(upper, vreinterpretq_u8_u32(vld1q_u32(from + 4 * h)))));
}

/* Two lanes. */
static inline float64x2_t ints_double(uint32x2_t v)
{
    return vcvtq_f64_u64(vmovl_u32(v));
}

static inline uint32x2_t ints_scale_two(uint32x2_t v, double factor)
{
    float64x2_t scaled = vmulq_n_f64(ints_double(v), factor);
    return vmovn_u64(vcvtq_u64_f64(vaddq_f64(scaled, vdupq_n_f64(0.5))));
}

static inline GI_INTS ints_scale(GI_INTS v, double factor)
{
    GI_EACH_INTS(vcombine_u32(ints_scale_two(vget_low_u32(v.half[h]), factor),
                              ints_scale_two(vget_high_u32(v.half[h]), factor)));
}

static inline GI_INTS ints_scale_float(GI_INTS v, float factor)
{
    GI_EACH_INTS(vcvtnq_u32_f32(vmulq_n_f32(vcvtq_f32_u32(v.half[h]), factor)));
}

static inline GI_INTS ints_alpha(GI_INTS v, int channels)
{
    GI_EACH_INTS(channels == 4 ? vdupq_laneq_u32(v.half[h], 3) : vtrn2q_u32(v.half[h], v.half[h]));
}

static inline GI_INTS ints_with_alpha(GI_INTS c, GI_INTS a, int channels)
{
    GI_EACH_INTS(vbslq_u32(vec_alpha_mask(channels), a.half[h], c.half[h]));
}

static inline GI_INTS ints_weigh(GI_INTS v, int channels)
{
    GI_INTS by = ints_with_alpha(ints_alpha(v, channels), ints_set(1), channels);
    GI_EACH_INTS(vmulq_u32(v.half[h], by.half[h]));
}

/* Two lanes. */
static inline uint32x2_t ints_ratio(uint32x2_t s, uint32x2_t a)
{
    float64x2_t x = ints_double(s), y = ints_double(a);
    x = vdivq_f64(vaddq_f64(vaddq_f64(x, x), y), vaddq_f64(y, y));
    return vmovn_u64(vcvtq_u64_f64(x)); /* 0/0 is converted to 0 */
}

static inline GI_INTS ints_ratios(GI_INTS s, GI_INTS a)
{
    GI_EACH_INTS(vcombine_u32(ints_ratio(vget_low_u32(s.half[h]), vget_low_u32(a.half[h])),
                              ints_ratio(vget_high_u32(s.half[h]), vget_high_u32(a.half[h]))));
}

static inline GI_INTS ints_weighed_mean(GI_INTS v, GI_INTS alpha, int channels)
{
    return ints_with_alpha(ints_ratios(v, ints_alpha(v, channels)), alpha, channels);
}

static inline void ints_store_u16(uint16_t *p, GI_INTS v)
{
    vst1q_u16(p, vmovn_high_u32(vmovn_u32(v.half[0]), v.half[1]));
}

static inline void ints_store_u8(uint8_t *p, GI_INTS v)
{
    vst1_u8(p, vmovn_u16(vmovn_high_u32(vmovn_u32(v.half[0]), v.half[1])));
}

static inline void ints_store_pairs_u8(uint8_t *p, GI_INTS even, GI_INTS odd)
{
    GI_INTS pairs = {
        {vsliq_n_u32(even.half[0], odd.half[0], 8), vsliq_n_u32(even.half[1], odd.half[1], 8)}};
    uint16x8_t both = vmovn_high_u32(vmovn_u32(pairs.half[0]), pairs.half[1]);
    vst1q_u8(p, vreinterpretq_u8_u16(both));
}
