/* Erosion and dilation with a structuring element, flat or with heights, and operations that
 * combine erosion and dilation.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/opacity.h"
#include "filters/option_footprint.h"
#include "kernels/arithmetic.h"
#include "kernels/morphology.h"

struct gi_flat_params {
    struct gi_footprint_params window;
    const char *heights; /* rows of numbers; NULL: flat */
    struct gi_reals origin;
    bool alpha;
    struct gi_border_params border;
};

/* Option rows for the structuring element, its origin, --alpha and the border. Operations that
 * subtract use gi_flat_difference_options, in which --alpha is missing. */
extern const struct gi_option gi_flat_options[], gi_flat_difference_options[];
extern const struct gi_option gi_flat_midpoint_options[]; /* without --heights */

/* A paragraph for the manuals of operations that dilate. */
#define GI_FLAT_PEERS                                                                              \
    "In the dilation the structuring element is turned by 180 degrees, as in scipy; OpenCV does "  \
    "not turn it. This matters only if a side is even, if a --mask changes when it is turned, or " \
    "with --origin, which is turned too."

/* A paragraph about --heights for manuals. */
#define GI_FLAT_HEIGHTS_MANUAL                                                                     \
    "--heights gives each pixel of the structuring element a height in sample values: rows of "    \
    "numbers of either sign, with at most 501 on a side. An erosion subtracts the heights from "   \
    "the samples before it takes the minimum, and a dilation adds them before it takes the "       \
    "maximum (non-flat morphology). With --mask, which must have the same sides, only pixels "     \
    "inside the mask count. Sums are computed in float32. In 8 and 16 bits the result of each "    \
    "erosion and dilation is rounded and limited to the range of the type. The results are those " \
    "of scipy with structure, except that scipy's integers wrap around. The time grows with the "  \
    "number of pixels."

/* An erosion or dilation. */
struct gi_flat_filter {
    struct gi_min_max flat;
    const float *heights; /* of its runs, as in struct gi_nonflat; NULL: it is flat */
};

/* The tables of a plan. An opening runs `erode` on the image, and then `dilate` on the result. */
struct gi_flat {
    struct gi_flat_filter erode, dilate;
    /* Runs of the structuring element for `erode`, then those for `dilate`. The heights of both, if
     * there are any, follow. */
    struct gi_footprint_run runs[];
};

/* A sentence for the manuals of operations that subtract. */
#define GI_FLAT_DIFFERENCE_ALPHA "Alpha does not change, and fully transparent pixels are ignored."

/* gi_flat_plan_one is the `plan` of operations that erode or dilate once. gi_flat_plan_both is the
 * `plan` of operations that do both, one after the other. plan->tables becomes a struct gi_flat.
 * The `measure` of these operations is gi_opacity_measure(). Errors: GI_E_MEMORY; GI_E_USAGE if the
 * structuring element is too large. */
enum gi_status gi_flat_plan_one(struct gi_plan *plan, struct gi_err *err);
enum gi_status gi_flat_plan_both(struct gi_plan *plan, struct gi_err *err);

/* The `check` of these operations. */
enum gi_status gi_flat_check(void *params, struct gi_err *err);

/* The members that their rows share. `run` is a function of the operation's file. */
#define GI_FLAT_ROW(option_rows, plan_function)                                                    \
    .options = option_rows, .params_nbytes = sizeof(struct gi_flat_params),                        \
    .check = gi_flat_check, .plan = plan_function, .run = run, .measure = gi_opacity_measure

/* Called by the operations' `run`. gi_flat_one applies `filter` to the source.
 * gi_flat_both applies `first` to the source, and then `second` to the result. gi_flat_pair applies
 * `a` and `b` to the source, and combines both results by the plain `op`. If `alpha` is set, their
 * alphas are combined, too. Fully transparent pixels are ignored (filters/opacity.h). Intermediate
 * images are allocated and released here. Errors: those of the primitives. */
enum gi_status gi_flat_one(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, const struct gi_flat_filter *filter,
                           struct gi_err *err);
enum gi_status gi_flat_both(const struct gi_plan *plan, struct gi_queue *queue,
                            const struct gi_work *work, const struct gi_flat_filter *first,
                            const struct gi_flat_filter *second, struct gi_err *err);
enum gi_status gi_flat_pair(const struct gi_plan *plan, struct gi_queue *queue,
                            const struct gi_work *work, const struct gi_flat_filter *a,
                            const struct gi_flat_filter *b, enum gi_arithmetic_op op, bool alpha,
                            struct gi_err *err);

/* Computes dst = a - b, with the alpha of `a`. `dst` may be `a` or `b`. Errors: those of the
 * primitive. */
enum gi_status gi_flat_subtract(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *a, const struct gi_image *b,
                                struct gi_err *err);
