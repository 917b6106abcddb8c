/* Flat morphology: erosion and dilation with a structuring element, and operations composed of
 * them.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_FLAT_H
#define GI_FILTERS_FLAT_H

#include "filters/opacity.h"
#include "filters/option_footprint.h"
#include "kernels/arithmetic.h"
#include "kernels/morphology.h"

struct gi_flat_params {
    struct gi_footprint_params window;
    bool alpha;
    struct gi_border_params border;
};

/* Options for the structuring element, --alpha and the border; operations that subtract have no
 * --alpha. */
extern const struct gi_option gi_flat_options[], gi_flat_difference_options[];

/* For the manuals of operations that dilate. */
#define GI_FLAT_PEERS                                                                              \
    "In the dilation the structuring element is turned by 180 degrees, as in scipy; OpenCV does "  \
    "not turn it. This matters only if a side is even or a --mask changes when it is turned."

/* The tables of a plan, for both halves: eroding by `erode` and dilating the result by `dilate` is
 * the opening. */
struct gi_flat {
    struct gi_min_max erode, dilate;
    struct gi_footprint_run runs[]; /* of the structuring element, for both */
};

/* For the manuals of operations that subtract. */
#define GI_FLAT_DIFFERENCE_ALPHA "Alpha does not change, and fully transparent pixels are ignored."

/* The filters' `plan`, for one of the halves and for both in turn: plan->tables becomes a struct
 * gi_flat. Their `measure` is gi_opacity_measure(). Errors: GI_E_MEMORY; GI_E_USAGE for a
 * structuring element that is too large. */
enum gi_status gi_flat_plan_one(struct gi_plan *plan, struct gi_err *err);
enum gi_status gi_flat_plan_both(struct gi_plan *plan, struct gi_err *err);

/* For the filters' `run`. gi_flat_one: the result is the min or max filter of the source;
 * gi_flat_both: `second` of `first` of the source; gi_flat_pair: the plain `op` of `a` and `b` of
 * the source, of alpha too where `alpha`. Fully transparent pixels are ignored (filters/opacity.h).
 * Intermediate images are allocated and released here. Errors: those of the primitives. */
enum gi_status gi_flat_one(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, const struct gi_min_max *spec,
                           struct gi_err *err);
enum gi_status gi_flat_both(const struct gi_plan *plan, struct gi_queue *queue,
                            const struct gi_work *work, const struct gi_min_max *first,
                            const struct gi_min_max *second, struct gi_err *err);
enum gi_status gi_flat_pair(const struct gi_plan *plan, struct gi_queue *queue,
                            const struct gi_work *work, const struct gi_min_max *a,
                            const struct gi_min_max *b, enum gi_arithmetic_op op, bool alpha,
                            struct gi_err *err);

/* dst = a - b, alpha from `a`; either may be `dst`. Errors: those of the primitive. */
enum gi_status gi_flat_subtract(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *a, const struct gi_image *b,
                                struct gi_err *err);

#endif
