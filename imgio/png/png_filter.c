/* PNG's five row filters (PNG 1.2, section 6). The loops of single filters have a form that the
 * compiler can vectorise.
 * SPDX-License-Identifier: MIT */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* -O2 vectorises no loop of unknown length */
#endif

#include "imgio/coded.h"
#include "imgio/png/png_filter.h"

#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#elif defined __aarch64__
#include <arm_neon.h>
#endif

#ifdef __x86_64__

typedef uint8_t bytes_16 __attribute__((vector_size(16)));
typedef uint8_t bytes_32 __attribute__((vector_size(32)));

static inline __m128i add_sizes_16(__m128i sums, bytes_16 v)
{
    /* |v| is the distance of v + 128 from 128, both read as unsigned numbers. */
    const bytes_16 middle = (bytes_16){0} + 128;
    return _mm_add_epi64(sums, _mm_sad_epu8((__m128i)(v ^ middle), (__m128i)middle));
}

static inline uint64_t total_16(__m128i sums)
{
    return (uint64_t)sums[0] + (uint64_t)sums[1];
}

#define NAME(name) name##_16
#define TARGET
#define BYTES        bytes_16
#define MIN(a, b)    (bytes_16) _mm_min_epu8((__m128i)(a), (__m128i)(b))
#define MAX(a, b)    (bytes_16) _mm_max_epu8((__m128i)(a), (__m128i)(b))
#define MEAN(a, b)   (bytes_16) _mm_avg_epu8((__m128i)(a), (__m128i)(b))
#define SUMS         __m128i
#define ADD(sums, v) sums = add_sizes_16(sums, v)
#define TOTAL(sums)  total_16(sums)
#include "imgio/png/filter_costs.h"

__attribute__((target("avx2"))) static inline __m256i add_sizes_32(__m256i sums, bytes_32 v)
{
    const bytes_32 middle = (bytes_32){0} + 128;
    return _mm256_add_epi64(sums, _mm256_sad_epu8((__m256i)(v ^ middle), (__m256i)middle));
}

__attribute__((target("avx2"))) static inline uint64_t total_32(__m256i sums)
{
    return (uint64_t)sums[0] + (uint64_t)sums[1] + (uint64_t)sums[2] + (uint64_t)sums[3];
}

#define NAME(name)   name##_32
#define TARGET       __attribute__((target("avx2")))
#define BYTES        bytes_32
#define MIN(a, b)    (bytes_32) _mm256_min_epu8((__m256i)(a), (__m256i)(b))
#define MAX(a, b)    (bytes_32) _mm256_max_epu8((__m256i)(a), (__m256i)(b))
#define MEAN(a, b)   (bytes_32) _mm256_avg_epu8((__m256i)(a), (__m256i)(b))
#define SUMS         __m256i
#define ADD(sums, v) sums = add_sizes_32(sums, v)
#define TOTAL(sums)  total_32(sums)
#include "imgio/png/filter_costs.h"

#elif defined __aarch64__

static inline uint64x2_t add_sizes_16(uint64x2_t sums, uint8x16_t v)
{
    uint8x16_t sizes = vreinterpretq_u8_s8(vabsq_s8(vreinterpretq_s8_u8(v)));
    return vpadalq_u32(sums, vpaddlq_u16(vpaddlq_u8(sizes)));
}

#define NAME(name) name##_16
#define TARGET
#define BYTES        uint8x16_t
#define MIN(a, b)    vminq_u8(a, b)
#define MAX(a, b)    vmaxq_u8(a, b)
#define MEAN(a, b)   vrhaddq_u8(a, b)
#define SUMS         uint64x2_t
#define ADD(sums, v) sums = add_sizes_16(sums, v)
#define TOTAL(sums)  vaddvq_u64(sums)
#include "imgio/png/filter_costs.h"

#endif

bool gi_png_has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

static uint8_t paeth(int left, int up, int corner)
{
    int to_left = up - corner, to_up = left - corner, to_corner = to_left + to_up;
    to_left = to_left < 0 ? -to_left : to_left;
    to_up = to_up < 0 ? -to_up : to_up;
    to_corner = to_corner < 0 ? -to_corner : to_corner;
    if (to_left <= to_up && to_left <= to_corner)
        return (uint8_t)left;
    return (uint8_t)(to_up <= to_corner ? up : corner);
}

