/* Declares the implementations for small windows, which give the same bits as the general ones.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_SMALL_KERNELS_H
#define GI_KERNELS_CPU_SMALL_KERNELS_H

#include "kernels/cpu/cpu.h"

/* 3, 5 or 7 taps in each direction. With alpha: 4 channels, rule PLAIN or WEIGH. */
gi_convolve_separable_takes_fn GI_CPU(separable_small_takes);
gi_convolve_separable_fn GI_CPU(separable_small);

/* 3 x 3 operators with integer weights on 8-bit samples. */
gi_convolve_separable_takes_fn GI_CPU(separable_whole_takes);
gi_convolve_separable_fn GI_CPU(separable_whole);
gi_gradient_magnitude_takes_fn GI_CPU(gradient_magnitude_whole_takes);
gi_gradient_magnitude_fn GI_CPU(gradient_magnitude_whole);

/* Box filters. `small`: 3 x 3 or 5 x 5, for 8 bits also 7 x 7; `weighed`: 8-bit RGBA weighted by
 * alpha, 3 x 3 to 7 x 7; `narrow`: 8-bit samples with k up to 127. */
gi_box_takes_fn GI_CPU(box_small_takes), GI_CPU(box_weighed_takes), GI_CPU(box_narrow_takes);
gi_box_fn GI_CPU(box_small), GI_CPU(box_weighed), GI_CPU(box_narrow);

#endif
