/* Vectors of floats, implemented in a file per instruction level. Every operation is the plain IEEE
 * 754 operation in each lane, so results do not depend on the number of lanes. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "imgio/image.h"

/* GI_VEC holds GI_LANES floats, a multiple of 4, so that whole pixels with alpha fit in it. Loads
 * and stores take any alignment. Stores to integers round half to even; NaN and negative values
 * become 0, values above full scale become full scale.
 *   vec_store_u8_rows   stores v[r] to p[r], for values between -2^31 and 2^31
 *   vec_store_f32       stores every NaN as the quiet NaN 0x7fc00000
 *   vec_alpha           copies the alpha of each pixel of `channels` (2 or 4) samples to its lanes
 *   vec_with_alpha      takes colour from `c` and alpha from `a`
 *   vec_third           takes samples channel, channel + 3, ... of the samples in a, b, c; 3 and
 *                       GI_LANES are coprime, so these are in different lanes: a permutation does
 *   vec_load_u8_thirds  the same for bytes; reads 64 bytes
 *   vec_store_u8_thirds the inverse; writes exactly the bytes of the pixels
 *   vec_settle_u8       stores gi_settle() of 4 * GI_LANES values to p, but kept[i] to p[i] where
 *                       keep[i] is 255 and not 0; `bounded`: values are between -2^21 and 2^21
 *   vec_settle_thirds   vec_store_u8_thirds of gi_settle(), for values between -2^15 and 2^15 - 1
 *   vec_slide           lanes n, n + 1, ... of a followed by b; n is a constant, 0 to GI_LANES - 1
 *   vec_gather          lane l of v[0], v[1], ... becomes the samples in the 4 bytes at p + at[l]
 *   vec_gather_twice    the same for 8 bytes
 *   vec_lookup          table[at], where `at` holds whole numbers of 0 or more */

#if GI_LEVEL_avx512
#include "kernels/cpu/common/simd_avx512.h"
#elif GI_LEVEL_avx2
#include "kernels/cpu/common/simd_avx2.h"
#elif GI_LEVEL_neon
#include "kernels/cpu/common/simd_neon.h"
#else
#include "kernels/cpu/common/simd_scalar.h"
#endif

/* Loads samples p[i] and following of `type` as GI_LANES floats; stores them. */
static inline GI_VEC vec_load_samples(const void *p, size_t i, enum gi_type type)
{
    if (type == GI_U8)
        return vec_load_u8((const uint8_t *)p + i);
    if (type == GI_U16)
        return vec_load_u16((const uint16_t *)p + i);
    return vec_load((const float *)p + i);
}

/* gi_settle() of each lane. */
static inline GI_VEC vec_settle(GI_VEC v, enum gi_type type)
{
    const GI_VEC shift = vec_set(3072);
    return type == GI_U8 ? vec_sub(vec_add(v, shift), shift) : v;
}

#ifndef GI_MM
static inline void vec_settle_u8(uint8_t *p, const GI_VEC v[4], bool bounded, const uint8_t *kept,
                                 const uint8_t *keep)
{
    uint8_t made[4 * GI_LANES];
    for (int k = 0; k < 4; k++)
        vec_store_u8(made + k * GI_LANES, vec_settle(v[k], GI_U8));
    for (int i = 0; i < 4 * GI_LANES; i++)
        p[i] = (uint8_t)((made[i] & ~keep[i]) | (kept[i] & keep[i]));
}

static inline void vec_settle_thirds(uint8_t *p, const GI_VEC v[3])
{
    const GI_VEC settled[3] = {vec_settle(v[0], GI_U8), vec_settle(v[1], GI_U8),
                               vec_settle(v[2], GI_U8)};
    vec_store_u8_thirds(p, settled);
}
#endif

static inline void vec_store_samples(void *p, size_t i, GI_VEC v, enum gi_type type)
{
    if (type == GI_U8)
        vec_store_u8((uint8_t *)p + i, v);
    else if (type == GI_U16)
        vec_store_u16((uint16_t *)p + i, v);
    else
        vec_store_f32((float *)p + i, v);
}
