/* Declares the implementations for small windows, which compute the same bits as the general
 * implementations.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/cpu.h"

/* Separable kernels with 3, 5 or 7 taps in each direction. Images with alpha need 4 channels and
 * the rule PLAIN or WEIGH. */
gi_convolve_separable_takes_fn GI_CPU(separable_small_takes);
gi_convolve_separable_fn GI_CPU(separable_small);

/* Operators of 3 x 3 integer weights on 8-bit samples. */
gi_convolve_separable_takes_fn GI_CPU(separable_whole_takes);
gi_convolve_separable_fn GI_CPU(separable_whole);
gi_gradient_magnitude_takes_fn GI_CPU(gradient_magnitude_whole_takes);
gi_gradient_magnitude_fn GI_CPU(gradient_magnitude_whole);

/* Box filters. box_small takes 3 x 3 or 5 x 5. box_weighed takes 8-bit RGBA weighted by alpha, 3 x
 * 3 to 7 x 7. box_narrow takes 8-bit samples with k up to 127. */
gi_box_takes_fn GI_CPU(box_small_takes), GI_CPU(box_weighed_takes), GI_CPU(box_narrow_takes);
gi_box_fn GI_CPU(box_small), GI_CPU(box_weighed), GI_CPU(box_narrow);
