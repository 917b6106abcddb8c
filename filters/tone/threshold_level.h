/* Levels that separate an image's samples into classes, given or found by a method of automatic
 * thresholding.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"
#include "filters/plan.h"
#include "filters/statistics/order.h"
#include "filters/tone/auto_threshold.h"

/* Checks that the level is a number or a percentage above 0. The level is the value of an option
 * --`name` that does not take methods. Errors: GI_E_USAGE. */
enum gi_status gi_level_check_positive(const struct gi_level *level, const char *name,
                                       struct gi_err *err);

/* Returns the level in sample units. The result is 0 for GI_LEVEL_AUTO and GI_LEVEL_UNSET. */
double gi_level_number(const struct gi_level *level, enum gi_type type);

/* Returns the float f for which sample > f is the same as sample > level, for samples of `type`. */
float gi_level_value(double level, enum gi_type type);

/* The counts for automatic thresholds, about 1 MB. They must be zeroed before the first band. */
struct gi_level_state {
    enum gi_type type;
    int pass;               /* the pass to which `counts` belongs */
    struct gi_rank ends[2]; /* GI_F32: smallest and largest finite sample, known from pass 2 on; NAN
                               if there is none */
    struct gi_sums sums;    /* GI_F32: of the finite samples, after pass 3 */
    uint64_t counts[2][65536]; /* [1] only for the second pass of floats */
};

/* Called by the `plan` of an operation for each level that it takes. Sets the passes that the level
 * needs, for which gi_level_measure() is the operation's `measure`. */
void gi_level_plan(struct gi_plan *plan, const struct gi_level *level);
enum gi_status gi_level_measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                                const struct gi_look *look, struct gi_err *err);

/* Called after the last pass. Sets *value to the level in sample units. For floats automatic
 * thresholds come from 256 bins between the smallest and the largest finite sample, and are mostly
 * the centre of a bin, as in scikit-image, but the mean is that of the samples. The threshold is 0
 * if no sample is finite. `state` may be NULL if the level is a number. Errors: GI_E_UNSUPPORTED if
 * the method finds no threshold. */
enum gi_status gi_level_resolve(double *value, const struct gi_level *level, enum gi_type type,
                                const struct gi_level_state *state, struct gi_err *err);

/* As gi_multi_otsu(), after the last pass for Otsu's method. */
void gi_level_multi_otsu(double *levels, int classes, const struct gi_level_state *state);

/* Sets *above so that samples above the level are those > *above, in a whole image on the backend.
 * The level may be automatic. Errors: as gi_level_find(). */
enum gi_status gi_level_above(struct gi_queue *queue, float *above, const struct gi_level *level,
                              const struct gi_image *src, struct gi_err *err);

/* Runs all passes over `src`, a whole image on the backend. Sets *value as gi_level_resolve();
 * `level` and `value` may be NULL. lo and hi become the range of the finite samples of GI_F32; they
 * are 0 for other types, and if no sample is finite. Errors: those of alloc, of the primitives and
 * of gi_level_resolve(). */
enum gi_status gi_level_find(struct gi_queue *queue, double *value, const struct gi_level *level,
                             float *lo, float *hi, const struct gi_image *src, struct gi_err *err);
