/* Helpers of the tests of operations. They make parameters and plans and run operations.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases.h"

#include "filters/filter.h"
#include "filters/pipeline.h"

/* Sets one option as the command line does. Fails the test if the value is refused. */
void case_set(const struct gi_filter *filter, void *params, const char *name, const char *text);

/* Returns the parameters of a filter, which the caller frees. They are those of the filter's
 * example, changed by "name=value" words, and checked by the filter. */
void *case_params(const struct gi_filter *filter, const char *const *words);

/* Returns the plan of one filter for the shapes of its sources. Fails the test if no plan can be
 * made. */
struct gi_plan case_plan(const struct gi_filter *filter, const void *params,
                         const struct gi_image *srcs);

/* Like gi_run_one(), with times. */
enum gi_status case_run(struct gi_queue *queue, struct gi_image *dst, void *result,
                        const struct gi_image *src, const struct gi_filter *filter,
                        const void *params, struct gi_times *times, double *nbytes,
                        struct gi_err *err);
