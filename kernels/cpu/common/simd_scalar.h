/* Float lanes in plain C (simd.h).
 * SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

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

static inline void vec_load_u8_thirds(GI_VEC v[3], const uint8_t *p)
{
    for (int l = 0; l < GI_LANES; l++)
        for (int c = 0; c < 3; c++)
            v[c].x[l] = p[3 * l + c];
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

static inline void vec_store_u8_rows(uint8_t *const p[4], const GI_VEC v[4])
{
    for (int r = 0; r < 4; r++)
        vec_store_u8(p[r], v[r]);
}

static inline void vec_store_u8_thirds(uint8_t *p, const GI_VEC v[3])
{
    for (int l = 0; l < GI_LANES; l++)
        for (int c = 0; c < 3; c++)
            p[3 * l + c] = (uint8_t)vec_round(v[c].x[l], 255.0f);
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

static inline void vec_gather(GI_VEC *v, const void *p, const int32_t *at, enum gi_type type)
{
    for (int k = 0; k < 4 / (int)gi_type_nbytes(type); k++)
        for (int l = 0; l < GI_LANES; l++)
            v[k].x[l] = (float)gi_sample((const char *)p + at[l], (size_t)k, type);
}

static inline __attribute__((always_inline)) void
vec_gather_twice(GI_VEC *v, const void *p, const int32_t *at, enum gi_type type)
{
    vec_gather(v, p, at, type);
    vec_gather(v + 4 / gi_type_nbytes(type), (const char *)p + 4, at, type);
}

static inline GI_VEC vec_lookup(const float *table, GI_VEC at)
{
    GI_EACH_LANE(table[(int)at.x[l]]);
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
