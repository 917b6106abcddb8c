/* The functions that an expression can call.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/arithmetic/calc_values.h"

enum { CALC_ARGUMENTS_MAX = 16 };

struct calc_function {
    const char *name;
    int op;          /* enum gi_calc_op, or a number below 0 for a function of several operations */
    int least, most; /* numbers of arguments; of more than two, the operation joins all */
};

/* Returns the function of that name, or NULL. */
const struct calc_function *calc_function_named(const char *name);

/* Returns the number of the value of a function of n arguments, n from function->least to
 * function->most, whose numbers are in v. */
int calc_apply(struct calc_code *code, const struct calc_function *function, const int *v, int n);

/* Raises a value to a power. A square is a product, which is exact before its rounding. */
int calc_power(struct calc_code *code, int base, int exponent);
