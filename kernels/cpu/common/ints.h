/* Vectors of unsigned 32-bit integers, for box filters, sums and regions.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/simd.h"

/* GI_INTS holds GI_LANES uint32_t; sums wrap around. Stored values must fit in the stored type.
 *   ints_prefix        lane i becomes the sum of the lanes i, i - step, i - 2 * step ... of v
 *   ints_spread        lane i becomes the last lane of v whose number is congruent to i modulo step
 *   ints_scale         v * factor + 0.5 in double, truncated
 *   ints_scale_float   v * factor in float, rounded half to even; v < 2^24
 *   ints_weigh         pixels of 2 or 4 channels: colours times alpha, all below 256
 *   ints_weighed_mean  (2 S + A) / (2 A), truncated, or 0 if A is 0, for sums S of weighed colours
 *                      and A of alpha, below 2^31; takes alpha from `alpha`
 *
 * Lanes can be pairs of 16-bit integers. ints_load_changes loads p[reach + i] - p[i], signed, for
 * 2 * GI_LANES values of i. ints_pair_sums adds the two integers of each lane; ints_pair_firsts
 * takes the first ones. ints_store_pairs_u8 stores even[0], odd[0], even[1], ... */

#if GI_LEVEL_avx512
#include "kernels/cpu/common/ints_avx512.h"
#elif GI_LEVEL_avx2
#include "kernels/cpu/common/ints_avx2.h"
#elif GI_LEVEL_neon
#include "kernels/cpu/common/ints_neon.h"
#else
#include "kernels/cpu/common/ints_scalar.h"
#endif
