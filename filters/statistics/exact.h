/* Quantities that follow from exact sums, each rounded once.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/statistics.h"

/* Returns a * 2^unit / divisor, where divisor > 0. The result is correctly rounded if it is a
 * normal number. */
double gi_exact_quotient(const struct gi_exact *a, int unit, uint64_t divisor);

/* Returns n * square - sum^2, which is n^2 times the variance of n samples. The result is never
 * negative. Its unit is that of `square`. */
struct gi_exact gi_exact_spread(const struct gi_reduction *found);

/* Returns n * (x^2 + y^2 - d^2) - 2 * sum x * sum y, which is 2 n^2 times the covariance of n
 * samples of x and y, from the sums of x, y and their differences d. */
struct gi_exact gi_exact_spread_of_two(const struct gi_reduction *x, const struct gi_reduction *y,
                                       const struct gi_reduction *difference);
