/* Integer lanes (ints.h) where AVX2 and AVX-512 have intrinsics that differ only in their prefix;
 * GI_MM() is in simd_x86.h.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/simd.h"

static inline GI_INTS ints_load(const uint32_t *p)
{
    return GI_MM_SI(loadu)((const void *)p);
}

static inline GI_INTS ints_load_changes(const uint16_t *p, size_t reach)
{
    return GI_MM(sub_epi16)(GI_MM_SI(loadu)((const void *)(p + reach)),
                            GI_MM_SI(loadu)((const void *)p));
}

static inline GI_INTS ints_pair_sums(GI_INTS v)
{
    return GI_MM(madd_epi16)(v, GI_MM(set1_epi16)(1));
}

static inline GI_INTS ints_pair_firsts(GI_INTS v)
{
    return GI_MM(madd_epi16)(v, GI_MM(set1_epi32)(1));
}

static inline GI_INTS ints_set(uint32_t x)
{
    return GI_MM(set1_epi32)((int)x);
}

static inline void ints_store(uint32_t *p, GI_INTS v)
{
    GI_MM_SI(storeu)((void *)p, v);
}

static inline GI_INTS ints_add(GI_INTS a, GI_INTS b)
{
    return GI_MM(add_epi32)(a, b);
}

static inline GI_INTS ints_sub(GI_INTS a, GI_INTS b)
{
    return GI_MM(sub_epi32)(a, b);
}

static inline GI_INTS ints_scale_float(GI_INTS v, float factor)
{
    return GI_MM(cvtps_epi32)(vec_mul(GI_MM(cvtepi32_ps)(v), vec_set(factor)));
}

static inline GI_INTS ints_alpha(GI_INTS v, int channels)
{
    return channels == 4 ? GI_MM(shuffle_epi32)(v, 0xff) : GI_MM(shuffle_epi32)(v, 0xf5);
}
