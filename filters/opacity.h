/* Fully transparent pixels, whose alpha is not > 0, have no colour. So operations that choose a
 * sample from a neighbourhood ignore such pixels. A measuring pass finds out whether the image has
 * any.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"

/* Called by a filter's `plan`. If the image has alpha, and alpha is copied because `alpha_too` is
 * not set, plans one measuring pass. The filter's `measure` is gi_opacity_measure(). */
void gi_opacity_plan(struct gi_plan *plan, bool alpha_too);
enum gi_status gi_opacity_measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                                  const struct gi_look *look, struct gi_err *err);

/* Returns whether the pixels that `border` makes outside an image count, because they are not
 * transparent. */
bool gi_opacity_counts(const struct gi_border_spec *border, const struct gi_image *image);

/* Called by a filter's `run`. Returns whether pixels in the image or outside must be ignored. Also
 * returns true if no pass could find out, because the image has more pixels than a pass can
 * measure. */
bool gi_opacity_hides(const struct gi_plan *plan, const struct gi_work *work,
                      const struct gi_border_spec *border, bool alpha_too);

/* A paragraph for the manuals of operations with the option --alpha. */
#define GI_OPACITY_MANUAL                                                                          \
    "Alpha does not change. Fully transparent pixels are ignored: each result is computed from "   \
    "the other pixels under the structuring element. If all pixels under it are fully "            \
    "transparent, the pixel does not change. Partly transparent pixels count as much as opaque "   \
    "ones. With --border border, a transparent --border-value is ignored too: in an image with "   \
    "alpha the default value 0 is transparent, and the colour \"black\" is opaque."
#define GI_OPACITY_ALPHA_MANUAL                                                                    \
    GI_OPACITY_MANUAL                                                                              \
    " With --alpha no pixel is ignored, and alpha is filtered like the other channels"
