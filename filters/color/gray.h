/* The weights of --gray, for all commands and for the step convert.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"

/* In the order of gi_gray_choices. With GI_GRAY_NO colours are kept. */
enum gi_gray { GI_GRAY_NO, GI_GRAY_BT709, GI_GRAY_BT601, GI_GRAY_MEAN };

extern const struct gi_choice gi_gray_choices[];
/* Weights of red, green and blue. The index is an enum gi_gray. */
extern const float gi_gray_weights[][3];
