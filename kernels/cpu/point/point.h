/* One operation on single pixels, as its rows of samples see it.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_POINT_H
#define GI_KERNELS_CPU_POINT_H

#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/convolve/rows.h"

/* What repeats along a row does so every POINT_BLOCK integer samples, every POINT_GROUP floats:
 * whole pixels of any channel count, and whole vectors. */
enum { POINT_BLOCK = 768, POINT_GROUP = 3 * GI_LANES };

struct point;

/* Makes `pixels` pixels of a row; `other` is `src` where there is one source. `out` is one of them
 * or overlaps neither. */
typedef void point_row_fn(const struct point *op, void *out, const void *src, const void *other,
                          size_t pixels);

struct point {
    struct gi_image *dst;
    const struct gi_image *src, *other;
    point_row_fn *row;
    struct gi_tiling tiling;
    bool keeps;                                    /* alpha stays that of `src` */
    float scale[POINT_GROUP], offset[POINT_GROUP]; /* AFFINE */
    float alpha[POINT_GROUP];                      /* 1 where a sample is an alpha that stays */
    float t;                                       /* BLEND, OUTLIER of floats */
    const void *table[GI_MAX_CHANNELS]; /* TABLE: none is NULL, but of floats that stay */
    bool one_table;                     /* they are the same */
    float above, yes, no;               /* threshold, of floats */
    unsigned low;                       /* of integers: see threshold_set(); OUTLIER: t */
    uint16_t keep[POINT_BLOCK];         /* ~0 where `alpha` would be 1; read as bytes
                                           for bytes */
};

point_row_fn GI_CPU(table_u8), GI_CPU(table_u16), GI_CPU(table_f32);
point_row_fn GI_CPU(luma_u8), GI_CPU(luma_u16), GI_CPU(luma_f32);

#endif
