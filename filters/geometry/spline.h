/* Interpolation by cubic splines: the coefficients of an image, and the transform of them.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/plan.h"
#include "kernels/geometry.h"

enum {
    GI_SPLINE_REACH = 15, /* pixels on each side that a coefficient depends on */
    GI_SPLINE_MARGIN = 12 /* pixels outside the image with coefficients of their own, under
                             GI_BORDER_CLAMP and GI_BORDER_VALUE */
};

/* Returns whether pixels outside the image have coefficients of their own. Under the other border
 * modes the coefficients repeat as the image does. */
static inline bool gi_spline_has_margin(const struct gi_border_spec *border)
{
    return border->mode == GI_BORDER_CLAMP || border->mode == GI_BORDER_VALUE;
}

/* Adds the work and the memory of gi_spline_run() besides the primitive remap. */
void gi_spline_plan(struct gi_plan *plan);

/* Computes what `spec` says of work->srcs[0], whose samples are interpolated by a cubic spline.
 * `spec` has the map from the result to the image, and the weights gi_cubic_spline(). Errors: those
 * of the primitives. */
enum gi_status gi_spline_run(struct gi_queue *queue, const struct gi_work *work,
                             const struct gi_remap *spec, struct gi_err *err);