/* Returns byte i of a row after the filter. The pixel to the left of the first pixel is 0. */
static uint8_t filter_byte(int kind, const uint8_t *row, const uint8_t *above, size_t i, size_t bpp)
{
    int left = i < bpp ? 0 : row[i - bpp], up = above[i], corner = i < bpp ? 0 : above[i - bpp];
    int predicted = kind == GI_PNG_NONE      ? 0
                    : kind == GI_PNG_SUB     ? left
                    : kind == GI_PNG_UP      ? up
                    : kind == GI_PNG_AVERAGE ? (left + up) / 2
                                             : paeth(left, up, corner);
    return (uint8_t)(row[i] - predicted);
}

/* Adds the costs of bytes `from` to `to` - 1, and writes the bytes of GI_PNG_PAETH to `out`. */
static void add_costs(uint64_t *costs, uint8_t *out, const uint8_t *row, const uint8_t *above,
                      size_t from, size_t to, size_t bpp)
{
    for (size_t i = from; i < to; i++)
        for (int kind = GI_PNG_NONE; kind < GI_PNG_FILTERS; kind++) {
            out[i] = filter_byte(kind, row, above, i, bpp);
            costs[kind] += (uint64_t)(out[i] < 128 ? out[i] : 256 - out[i]);
        }
}

static void filter_sub(uint8_t *restrict out, const uint8_t *restrict row, size_t n, size_t bpp)
{
    memcpy(out, row, bpp);
    for (size_t i = bpp; i < n; i++)
        out[i] = (uint8_t)(row[i] - row[i - bpp]);
}

static void filter_up(uint8_t *restrict out, const uint8_t *restrict row,
                      const uint8_t *restrict above, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(row[i] - above[i]);
}

static void filter_average(uint8_t *restrict out, const uint8_t *restrict row,
                           const uint8_t *restrict above, size_t n, size_t bpp)
{
    for (size_t i = 0; i < bpp; i++)
        out[i] = (uint8_t)(row[i] - (above[i] >> 1));
    for (size_t i = bpp; i < n; i++)
        out[i] = (uint8_t)(row[i] - ((row[i - bpp] + above[i]) >> 1));
}

/* Sets the costs of all filters, and writes the bytes of GI_PNG_PAETH to `out`. */
static void measure(uint64_t *costs, uint8_t *out, const uint8_t *row, const uint8_t *above,
                    size_t n, size_t bpp, bool avx2)
{
    size_t done = bpp;
    add_costs(costs, out, row, above, 0, bpp, bpp);
#ifdef __x86_64__
    if (avx2)
        done = costs_32(costs, out, row, above, done, n, bpp);
    done = costs_16(costs, out, row, above, done, n, bpp);
#elif defined __aarch64__
    done = costs_16(costs, out, row, above, done, n, bpp);
#endif
    add_costs(costs, out, row, above, done, n, bpp);
}

void gi_png_filter_row(uint8_t *out, const uint8_t *row, const uint8_t *above, size_t nbytes,
                       size_t bpp, bool avx2)
{
    uint64_t costs[GI_PNG_FILTERS] = {0};
    measure(costs, out + 1, row, above, nbytes, bpp, avx2);
    int best = GI_PNG_PAETH;
    for (int kind = GI_PNG_PAETH - 1; kind >= GI_PNG_NONE; kind--)
        if (costs[kind] < costs[best])
            best = kind;
    out[0] = (uint8_t)best;
    if (best == GI_PNG_NONE)
        memcpy(out + 1, row, nbytes);
    else if (best == GI_PNG_SUB)
        filter_sub(out + 1, row, nbytes, bpp);
    else if (best == GI_PNG_UP)
        filter_up(out + 1, row, above, nbytes);
    else if (best == GI_PNG_AVERAGE)
        filter_average(out + 1, row, above, nbytes, bpp);
}
