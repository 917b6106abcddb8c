/* Levels that separate an image's samples into two classes, given or found by Otsu's method.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"
#include "filters/plan.h"
#include "filters/statistics/order.h"

/* Checks that the level is a number or a percentage above 0. The level is the value of an option
 * --`name` that does not take "otsu". Errors: GI_E_USAGE. */
enum gi_status gi_level_check_positive(const struct gi_level *level, const char *name,
                                       struct gi_err *err);

/* Returns the level in sample units. The result is `otsu` for GI_LEVEL_OTSU and 0 for
 * GI_LEVEL_UNSET. */
double gi_level_number(const struct gi_level *level, enum gi_type type, double otsu);

/* Returns the float f for which sample > f is the same as sample > level, for samples of `type`. */
float gi_level_value(const struct gi_level *level, enum gi_type type, double otsu);

/* Returns Otsu's threshold: the bin t that maximises the variance between the classes v <= t and v
 * > t. In a tie it is the lowest such bin (N. Otsu, 1979, IEEE Trans. SMC 9(1)). `counts` has nbins
 * entries. If all counts are in one bin, returns that bin, as scikit-image; without counts returns
 * 0. */
int gi_otsu(const uint64_t *counts, int nbins);

/* The counts for Otsu's threshold, about 1 MB. They must be zeroed before the first band. */
struct gi_level_state {
    enum gi_type type;
    int pass;               /* the pass to which `counts` belongs */
    struct gi_rank ends[2]; /* GI_F32: smallest and largest finite sample, known from pass 2 on; NAN
                               if there is none */
    uint64_t counts[2][65536]; /* [1] only for the second pass of floats */
};

/* The `plan` and `measure` of operations that take levels, for Otsu's threshold. */
void gi_otsu_plan(struct gi_plan *plan);
enum gi_status gi_otsu_measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                               const struct gi_look *look, struct gi_err *err);

/* Called after the last pass. Returns Otsu's threshold as a sample value. For floats this is the
 * centre of its bin, as in scikit-image. Returns 0 if no sample is finite. */
double gi_level_otsu(const struct gi_level_state *state);

/* Runs all passes over `src`, a whole image on the backend. `otsu` may be NULL. lo and hi become
 * the range of the finite samples of GI_F32; they are 0 for other types, and if no sample is
 * finite. Errors: those of alloc and of the primitives. */
enum gi_status gi_level_find(struct gi_queue *queue, double *otsu, float *lo, float *hi,
                             const struct gi_image *src, struct gi_err *err);
