/* What the ways to a median share.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_MEDIAN_H
#define GI_KERNELS_CPU_MEDIAN_H

#include "kernels/cpu/convolve/rows.h"

gi_median_takes_fn GI_CPU(median_network_takes);
gi_median_fn GI_CPU(median_network);

/* Floats to numbers that are ordered as they are, NaN above all, and back. */
static inline uint32_t median_key(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u ? UINT32_MAX : gi_float_key(bits);
}

static inline uint32_t median_bits(uint32_t key)
{
    return key == UINT32_MAX ? 0x7fc00000u : gi_float_key_bits(key);
}

#endif
