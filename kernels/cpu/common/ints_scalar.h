/* Integer lanes in plain C (ints.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/simd.h"

#define GI_INTS struct gi_ints

struct gi_ints {
    uint32_t x[GI_LANES];
};

#define GI_EACH_INT(expression)                                                                    \
    GI_INTS r;                                                                                     \
    for (int i = 0; i < GI_LANES; i++)                                                             \
        r.x[i] = expression;                                                                       \
    return r

static inline GI_INTS ints_load(const uint32_t *p)
{
    GI_EACH_INT(p[i]);
}

static inline GI_INTS ints_load_u8(const uint8_t *p)
{
    GI_EACH_INT(p[i]);
}

static inline GI_INTS ints_load_u16(const uint16_t *p)
{
    GI_EACH_INT(p[i]);
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
    GI_EACH_INT((uint32_t)(int16_t)v.x[i]);
}

static inline GI_INTS ints_pair_sums(GI_INTS v)
{
    GI_EACH_INT((uint32_t)((int16_t)v.x[i] + (int16_t)(v.x[i] >> 16)));
}

static inline GI_INTS ints_set(uint32_t x)
{
    GI_EACH_INT(x);
}

static inline void ints_store(uint32_t *p, GI_INTS v)
{
    memcpy(p, v.x, sizeof v.x);
}

static inline GI_INTS ints_add(GI_INTS a, GI_INTS b)
{
    GI_EACH_INT(a.x[i] + b.x[i]);
}

static inline GI_INTS ints_sub(GI_INTS a, GI_INTS b)
{
    GI_EACH_INT(a.x[i] - b.x[i]);
}

static inline GI_INTS ints_prefix(GI_INTS v, int step)
{
    for (int i = step; i < GI_LANES; i++)
        v.x[i] += v.x[i - step];
    return v;
}

static inline GI_INTS ints_spread(GI_INTS v, int step)
{
    GI_EACH_INT(v.x[GI_LANES - step + i % step]);
}

static inline GI_INTS ints_scale(GI_INTS v, double factor)
{
    GI_EACH_INT((uint32_t)(v.x[i] * factor + 0.5));
}

static inline GI_INTS ints_scale_float(GI_INTS v, float factor)
{
    GI_EACH_INT((uint32_t)lrintf((float)v.x[i] * factor));
}

static inline GI_INTS ints_weigh(GI_INTS v, int channels)
{
    GI_EACH_INT(v.x[i] * ((i + 1) % channels ? v.x[i | (channels - 1)] : 1));
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
