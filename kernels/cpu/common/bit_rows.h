/* Shared by the primitives whose results are in host memory: bands of rows, samples as integers,
 * and rows as bit masks, where pixel x is bit x % 64 of word x / 64. A word is made from 64
 * comparisons without branches; runs of equal pixels are then cheap to find.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __AVX2__
#include <immintrin.h>
#elif GI_LEVEL_neon
#include <arm_neon.h>
#endif

#include "kernels/cpu/cpu.h"
#include "kernels/regions.h"

enum { BAND_PIXELS = 1 << 13 }; /* number of pixels that are worth waking a thread for */

/* Returns the number of bands, which are the jobs of a pool. There are several bands per thread, so
 * that one slow thread does not delay the other threads, but a band has at least about `least`
 * pixels. A pool of a single thread has one band. */
static inline int band_count(struct gi_pool *pool, const struct gi_image *image, uint64_t least)
{
    int threads = gi_pool_threads(pool);
    uint64_t pixels = (uint64_t)image->width * (uint64_t)image->height;
    uint64_t most = threads == 1 ? 1 : 4 * (uint64_t)threads;
    uint64_t n = pixels / least;
    n = n < 1 ? 1 : n > most ? most : n;
    return n > (uint64_t)image->height ? image->height : (int)n;
}

/* Returns the first row of band `i` of `n` bands, or the height of the image if i = n. */
static inline int band_start(const struct gi_image *image, int i, int n)
{
    return (int)((int64_t)image->height * i / n);
}

/* Requests huge pages for memory that is written for the first time, because the page fault of a 4
 * KiB page takes longer than filling the page. */
static inline void advise_huge(void *p, size_t nbytes)
{
    const uintptr_t page = (uintptr_t)1 << 12, huge = (uintptr_t)1 << 21;
    uintptr_t begin = ((uintptr_t)p + page - 1) & ~(page - 1),
              end = ((uintptr_t)p + nbytes) & ~(page - 1);
    if (p && nbytes >= 2 * huge)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

/* As malloc(), but with huge pages if the block is large enough to profit. Returns NULL if there is
 * no memory. */
static inline void *huge_malloc(size_t nbytes)
{
    void *p = malloc(nbytes ? nbytes : 1);
    advise_huge(p, nbytes);
    return p;
}

/* Prefetches the `nbytes` bytes that begin 2048 bytes after `p`, where a loop now reads. If the
 * hardware prefetcher falls behind, a loop that computes would wait for most of its cache lines. */
static inline void prefetch_ahead(const void *p, size_t nbytes)
{
    for (size_t at = 0; at < nbytes; at += 64)
        __builtin_prefetch((const char *)p + 2048 + at);
}

static inline int row_words(int width)
{
    return (int)(((int64_t)width + 63) / 64);
}

#if GI_LEVEL_neon
/* Returns a word whose bit i is the lowest bit of byte i of v[0] to v[3] (all bits of a byte are
 * equal). */
static inline uint64_t pack_bytes(const uint8x16_t v[4])
{
    const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t w[4];
    for (int i = 0; i < 4; i++)
        w[i] = vandq_u8(vtstq_u8(v[i], v[i]), bit);
    w[0] = vpaddq_u8(vpaddq_u8(w[0], w[1]), vpaddq_u8(w[2], w[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(w[0], w[0])), 0);
}
#endif

/* Returns a word whose bit i is flags[i], 0 or 1. The product moves bit 0 of byte j to bit 56 +
 * j. */
static inline uint64_t pack64(const uint8_t *flags)
{
#if defined __AVX512BW__
    __m512i v = _mm512_loadu_si512(flags);
    return _mm512_test_epi8_mask(v, v);
#elif defined __AVX2__
    __m256i low = _mm256_loadu_si256((const __m256i *)flags);
    __m256i high = _mm256_loadu_si256((const __m256i *)(flags + 32));
    return (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(low, 7)) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(high, 7)) << 32;
#elif GI_LEVEL_neon
    uint8x16_t v[4];
    for (int i = 0; i < 4; i++)
        v[i] = vld1q_u8(flags + 16 * i);
    return pack_bytes(v);
#else
    uint64_t bits = 0;
    for (int i = 0; i < 64; i += 8) {
        uint64_t eight;
        memcpy(&eight, flags + i, 8);
        bits |= (eight * 0x0102040810204080u >> 56) << i;
    }
    return bits;
#endif
}

/* Spreads the eight bits of `bits` to the lowest bits of eight bytes, the lowest bit first. */
static inline uint64_t bit_a_byte(uint64_t bits)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t one_a_byte = bits * ones & 0x8040201008040201;
    return (one_a_byte + 0x7f * ones) >> 7 & ones;
}

/* flags[i] = bit i. */
static inline void unpack64(uint8_t *flags, uint64_t bits)
{
    for (int i = 0; i < 64; i += 8) {
        uint64_t eight = bit_a_byte(bits >> i & 255);
        memcpy(flags + i, &eight, 8);
    }
}

