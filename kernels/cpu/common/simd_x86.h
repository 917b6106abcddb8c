/* Float lanes (simd.h) where AVX2 and AVX-512 have intrinsics that differ only in their prefix:
 * GI_MM(add_ps) is _mm256_add_ps or _mm512_add_ps, GI_MM_SI(and) is _mm256_and_si256 or
 * _mm512_and_si512.
 * SPDX-License-Identifier: MIT */
#pragma once

/* Loads the 4 bytes at p + at[i], for i from 0 to 3. Single loads take 0.3 of the time of a gather
 * instruction of AVX2 where microcode prevents gather data sampling. */
static inline __m128i words_at(const void *p, const int32_t *at)
{
    int32_t word[4];
    for (int i = 0; i < 4; i++)
        memcpy(&word[i], (const char *)p + at[i], sizeof word[i]);
    return _mm_unpacklo_epi64(_mm_insert_epi32(_mm_cvtsi32_si128(word[0]), word[1], 1),
                              _mm_insert_epi32(_mm_cvtsi32_si128(word[2]), word[3], 1));
}

/* Loads the 8 bytes at p + at[0] and at p + at[1]. */
static inline __m128 two_words_at(const void *p, const int32_t *at)
{
    __m128 low = _mm_castsi128_ps(_mm_loadl_epi64((const void *)((const char *)p + at[0])));
    return _mm_loadh_pi(low, (const void *)((const char *)p + at[1]));
}

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

/* The low 16 bits of each lane become gi_settle() of v for GI_U8, rounded half to even, because the
 * second sum is a float that has no fraction bits and whose lowest bit is that of the result. */
static inline GI_INTS vec_settled_bits(GI_VEC v)
{
    const float whole = 12582912; /* 1.5 * 2^23 */
    return GI_MM_SI(castps)(vec_add(vec_add(v, vec_set(3072)), vec_set(whole - 3072)));
}

/* Rounds gi_settle() of the values of a vector. Those that are not `bounded` become at most 255;
 * NaN and large negative values become INT32_MIN in the conversion. */
static inline GI_INTS vec_settled_ints(GI_VEC v, bool bounded)
{
    if (bounded)
        return GI_MM(sub_epi32)(vec_settled_bits(v), GI_MM(set1_epi32)(0x4b400000));
    v = vec_sub(vec_add(v, vec_set(3072)), vec_set(3072));
    return GI_MM(cvtps_epi32)(GI_MM(min_ps)(vec_set(255), v));
}

/* Saturates 32-bit integers of four vectors to bytes, which are in the order of the packing
 * instructions. */
static inline GI_INTS vec_pack(const GI_INTS i[4])
{
    return GI_MM(packus_epi16)(GI_MM(packs_epi32)(i[0], i[1]), GI_MM(packs_epi32)(i[2], i[3]));
}

/* Stores the first 12 bytes of each 16 of v, in the given order, one after another. */
static inline void vec_store_twelves(uint8_t *p, GI_INTS v, __m128i order);

/* Joins the low 16 bits of each lane of two vectors. */
static inline GI_INTS vec_words(GI_INTS low, GI_INTS high);

static inline void vec_store_u8_thirds(uint8_t *p, const GI_VEC v[3])
{
    const __m128i threes = _mm_set_epi8(-1, -1, -1, -1, 11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0);
    GI_INTS i[4] = {{0}};
    for (int c = 0; c < 3; c++) /* NaN and large negative values become INT32_MIN and then 0 */
        i[c] = GI_MM(cvtps_epi32)(GI_MM(min_ps)(GI_MM(set1_ps)(255), v[c]));
    vec_store_twelves(p, vec_pack(i), threes);
}

static inline void vec_settle_thirds(uint8_t *p, const GI_VEC v[3])
{
    const __m128i threes = _mm_set_epi8(-1, -1, -1, -1, 14, 7, 6, 12, 5, 4, 10, 3, 2, 8, 1, 0);
    GI_INTS words = vec_words(vec_settled_bits(v[0]), vec_settled_bits(v[1]));
    vec_store_twelves(p, GI_MM(packus_epi16)(words, vec_settled_bits(v[2])), threes);
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

/* Loads the 4 bytes at p + at[i] for each lane i. */
static inline GI_INTS vec_words_at(const void *p, const int32_t *at);

/* Loads the 8 bytes at p + at[i], for the first two lanes i of each four. */
static inline GI_VEC vec_two_words_at(const void *p, const int32_t *at);

static inline __attribute__((always_inline)) void vec_gather(GI_VEC *v, const void *p,
                                                             const int32_t *at, enum gi_type type)
{
    vec_part(v, vec_words_at(p, at), type);
}

static inline __attribute__((always_inline)) void
vec_gather_twice(GI_VEC *v, const void *p, const int32_t *at, enum gi_type type)
{
    GI_VEC a = vec_two_words_at(p, at), b = vec_two_words_at(p, at + 2);
    vec_part(v, GI_MM_SI(castps)(GI_MM(shuffle_ps)(a, b, 0x88)), type);
    vec_part(v + 4 / gi_type_nbytes(type), GI_MM_SI(castps)(GI_MM(shuffle_ps)(a, b, 0xdd)), type);
}

static inline GI_VEC vec_alpha(GI_VEC v, int channels)
{
    return channels == 4 ? GI_MM(permute_ps)(v, 0xff) : GI_MM(movehdup_ps)(v);
}
