/* Histogram of bytes by bit planes, for processors with a vector population count. Plane k of 512
 * bytes is the vector of bit k of each byte. The AND of eight planes, some complemented, marks the
 * bytes of one value. This takes 3 instructions per 512 bytes and value, for any data; counters in
 * memory take a store per byte.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/bit_rows.h"

enum {
    PLANE_BYTES = 512,
    PLANE_GROUPS = 8, /* groups of 512 bytes that are counted together and fit in L1 */
};

/* Begins as all zeros. */
struct planes {
    __m512i counts[256]; /* the lanes for a value add up to its count */
    /* ANDs of four planes: of bits 0 to 3, and of bits 4 to 7. */
    __m512i low[16][PLANE_GROUPS], high[16][PLANE_GROUPS];
    int ngroups; /* groups in them that are not counted yet */
    uint8_t held[PLANE_BYTES];
    size_t nheld; /* number of bytes in `held`, which wait to be counted */
};

static inline bool planes_are_here(void)
{
    return __builtin_cpu_supports("avx512vpopcntdq");
}

/* Returns the bits of `a` where `mask` is set, and those of `b` elsewhere. */
static inline __m512i planes_merge(__m512i mask, __m512i a, __m512i b)
{
    return _mm512_ternarylogic_epi64(mask, a, b, 0xca);
}

/* Swaps the upper `by` bits of each 2 * by bits of *a with the lower `by` bits of *b, as a step of
 * a bit-matrix transposition. */
static inline void planes_swap(__m512i *a, __m512i *b, unsigned by, int mask)
{
    __m512i low = _mm512_set1_epi8((char)mask), x = *a, y = *b;
    *a = planes_merge(low, x, _mm512_slli_epi16(y, by));
    *b = planes_merge(low, _mm512_srli_epi16(x, by), y);
}

/* Makes the planes of 512 bytes. The order of bits in a plane is arbitrary, but it is the same in
 * all planes. */
static inline void planes_of(__m512i planes[8], const uint8_t *bytes)
{
    for (int i = 0; i < 8; i++)
        planes[i] = _mm512_loadu_si512(bytes + 64 * i);
    for (int i = 0; i < 4; i++)
        planes_swap(&planes[i], &planes[i + 4], 4, 0x0f);
    for (int i = 0; i < 8; i += i % 4 ? 3 : 1)
        planes_swap(&planes[i], &planes[i + 2], 2, 0x33);
    for (int i = 0; i < 8; i += 2)
        planes_swap(&planes[i], &planes[i + 1], 1, 0x55);
}

/* Make the ANDs of two planes, and of four planes. Entry i marks the bytes whose bits in these
 * planes are the binary number i. */
static inline void planes_products2(__m512i products[4], const __m512i planes[2])
{
    __m512i any = _mm512_or_si512(planes[0], planes[1]);
    products[0] = _mm512_andnot_si512(any, _mm512_set1_epi32(-1));
    products[1] = _mm512_andnot_si512(planes[1], planes[0]);
    products[2] = _mm512_andnot_si512(planes[0], planes[1]);
    products[3] = _mm512_and_si512(planes[0], planes[1]);
}

static inline void planes_products4(__m512i products[16][PLANE_GROUPS], int group,
                                    const __m512i planes[4])
{
    __m512i low[4], high[4];
    planes_products2(low, planes);
    planes_products2(high, planes + 2);
    for (int i = 0; i < 16; i++)
        products[i][group] = _mm512_and_si512(high[i / 4], low[i % 4]);
}

__attribute__((target("avx512vpopcntdq"))) static void planes_count(struct planes *p)
{
    for (int i = 0; i < 256; i += 16) {
        __m512i high[PLANE_GROUPS];
        memcpy(high, p->high[i / 16], sizeof high);
        for (int j = 0; j < 16; j++) {
            __m512i count = p->counts[i + j];
            for (int g = 0; g < PLANE_GROUPS; g++) {
                __m512i here = _mm512_and_si512(high[g], p->low[j][g]);
                count = _mm512_add_epi64(count, _mm512_popcnt_epi64(here));
            }
            p->counts[i + j] = count;
        }
    }
    p->ngroups = 0;
}

static void planes_add_group(struct planes *p, const uint8_t *bytes)
{
    __m512i planes[8];
    prefetch_ahead(bytes, PLANE_BYTES);
    planes_of(planes, bytes);
    planes_products4(p->low, p->ngroups, planes);
    planes_products4(p->high, p->ngroups, planes + 4);
    if (++p->ngroups == PLANE_GROUPS)
        planes_count(p);
}

static void planes_add(struct planes *p, const uint8_t *bytes, size_t n)
{
    for (; n >= PLANE_BYTES; bytes += PLANE_BYTES, n -= PLANE_BYTES)
        planes_add_group(p, bytes);
    while (n > 0) {
        size_t room = PLANE_BYTES - p->nheld, m = n < room ? n : room;
        memcpy(p->held + p->nheld, bytes, m);
        p->nheld += m;
        if (p->nheld == PLANE_BYTES) {
            planes_add_group(p, p->held);
            p->nheld = 0;
        }
        bytes += m;
        n -= m;
    }
}

/* Adds all counts that have accumulated to `table`. */
static void planes_flush(struct planes *p, uint32_t *table)
{
    for (int i = 0; i < 16; i++)
        for (int g = p->ngroups; g < PLANE_GROUPS; g++)
            p->high[i][g] = _mm512_setzero_si512();
    planes_count(p);
    for (int i = 0; i < 256; i++)
        table[i] += (uint32_t)_mm512_reduce_add_epi64(p->counts[i]);
}
