/* Integer keys of samples, of which the implementations of min and max filters choose the minimum
 * or the maximum.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/morphology.h"

gi_min_max_takes_fn GI_CPU(min_max_runs_takes);
gi_min_max_fn GI_CPU(min_max_runs);

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