/* Returns a word whose bit i is a[i] == b[i], for 64 elements. */
static inline uint64_t equal64(const uint32_t *a, const uint32_t *b)
{
    uint64_t bits = 0;
#if defined __AVX512F__
    for (int i = 0; i < 64; i += 16)
        bits |=
            (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))
            << i;
#elif defined __AVX2__
    for (int i = 0; i < 64; i += 8) {
        __m256i eq = _mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)(a + i)),
                                        _mm256_loadu_si256((const __m256i *)(b + i)));
        bits |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(eq)) << i;
    }
#elif GI_LEVEL_neon
    uint8x16_t v[4];
    for (int i = 0; i < 4; i++) {
        uint32x4_t eq[4];
        for (int j = 0; j < 4; j++)
            eq[j] = vceqq_u32(vld1q_u32(a + 16 * i + 4 * j), vld1q_u32(b + 16 * i + 4 * j));
        v[i] = vuzp1q_u8(vreinterpretq_u8_u16(vuzp1q_u16(vreinterpretq_u16_u32(eq[0]),
                                                         vreinterpretq_u16_u32(eq[1]))),
                         vreinterpretq_u8_u16(vuzp1q_u16(vreinterpretq_u16_u32(eq[2]),
                                                         vreinterpretq_u16_u32(eq[3]))));
    }
    bits = pack_bytes(v);
#else
    uint8_t flags[64];
    for (int i = 0; i < 64; i++)
        flags[i] = a[i] == b[i];
    bits = pack64(flags);
#endif
    return bits;
}

/* Sets flags[i] to (sample x + i > above) for i < n <= 64, and to 0 for other i. Integer samples
 * are compared as integers: v > above is equivalent to v >= floor(above) + 1. If `above` is NaN,
 * all flags are 0. */
static inline void foreground_flags(uint8_t *flags, const struct gi_image *on, int y, int x, int n,
                                    float above)
{
    memset(flags, 0, 64);
    float top = gi_type_full_scale(on->type);
    int least = above < 0 ? 0 : above < top ? (int)above + 1 : 65536;
    if (on->type == GI_F32) {
        const float *row = (const float *)gi_row(on, y) + x;
        for (int i = 0; i < n; i++)
            flags[i] = row[i] > above;
    } else if (least > (int)top) {
        return;
    } else if (on->type == GI_U8) {
        const uint8_t *row = (const uint8_t *)gi_row(on, y) + x, limit = (uint8_t)least;
        for (int i = 0; i < n; i++)
            flags[i] = row[i] >= limit;
    } else {
        const uint16_t *row = (const uint16_t *)gi_row(on, y) + x, limit = (uint16_t)least;
        for (int i = 0; i < n; i++)
            flags[i] = row[i] >= limit;
    }
}

/* Writes the foreground of row y, which `predicate` defines, as row_words() words. Bits past the
 * width are 0. Returns the number of foreground pixels. */
static inline uint64_t foreground_row(uint64_t *words, const struct gi_predicate *predicate, int y)
{
    int width = predicate->on->width;
    uint64_t count = 0;
    for (int w = 0; w < row_words(width); w++) {
        uint8_t flags[64];
        int x = 64 * w, n = width - x < 64 ? width - x : 64;
        if (n == 64)
            foreground_flags(flags, predicate->on, y, x, 64, predicate->above);
        else
            foreground_flags(flags, predicate->on, y, x, n, predicate->above);
        uint64_t inside = n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
        words[w] = (pack64(flags) ^ (predicate->invert ? UINT64_MAX : 0)) & inside;
        count += (uint64_t)__builtin_popcountll(words[w]);
    }
    return count;
}

/* Writes the positions of the set bits in ascending order, and returns their number. */
static inline size_t bit_positions(uint32_t *x, const uint64_t *words, int nwords)
{
    size_t n = 0;
    for (int w = 0; w < nwords; w++)
        for (uint64_t m = words[w]; m; m &= m - 1)
            x[n++] = 64 * (uint32_t)w + (uint32_t)__builtin_ctzll(m);
    return n;
}

/* How gi_sums quantises float samples. */
struct quantiser {
    double lo, hi, scale;
};

static inline struct quantiser quantiser_make(float lo, float hi)
{
    double span = (double)hi - (double)lo;
    if (!(span > 0) || !isfinite(span))
        return (struct quantiser){0, 0, 0};
    return (struct quantiser){(double)lo, (double)hi, 2147483647.0 / span};
}

/* Returns q, as gi_sums defines it, of a sample that is not NaN. Adding 2^52 rounds half to even
 * and leaves the integer in the low bits. */
static inline uint32_t quantise(float v, const struct quantiser *z)
{
    double d = (double)v < z->lo ? z->lo : (double)v;
    d = d > z->hi ? z->hi : d;
    double shifted = (d - z->lo) * z->scale + 0x1p52;
    uint64_t bits;
    memcpy(&bits, &shifted, 8);
    return (uint32_t)bits;
}

static inline uint32_t float_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}
