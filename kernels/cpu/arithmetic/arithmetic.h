/* Declarations that the CPU's implementations of binary arithmetic share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/cpu.h"

enum { ARITHMETIC_ALPHA = 3 }; /* index of alpha among a pixel's four planes */

/* Returns the plane in which channel c of an image is loaded. */
static inline int arithmetic_channel(const struct gi_image *image, int c)
{
    return gi_has_alpha(image) && c == image->channels - 1 ? ARITHMETIC_ALPHA : c;
}

/* Arithmetic, sample by sample, on two images of one type with the same channels, or on an image
 * and a constant. The first way uses integers where these are exact, the second floats. */
gi_arithmetic_fn GI_CPU(arithmetic_by_integers), GI_CPU(arithmetic_by_samples);
gi_arithmetic_takes_fn GI_CPU(arithmetic_by_integers_takes), GI_CPU(arithmetic_by_samples_takes);
