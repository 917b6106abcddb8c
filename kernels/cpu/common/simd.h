/* Vectors of floats, implemented in a file per instruction level. Every operation is the plain IEEE
 * operation in each lane, so a result never depends on the number of lanes. */
#ifndef GI_KERNELS_CPU_SIMD_H
#define GI_KERNELS_CPU_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "imgio/image.h"

/* GI_VEC holds GI_LANES floats, a multiple of 4, so that whole pixels with alpha fit in it. Loads
 * and stores take any alignment. The stores to integers round half to even; NaN and negative values
 * become 0, values above full scale become full scale. vec_store_u8_rows stores v[r] to p[r], for
 * values between -2^31 and 2^31. vec_store_f32 stores every NaN as the quiet NaN 0x7fc00000.
 * vec_alpha broadcasts the alpha of each pixel of `channels` (2 or 4) samples to all its lanes;
 * vec_with_alpha takes colour from `c` and alpha from `a`. vec_third gives samples channel, channel
 * + 3, channel + 6, ... of the row of samples a, b, c: since 3 and the number of lanes are coprime,
 * they are in different lanes and need only a permutation; vec_load_u8_thirds does so with bytes
 * and reads 64 bytes, vec_store_u8_thirds is its inverse and writes exactly the bytes of the
 * pixels. vec_slide gives lanes n, n + 1, ... of a followed by b, n a constant from 0 to GI_LANES -
 * 1. vec_gather gives the samples in the 4 bytes at p + at[l] as lane l of v[0], v[1], ...,
 * vec_gather_twice those in 8 bytes; vec_lookup gives table[at], where `at` holds whole numbers
 * from 0 on. */

#if GI_LEVEL_avx512
#include "kernels/cpu/common/simd_avx512.h"
#elif GI_LEVEL_avx2
#include "kernels/cpu/common/simd_avx2.h"
#elif GI_LEVEL_neon
#include "kernels/cpu/common/simd_neon.h"
#else
#include "kernels/cpu/common/simd_scalar.h"
#endif

/* Loads samples of `type` at p + i as GI_LANES floats, and stores them. */
static inline GI_VEC vec_load_samples(const void *p, size_t i, enum gi_type type)
{
    if (type == GI_U8)
        return vec_load_u8((const uint8_t *)p + i);
    if (type == GI_U16)
        return vec_load_u16((const uint16_t *)p + i);
    return vec_load((const float *)p + i);
}

static inline void vec_store_samples(void *p, size_t i, GI_VEC v, enum gi_type type)
{
    if (type == GI_U8)
        vec_store_u8((uint8_t *)p + i, v);
    else if (type == GI_U16)
        vec_store_u16((uint16_t *)p + i, v);
    else
        vec_store_f32((float *)p + i, v);
}

#endif
