/* Vectors of unsigned 32-bit integers, for box filters, sums and regions.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_INTS_H
#define GI_KERNELS_CPU_INTS_H

#include "kernels/cpu/common/simd.h"

/* GI_INTS holds GI_LANES uint32_t; sums wrap around. ints_prefix gives each lane the sum of itself
 * and the lanes `step`, 2 * `step`, ... below it; ints_spread gives lane i the value of the last
 * lane of v at a multiple of `step` before it, if v were repeated. ints_scale is v * factor + 0.5
 * in double, truncated; ints_scale_float, for v < 2^24, is v * factor in float, rounded half to
 * even. ints_weigh multiplies the colours of pixels of 2 or 4 channels by their alpha, all below
 * 256; ints_weighed_mean gives (2 S + A) / (2 A), truncated, of such sums, where S is a colour and
 * A the alpha, below 2^31, and 0 where A is 0; it takes alpha from `alpha`. The stores take values
 * that fit in the stored type.
 *
 * For pairs of 16-bit integers in a lane: ints_load_changes gives p[reach + i] - p[i], signed, for
 * 2 * GI_LANES i; ints_pair_sums adds the two of each lane; ints_pair_firsts gives the first of
 * each. ints_store_pairs_u8 stores even[0], odd[0], even[1], ... */

#if GI_LEVEL_avx512
#include "kernels/cpu/common/ints_avx512.h"
#elif GI_LEVEL_avx2
#include "kernels/cpu/common/ints_avx2.h"
#elif GI_LEVEL_neon
#include "kernels/cpu/common/ints_neon.h"
#else
#include "kernels/cpu/common/ints_scalar.h"
#endif

#endif
