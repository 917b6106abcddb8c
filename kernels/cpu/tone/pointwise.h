/* A pointwise operation, as an argument of the functions that process rows of samples.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolution/padded_rows.h"

/* Values per channel are repeated along a row with a period of POINTWISE_BLOCK integer samples or
 * POINTWISE_GROUP floats. Both are whole vectors and, for every number of channels, whole
 * pixels. */
enum { POINTWISE_BLOCK = 768, POINTWISE_GROUP = 3 * GI_LANES };

struct pointwise;

/* Computes `pixels` pixels of a row. `out` is `src`, or does not overlap it. */
typedef void pointwise_row_fn(const struct pointwise *op, void *out, const void *src,
                              size_t pixels);

struct pointwise {
    struct gi_image *dst;
    const struct gi_image *src;
    pointwise_row_fn *row;
    struct gi_tiling tiling;
    bool keeps;                                            /* alpha is copied from `src` */
    float scale[POINTWISE_GROUP], offset[POINTWISE_GROUP]; /* AFFINE */
    float alpha[POINTWISE_GROUP];       /* 1 for samples that are alpha to be copied, else 0 */
    const void *table[GI_MAX_CHANNELS]; /* TABLE: NULL for a float channel that is unchanged */
    bool one_table;                     /* all tables are the same */
    float above, yes, no;               /* threshold of floats */
    unsigned low;                       /* threshold of integers, see threshold_set() */
    uint16_t keep[POINTWISE_BLOCK]; /* ~0 for samples that are alpha to be copied; for 8-bit samples
                                       read as bytes */
};

pointwise_row_fn GI_CPU(table_u8), GI_CPU(table_u16), GI_CPU(table_f32);
pointwise_row_fn GI_CPU(luma_u8), GI_CPU(luma_u16), GI_CPU(luma_f32);
gi_luma_fn GI_CPU(luma_by_groups);
