/* The filters of resampling, and the tables of weights for the primitive `resample`, computed in
 * double precision.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_RESAMPLE_WEIGHTS_H
#define GI_FILTERS_RESAMPLE_WEIGHTS_H

#include "filters/plan.h"
#include "kernels/geometry.h"

enum gi_resample_filter {
    GI_RESAMPLE_NEAREST,
    GI_RESAMPLE_BOX,
    GI_RESAMPLE_AREA,
    GI_RESAMPLE_TRIANGLE,
    GI_RESAMPLE_HAMMING,
    GI_RESAMPLE_HERMITE,
    GI_RESAMPLE_MITCHELL,
    GI_RESAMPLE_CATROM,
    GI_RESAMPLE_LANCZOS2,
    GI_RESAMPLE_LANCZOS3,
};

/* Positions of the results along a side, in source pixels. The centre of result i is at (offset +
 * (2 i + 1) step) / (2 unit), so step / unit is the reduction factor. Source pixel j extends from j
 * to j + 1. The products must fit in 64 bits. */
struct gi_resample_places {
    int source, result; /* pixels */
    int64_t offset, step, unit;
};

/* Returns positions that map the whole source to the whole result. */
static inline struct gi_resample_places gi_resample_all(int source, int result)
{
    return (struct gi_resample_places){source, result, 0, source, result};
}

/* Makes tables->row and tables->col in one block at the beginning of plan->tables, and returns the
 * block as a struct gi_resample. The alpha rule is PLAIN for the nearest filter and WEIGH for all
 * others. If `like_pillow` is set, computes weights as Pillow does, also as integers. If memory
 * runs out, returns NULL and sets `err` to GI_E_MEMORY. */
struct gi_resample *gi_resample_tables(struct gi_plan *plan, enum gi_resample_filter filter,
                                       const struct gi_resample_places *row,
                                       const struct gi_resample_places *col, bool like_pillow,
                                       struct gi_err *err);

#endif
