/* Integer keys of samples, of which the implementations of min and max filters choose the minimum
 * or the maximum.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/morphology.h"

gi_min_max_takes_fn GI_CPU(min_max_runs_takes);
gi_min_max_fn GI_CPU(min_max_runs);

/* Sets kept[i] to the minimum (maximum) of a[i], b[i] and, if `more`, kept[i]. */
typedef void min_max_fold_fn(void *kept, const void *a, const void *b, size_t n, bool more);

/* Sets to[i] to the minimum (maximum) of a[i], b[i] and c[i]. */
typedef void min_max_three_fn(void *to, const void *a, const void *b, const void *c, size_t n);

#define MIN_MAX_FOLD(name, type, is)                                                               \
    static void name(void *kept, const void *a, const void *b, size_t n, bool more)                \
    {                                                                                              \
        type *restrict to = kept;                                                                  \
        const type *one = a, *other = b;                                                           \
        if (!more)                                                                                 \
            for (size_t i = 0; i < n; i++)                                                         \
                to[i] = one[i] is other[i] ? one[i] : other[i];                                    \
        else                                                                                       \
            for (size_t i = 0; i < n; i++) {                                                       \
                type best = one[i] is other[i] ? one[i] : other[i];                                \
                to[i] = best is to[i] ? best : to[i];                                              \
            }                                                                                      \
    }

MIN_MAX_FOLD(less_1, uint8_t, <)
MIN_MAX_FOLD(less_2, uint16_t, <)
MIN_MAX_FOLD(less_4, uint32_t, <)
MIN_MAX_FOLD(more_1, uint8_t, >)
MIN_MAX_FOLD(more_2, uint16_t, >)
MIN_MAX_FOLD(more_4, uint32_t, >)

/* For minima and maxima, by the size of a sample or key. */
static min_max_fold_fn *const min_max_folds[2][3] = {{less_1, less_2, less_4},
                                                     {more_1, more_2, more_4}};

/* Returns the size of a buffer in whole cache lines, with room for a vector behind `nbytes`. */
static inline size_t min_max_round_up(size_t nbytes)
{
    return (nbytes + 127) / 64 * 64;
}

/* Convert floats to integers of the same order, and back. `nan` is the key of NaN, which is chosen
 * before all others. */
static inline uint32_t min_max_nan(const struct gi_min_max *spec)
{
    return spec->greatest ? UINT32_MAX : 0;
}

static inline void min_max_keys(uint32_t *restrict keys, const uint32_t *bits, size_t n,
                                uint32_t nan)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = (bits[i] & 0x7fffffffu) > 0x7f800000u ? nan : gi_float_key(bits[i]);
}

static inline void min_max_bits(uint32_t *restrict bits, const uint32_t *keys, size_t n,
                                uint32_t nan)
{
    for (size_t i = 0; i < n; i++)
        bits[i] = keys[i] == nan ? 0x7fc00000u : gi_float_key_bits(keys[i]);
}
