/* Long sums of products, in blocks of GI_TAPS_BLOCK taps with Kahan's carry, as struct gi_separable
 * defines them.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/simd.h"

/* Adds the sum of the next block to the sum s of the earlier blocks; the carry is 0 at first. */
static inline GI_VEC vec_add_block(GI_VEC s, GI_VEC *carry, GI_VEC block)
{
    GI_VEC y = vec_sub(block, *carry), t = vec_add(s, y), e = vec_sub(vec_sub(t, s), y);
    *carry = vec_if_greater(vec_set(INFINITY), vec_abs(e), e, vec_set(0));
    return t;
}

/* Returns the number of taps in the block that begins at tap `from`. */
static inline int taps_of_block(int ntaps, int from)
{
    return ntaps - from < GI_TAPS_BLOCK ? ntaps - from : GI_TAPS_BLOCK;
}
