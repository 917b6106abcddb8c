/* Flat morphology: erosion and dilation with a structuring element, and operations that combine
 * these.
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

/* Options for the structuring element, --alpha and the border; operations that subtract lack
 * --alpha. */
extern const struct gi_option gi_flat_options[], gi_flat_difference_options[];

/* A paragraph for the manuals of operations that dilate. */
#define GI_FLAT_PEERS                                                                              \
    "In the dilation the structuring element is turned by 180 degrees, as in scipy; OpenCV does "  \
    "not turn it. This matters only if a side is even or a --mask changes when it is turned."

/* The tables of a plan: `erode` and `dilate` are the two halves of an opening (eroding by one, then
 * dilating the result by the other). */
struct gi_flat {
    struct gi_min_max erode, dilate;
    struct gi_footprint_run runs[]; /* of the structuring element, for both */
};

/* A sentence for the manuals of operations that subtract. */
#define GI_FLAT_DIFFERENCE_ALPHA "Alpha does not change, and fully transparent pixels are ignored."

/* The `plan` of operations that erode or dilate once, and of operations that do both, one after the
 * other. plan->tables becomes a struct gi_flat. Their `measure` is gi_opacity_measure(). Errors:
 * GI_E_MEMORY; GI_E_USAGE if the structuring element is too large. */
enum gi_status gi_flat_plan_one(struct gi_plan *plan, struct gi_err *err);
enum gi_status gi_flat_plan_both(struct gi_plan *plan, struct gi_err *err);

/* Called by the operations' `run`. gi_flat_one computes the min or max filter `spec` of the source,
 * gi_flat_both computes `second` of the result of `first`. gi_flat_pair computes `a` and `b` of the
 * source and combines both by the plain `op`, with `alpha` also the alphas. Fully transparent
 * pixels are ignored (filters/opacity.h). Intermediate images are allocated and released here.
 * Errors: those of the primitives. */
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

/* Computes dst = a - b, with the alpha of `a`; `dst` may be `a` or `b`. Errors: the primitive's. */
enum gi_status gi_flat_subtract(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *a, const struct gi_image *b,
                                struct gi_err *err);

#endif
