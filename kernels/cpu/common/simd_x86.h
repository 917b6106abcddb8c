/* Float lanes (simd.h) where AVX2 and AVX-512 have intrinsics that differ only in their prefix:
 * GI_MM(add_ps) is _mm256_add_ps or _mm512_add_ps, GI_MM_SI(and) is _mm256_and_si256 or
 * _mm512_and_si512.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_SIMD_X86_H
#define GI_KERNELS_CPU_SIMD_X86_H

static inline GI_VEC vec_set(float x)
{
    return GI_MM(set1_ps)(x);
}

static inline GI_VEC vec_load(const float *p)
{
    return GI_MM(loadu_ps)(p);
}

static inline void vec_store(float *p, GI_VEC v)
{
    GI_MM(storeu_ps)(p, v);
}

static inline GI_VEC vec_fma(GI_VEC a, GI_VEC b, GI_VEC c)
{
    return GI_MM(fmadd_ps)(a, b, c);
}

static inline GI_VEC vec_add(GI_VEC a, GI_VEC b)
{
    return GI_MM(add_ps)(a, b);
}

static inline GI_VEC vec_sub(GI_VEC a, GI_VEC b)
{
    return GI_MM(sub_ps)(a, b);
}

static inline GI_VEC vec_mul(GI_VEC a, GI_VEC b)
{
    return GI_MM(mul_ps)(a, b);
}

static inline GI_VEC vec_div(GI_VEC a, GI_VEC b)
{
    return GI_MM(div_ps)(a, b);
}

static inline GI_VEC vec_sqrt(GI_VEC a)
{
    return GI_MM(sqrt_ps)(a);
}

/* Extracts samples from 4 bytes per lane. */
static inline __attribute__((always_inline)) void vec_part(GI_VEC *v, GI_INTS all,
                                                           enum gi_type type)
{
    GI_INTS low = GI_MM(set1_epi32)(type == GI_U8 ? 255 : 65535);
    if (type == GI_F32) {
        memcpy(v, &all, sizeof all);
        return;
    }
    if (type == GI_U16) {
        v[0] = GI_MM(cvtepi32_ps)(GI_MM_SI(and)(all, low));
        v[1] = GI_MM(cvtepi32_ps)(GI_MM(srli_epi32)(all, 16));
        return;
    }
    v[0] = GI_MM(cvtepi32_ps)(GI_MM_SI(and)(all, low));
    v[1] = GI_MM(cvtepi32_ps)(GI_MM_SI(and)(GI_MM(srli_epi32)(all, 8), low));
    v[2] = GI_MM(cvtepi32_ps)(GI_MM_SI(and)(GI_MM(srli_epi32)(all, 16), low));
    v[3] = GI_MM(cvtepi32_ps)(GI_MM(srli_epi32)(all, 24));
}

#endif
