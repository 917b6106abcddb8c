/* Declarations that flips, transposition and quarter turns share. These operations move whole
 * pixels.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

/* Plans the operation `layout`, which consists of bits of enum gi_layout (imgio/image.h). Errors:
 * GI_E_MEMORY. */
enum gi_status gi_layout_plan(struct gi_plan *plan, int layout, struct gi_err *err);

/* The functions `needs` and `run` (struct gi_filter) of these operations. */
struct gi_span gi_layout_needs(const struct gi_plan *plan, int y0, int y1);
enum gi_status gi_layout_run(const struct gi_plan *plan, struct gi_queue *queue,
                             const struct gi_work *work, struct gi_err *err);
