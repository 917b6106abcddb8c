/* Sum, minimum and maximum of the samples that a mask selects among 64 samples.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/bit_rows.h"
#if !GI_LEVEL_scalar
#include "kernels/cpu/common/bytes.h"
#endif

enum { NAN_Q = -1 }; /* q of a float that is not counted */

/* As in gi_region_sums. */
struct values {
    uint64_t n, q, low, high;
    uint32_t min, max;
};

static inline void add_value(struct values *v, uint32_t q, uint32_t key, const bool is_float)
{
    uint32_t counted = is_float ? q != (uint32_t)NAN_Q : 1;
    q = counted ? q : 0;
    uint64_t square = (uint64_t)q * q;
    v->n += counted;
    v->q += q;
    v->low += (uint32_t)square;
    v->high += is_float ? square >> 32 : 0; /* 65535^2 is below 2^32 */
    v->min = counted && key < v->min ? key : v->min;
    v->max = counted && key > v->max ? key : v->max;
}

static inline struct values sum_samples(const uint32_t *q, const uint32_t *key, uint64_t pixels,
                                        const bool is_float)
{
    struct values v = {.min = UINT32_MAX};
    if (pixels == UINT64_MAX)
        for (int i = 0; i < 64; i++)
            add_value(&v, q[i], key[i], is_float);
    else
        for (; pixels; pixels &= pixels - 1) {
            int i = __builtin_ctzll(pixels);
            add_value(&v, q[i], key[i], is_float);
        }
    return v;
}

#if GI_LEVEL_scalar

static inline struct values sum_bytes(const uint8_t *p, uint64_t pixels)
{
    struct values v = {.min = UINT32_MAX};
    for (; pixels; pixels &= pixels - 1) {
        uint32_t q = p[__builtin_ctzll(pixels)];
        add_value(&v, q, q, false);
    }
    return v;
}

#else

static inline struct values sum_bytes(const uint8_t *p, uint64_t pixels)
{
    enum { VECTOR = sizeof(GI_INTS) };
    GI_INTS sums = ints_set(0), squares = sums, least = ints_set(UINT32_MAX), most = least;
    for (int i = 0; i < 64; i += VECTOR) {
        GI_INTS mask = bytes_of_bits(pixels >> i), v = load_bytes(p + i), in = both(v, mask);
        sums = add_wide(sums, sums_of_bytes(in));
        squares = ints_add(squares, squares_of_bytes(in));
        least = least_bytes(least, either(v, opposite(mask)));
        most = least_bytes(most, opposite(in));
    }
    return (struct values){.n = (uint64_t)__builtin_popcountll(pixels),
                           .q = wide_total(sums),
                           .low = wide_total(wide_sums(squares)),
                           .min = least_byte(least),
                           .max = 255 - least_byte(most)};
}

#endif
