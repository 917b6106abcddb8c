/* The rule of operations that pick samples of a window: fully transparent pixels, whose alpha is
 * not > 0, have no colour and do not count. A look at the image finds out whether there are any.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_OPACITY_H
#define GI_FILTERS_OPACITY_H

#include "filters/filter.h"

/* For a filter's `plan`: of an image with alpha, which stays unless `alpha_too`, one look is taken,
 * by the filter's `measure`, gi_opacity_measure(). */
void gi_opacity_plan(struct gi_plan *plan, bool alpha_too);
enum gi_status gi_opacity_measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                                  const struct gi_look *look, struct gi_err *err);

/* Whether what `edge` puts outside an image counts. */
bool gi_opacity_counts(const struct gi_edge *edge, const struct gi_image *image);

/* For its `run`: are there pixels, in the image or by `edge` outside it, that do not count? True
 * too where no look could tell, of an image of more pixels than one takes. */
bool gi_opacity_hides(const struct gi_plan *plan, const struct gi_work *work,
                      const struct gi_edge *edge, bool alpha_too);

/* For manuals; --alpha is the operation's option. */
#define GI_OPACITY_MANUAL                                                                          \
    "Alpha stays as it is. Fully transparent pixels have no colour and do not count: the sample "  \
    "is one of those that are left, and where none is, the pixel stays. What is partly "           \
    "transparent counts as any other. So it is with --border-value: 0 for all channels is "        \
    "transparent, black counts."
#define GI_OPACITY_ALPHA_MANUAL                                                                    \
    GI_OPACITY_MANUAL " With --alpha all count, and alpha is a channel like the others"

#endif
