/* Shared by the CPU's implementations of binary arithmetic.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_COMBINE_H
#define GI_KERNELS_CPU_COMBINE_H

#include "kernels/cpu/cpu.h"

enum { COMBINE_ALPHA = 3 }; /* index of alpha among a pixel's four planes */

/* Returns the plane of channel c of an image. */
static inline int combine_channel(const struct gi_image *image, int c)
{
    return gi_has_alpha(image) && c == image->channels - 1 ? COMBINE_ALPHA : c;
}

/* Arithmetic on images of one type and the same channels, sample by sample. */
gi_combine_fn GI_CPU(combine_by_samples);
gi_combine_takes_fn GI_CPU(combine_by_samples_takes);

#endif
