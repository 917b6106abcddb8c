/* Vectors of bytes in NEON (bytes.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/ints.h"

/* Makes a vector whose half h, for h = 0 and 1, is the expression, whose value has 16 bytes. */
#define GI_EACH_BYTES(expression) GI_EACH_INTS(vreinterpretq_u32_u8(expression))

static inline uint8x16_t bytes_half(GI_INTS v, int h)
{
    return vreinterpretq_u8_u32(v.half[h]);
}

static inline GI_INTS both(GI_INTS a, GI_INTS b)
{
    GI_EACH_INTS(vandq_u32(a.half[h], b.half[h]));
}

static inline GI_INTS either(GI_INTS a, GI_INTS b)
{
    GI_EACH_INTS(vorrq_u32(a.half[h], b.half[h]));
}

static inline GI_INTS opposite(GI_INTS v)
{
    GI_EACH_INTS(vmvnq_u32(v.half[h]));
}

static inline GI_INTS least_bytes(GI_INTS a, GI_INTS b)
{
    GI_EACH_BYTES(vminq_u8(bytes_half(a, h), bytes_half(b, h)));
}

static inline GI_INTS odd_bytes(GI_INTS v)
{
    GI_EACH_INTS(vreinterpretq_u32_u16(vshrq_n_u16(vreinterpretq_u16_u32(v.half[h]), 8)));
}

static inline GI_INTS sums_of_bytes(GI_INTS v)
{
    GI_EACH_INTS(vreinterpretq_u32_u64(vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(bytes_half(v, h))))));
}

static inline int32x4_t squares_of_four_pairs(int16x8_t v)
{
    return vpaddq_s32(vmull_s16(vget_low_s16(v), vget_low_s16(v)), vmull_high_s16(v, v));
}

static inline GI_INTS squares_of_pairs(GI_INTS v)
{
    GI_EACH_INTS(vreinterpretq_u32_s32(squares_of_four_pairs(vreinterpretq_s16_u32(v.half[h]))));
}

static inline GI_INTS add_wide(GI_INTS a, GI_INTS b)
{
    GI_EACH_INTS(vreinterpretq_u32_u64(
        vaddq_u64(vreinterpretq_u64_u32(a.half[h]), vreinterpretq_u64_u32(b.half[h]))));
}

static inline GI_INTS wide_sums(GI_INTS v)
{
    GI_EACH_INTS(vreinterpretq_u32_u64(vpaddlq_u32(v.half[h])));
}

static inline uint64_t wide_total(GI_INTS v)
{
    return vaddvq_u64(
        vaddq_u64(vreinterpretq_u64_u32(v.half[0]), vreinterpretq_u64_u32(v.half[1])));
}

static inline uint32_t least_byte(GI_INTS v)
{
    return vminvq_u8(vminq_u8(bytes_half(v, 0), bytes_half(v, 1)));
}

static inline GI_INTS bytes_of_bits(uint64_t bits)
{
    const uint8x16_t from = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t all = vreinterpretq_u8_u64(vdupq_n_u64(bits));
    GI_EACH_BYTES(vtstq_u8(vqtbl1q_u8(all, vaddq_u8(from, vdupq_n_u8(2 * h))), bit));
}

static inline GI_INTS bytes_table(const uint8_t *entries)
{
    const uint8x16_t table = vld1q_u8(entries);
    GI_EACH_BYTES(((void)h, table));
}

static inline uint8x16_t look_up_half(const GI_INTS tables[16], uint8x16_t v)
{
    uint8x16_t found = vdupq_n_u8(0);
    for (int i = 0; i < 16;
         i += 4) { /* vqtbx4q_u8() leaves bytes with an index of 64 or more unchanged */
        const uint8x16x4_t four = {{bytes_half(tables[i], 0), bytes_half(tables[i + 1], 0),
                                    bytes_half(tables[i + 2], 0), bytes_half(tables[i + 3], 0)}};
        found = vqtbx4q_u8(found, four, vsubq_u8(v, vdupq_n_u8((uint8_t)(16 * i))));
    }
    return found;
}

static inline GI_INTS look_up(const GI_INTS tables[16], GI_INTS v)
{
    GI_EACH_BYTES(look_up_half(tables, bytes_half(v, h)));
}
