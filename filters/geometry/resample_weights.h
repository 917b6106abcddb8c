/* The filters of resampling and the tables that the primitive `resample` takes, made in double.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_RESAMPLE_WEIGHTS_H
#define GI_FILTERS_RESAMPLE_WEIGHTS_H

#include "filters/plan.h"

enum gi_resample_filter {
    GI_RESAMPLE_NEAREST,
    GI_RESAMPLE_BOX,
    GI_RESAMPLE_TRIANGLE,
    GI_RESAMPLE_HAMMING,
    GI_RESAMPLE_HERMITE,
    GI_RESAMPLE_MITCHELL,
    GI_RESAMPLE_CATROM,
    GI_RESAMPLE_LANCZOS2,
    GI_RESAMPLE_LANCZOS3,
};

/* Where the results of a side lie: the middle of result i is (offset + (2 i + 1) step) / (2 unit)
 * pixels from the source's edge, so that step / unit is the reduction; pixel j of the source
 * reaches from j to j + 1. The products must fit in 64 bits. */
struct gi_resample_places {
    int source, result; /* pixels */
    int64_t offset, step, unit;
};

/* The whole source. */
static inline struct gi_resample_places gi_resample_all(int source, int result)
{
    return (struct gi_resample_places){source, result, 0, source, result};
}

/* `tables->row` and `tables->col` in one block that plan->tables begins with: a struct gi_resample.
 * Its alpha rule is WEIGH, of the nearest filter PLAIN. `like_pillow`: the weights that Pillow
 * computes, as integers too. NULL with `err`: GI_E_MEMORY. */
struct gi_resample *gi_resample_tables(struct gi_plan *plan, enum gi_resample_filter filter,
                                       const struct gi_resample_places *row,
                                       const struct gi_resample_places *col, bool like_pillow,
                                       struct gi_err *err);

#endif
