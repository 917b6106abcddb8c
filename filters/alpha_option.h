/* The option --alpha of operations that weight colours by alpha. (Operations that leave alpha alone
 * have a flag of that name, which processes alpha like the other channels.)
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"
#include "kernels/rules.h"

/* In the order of the choices. */
enum gi_alpha_use { GI_ALPHA_IS_OPACITY, GI_ALPHA_IS_DATA };

extern const struct gi_choice gi_alpha_choices[];

/* The option row, which sets `member`, an int, of the struct type `params`. */
#define GI_ALPHA_OPTION(params, member)                                                            \
    {                                                                                              \
        GI_OPTION("alpha", CHOICE, params, member),                                                \
            .default_text = "weigh", .choices = gi_alpha_choices,                                  \
            .help = "What alpha is: opacity, by which colours are weighted, or data, as gloss in " \
                    "a texture"                                                                    \
    }

/* Returns the rule for the primitives: `usual`, or that for data. */
static inline enum gi_alpha_rule gi_alpha_rule_of(int use, enum gi_alpha_rule usual)
{
    return use == GI_ALPHA_IS_DATA ? GI_ALPHA_PLAIN : usual;
}
