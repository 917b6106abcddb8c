/* The option --alpha of operations that weight colours by alpha: its choices, and how they are done
 * where primitives don't do them. (Operations that leave alpha alone have a flag of that name,
 * which processes alpha like the other channels.)
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"
#include "filters/plan.h"
#include "kernels/rules.h"

/* In the order of the choices. */
enum gi_alpha_use { GI_ALPHA_IS_OPACITY, GI_ALPHA_IS_DATA, GI_ALPHA_IS_KEPT };

extern const struct gi_choice gi_alpha_choices[];

/* The option row, which sets `member`, an int, of the struct type `params`. */
#define GI_ALPHA_OPTION(params, member)                                                            \
    {                                                                                              \
        GI_OPTION("alpha", CHOICE, params, member),                                                \
            .default_text = "weigh", .choices = gi_alpha_choices,                                  \
            .help = "What alpha is: opacity, by which colours are weighted, or data, such as "     \
                    "gloss or emission in a texture"                                               \
    }

/* Sentences for the manuals of operations with that option, which filter alpha or copy it. */
#define GI_ALPHA_FILTERED_MANUAL                                                                   \
    "In an image with alpha, colours are weighted by alpha, so that the colours of transparent "   \
    "pixels do not spread. Where alpha is data, choose --alpha straight or keep"
#define GI_ALPHA_COPIED_MANUAL                                                                     \
    "In an image with alpha, colours are weighted by alpha, which does not change. Where alpha "   \
    "is "                                                                                          \
    "data, choose --alpha straight or keep"

/* Returns the rule for primitives that can process alpha like a colour: `usual`, or that for data.
 * The option is not about an alpha that the file does not have. */
static inline enum gi_alpha_rule gi_alpha_rule_of(const struct gi_plan *plan, int use,
                                                  enum gi_alpha_rule usual)
{
    bool weighs = use == GI_ALPHA_IS_OPACITY || plan->sources[0].mask == GI_MASK_HIDDEN;
    return weighs ? usual : GI_ALPHA_PLAIN;
}

/* Called by gi_plan_make_within() after the filter's `plan`. Sets plan->parts if the source has
 * alpha and the filter's primitives do not do what --alpha chooses: under "straight" if
 * plan->alpha_apart is set, and under "keep", except in operations that move pixels, where both are
 * the same. Errors: as gi_plan_make_within(); GI_E_UNSUPPORTED if an alpha of the file is said to
 * be data, but marks pixels without data. */
enum gi_status gi_alpha_plan(struct gi_plan *plan, struct gi_err *err);
void gi_alpha_free(struct gi_alpha_parts *parts);

/* Runs a plan that has parts. Colours and alpha are processed apart if plan->alpha_apart is set.
 * Then the result is joined from the colours, and from alpha or that of the source. Errors: those
 * of the primitives. */
enum gi_status gi_alpha_run(const struct gi_plan *plan, struct gi_queue *queue,
                            const struct gi_work *work, struct gi_err *err);
