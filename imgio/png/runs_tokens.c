/* Divides bytes into literals and runs, for the PNG coder "runs".
 * SPDX-License-Identifier: MIT */
#include "imgio/png/runs_tokens.h"

#include <endian.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#elif defined __aarch64__
#include <arm_neon.h>
#endif

enum { GROUP = 64 }; /* bytes whose comparisons are the bits of a word */

/* Returns a word whose bit i is set if p[i] equals p[i - 1]. */
static inline uint64_t equal_group(const uint8_t *p)
{
    uint64_t equal = 0;
#ifdef __SSE2__
    for (int i = 0; i < GROUP; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(p + i));
        __m128i before = _mm_loadu_si128((const __m128i *)(p + i - 1));
        equal |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, before)) << i;
    }
#else
    /* The highest bit of each byte of `zero` is set if the byte of `d` is 0. The product moves the
     * eight bits into one byte. */
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;
    for (int i = 0; i < GROUP; i += 8) {
        uint64_t v, before;
        memcpy(&v, p + i, sizeof v);
        memcpy(&before, p + i - 1, sizeof before);
        uint64_t d = le64toh(v) ^ le64toh(before), zero = ~(((d & low) + low) | d | low);
        equal |= ((zero >> 7) * 0x0102040810204080) >> 56 << i;
    }
#endif
    return equal;
}

/* Returns the comparisons of the group at `at`, without those of the first byte and of bytes from n
 * on. */
static inline uint64_t equal_at(const uint8_t *p, size_t at, size_t n)
{
    if (at && at + GROUP <= n)
        return equal_group(p + at);
    uint64_t equal = 0;
    for (size_t i = at ? at : 1; i < n && i < at + GROUP; i++)
        equal |= (uint64_t)(p[i] == p[i - 1]) << (i - at);
    return equal;
}

/* Returns the first index from `at` on, at most n, whose byte differs from the byte before it. */
static size_t run_end(const uint8_t *p, size_t at, size_t n)
{
    uint64_t same = p[at - 1] * 0x0101010101010101u, v;
    for (; at + 8 <= n; at += 8) {
        memcpy(&v, p + at, sizeof v);
        uint64_t d = le64toh(v) ^ same;
        if (d)
            return at + (size_t)__builtin_ctzll(d) / 8;
    }
    while (at < n && p[at] == p[at - 1])
        at++;
    return at;
}

/* Appends p[at] to p[end - 1] as literals, and returns the end of the tokens. May store 16 tokens
 * more. */
static inline uint16_t *put_literals(uint16_t *to, const uint8_t *p, size_t at, size_t end,
                                     size_t n)
{
    uint16_t *after = to + (end - at);
    for (; at < end && at + 16 <= n; at += 16, to += 16) {
#ifdef __SSE2__
        __m128i v = _mm_loadu_si128((const __m128i *)(p + at)), zero = _mm_setzero_si128();
        _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi8(v, zero));
        _mm_storeu_si128((__m128i *)(to + 8), _mm_unpackhi_epi8(v, zero));
#elif defined __aarch64__
        uint8x16_t v = vld1q_u8(p + at);
        vst1q_u16(to, vmovl_u8(vget_low_u8(v)));
        vst1q_u16(to + 8, vmovl_u8(vget_high_u8(v)));
#else
        for (int i = 0; i < 16; i++)
            to[i] = p[at + (size_t)i];
#endif
    }
    while (at < end)
        *to++ = p[at++];
    return after;
}

static inline uint16_t *put_run(uint16_t *to, uint8_t byte, size_t length)
{
    while (length >= GI_RUNS_LEAST) {
        size_t n = length < GI_RUNS_MOST ? length : GI_RUNS_MOST;
        *to++ = (uint16_t)(256 + n - 3);
        length -= n;
    }
    while (length--)
        *to++ = byte;
    return to;
}

size_t gi_runs_tokens(uint16_t *tokens, const uint8_t *p, size_t n)
{
    uint16_t *to = tokens;
    size_t done = 0;
    uint64_t equal, next = equal_at(p, 0, n);
    for (size_t at = 0; at < n; at += GROUP) {
        equal = next;
        next = equal_at(p, at + GROUP, n);
        uint64_t two = equal & (equal >> 1 | next << 63);
        uint64_t next_two = next & next >> 1;
        uint64_t runs = two & (two >> 2 | next_two << 62) & (equal >> 4 | next << 60);
        if (done >= at + GROUP)
            continue;
        if (done > at)
            runs = runs >> (done - at) << (done - at);
        while (runs) {
            /* The first bit is the beginning of a run, because all bits of runs before are gone. */
            size_t from = at + (size_t)__builtin_ctzll(runs);
            uint64_t others = ~equal >> (from - at);
            size_t end =
                others ? from + (size_t)__builtin_ctzll(others) : run_end(p, at + GROUP, n);
            to = put_literals(to, p, done, from, n);
            to = put_run(to, p[from], end - from);
            done = end;
            if (end >= at + GROUP)
                break;
            runs = runs >> (end - at) << (end - at);
        }
    }
    return (size_t)(put_literals(to, p, done, n, n) - tokens);
}
