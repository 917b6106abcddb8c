/* Operations on images in which alpha marks pixels without data (enum gi_mask): the result of an
 * operation that makes no alpha, such as a threshold, has that of its source, and in the result of
 * two images, a pixel without data in one of them has none.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/plan.h"

/* Called by gi_plan_make_within() after the filter's `plan`. Sets plan->masked if gi_masked_run()
 * has to finish alpha, and the mask of the result. */
void gi_masked_plan(struct gi_plan *plan);

/* Runs a plan that is masked, by `run`, which is gi_alpha_run() or that of the filter. Errors:
 * those of the primitives. */
enum gi_status
gi_masked_run(const struct gi_plan *plan, struct gi_queue *queue, const struct gi_work *work,
              enum gi_status (*run)(const struct gi_plan *plan, struct gi_queue *queue,
                                    const struct gi_work *work, struct gi_err *err),
              struct gi_err *err);
