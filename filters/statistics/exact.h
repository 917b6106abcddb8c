/* What follows from exact sums, each rounded once.
 * SPDX-License-Identifier: MIT */
#ifndef GI_FILTERS_EXACT_H
#define GI_FILTERS_EXACT_H

#include "kernels/kernels.h"

/* a * 2^unit / divisor, correctly rounded where that is a normal number; divisor > 0. */
double gi_exact_quotient(const struct gi_exact *a, int unit, uint64_t divisor);

/* n * square - sum^2, n^2 times the variance of n samples: never negative, in the units of
 * `square`. */
struct gi_exact gi_exact_spread(const struct gi_reduction *found);

#endif
