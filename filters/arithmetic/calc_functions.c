/* The functions of expressions, by the operations that they become.
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/calc_functions.h"

#include <string.h>

/* Functions that are no operations of programs. */
enum { CLAMP = -1, MIX = -2, ATAN = -3, WHERE = -4 };

static const struct calc_function functions[] = {
    {"abs", GI_CALC_ABS, 1, 1},
    {"asinh", GI_CALC_ASINH, 1, 1},
    {"atan", ATAN, 1, 1},
    {"atan2", GI_CALC_ATAN2, 2, 2},
    {"ceil", GI_CALC_CEIL, 1, 1},
    {"clamp", CLAMP, 3, 3},
    {"cos", GI_CALC_COS, 1, 1},
    {"exp", GI_CALC_EXP, 1, 1},
    {"floor", GI_CALC_FLOOR, 1, 1},
    {"hypot", GI_CALC_HYPOT, 2, 2},
    {"isnan", GI_CALC_IS_NAN, 1, 1},
    {"ln", GI_CALC_LOG, 1, 1},
    {"log", GI_CALC_LOG, 1, 1},
    {"log10", GI_CALC_LOG10, 1, 1},
    {"log2", GI_CALC_LOG2, 1, 1},
    {"max", GI_CALC_MAXIMUM, 2, CALC_ARGUMENTS_MAX},
    {"min", GI_CALC_MINIMUM, 2, CALC_ARGUMENTS_MAX},
    {"mix", MIX, 3, 3},
    {"mod", GI_CALC_MODULO, 2, 2},
    {"pow", GI_CALC_POWER, 2, 2},
    {"round", GI_CALC_ROUND, 1, 1},
    {"sign", GI_CALC_SIGN, 1, 1},
    {"sin", GI_CALC_SIN, 1, 1},
    {"sqrt", GI_CALC_SQRT, 1, 1},
    {"tan", GI_CALC_TAN, 1, 1},
    {"trunc", GI_CALC_TRUNC, 1, 1},
    {"where", WHERE, 3, 3},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

int calc_power(struct calc_code *code, int base, int exponent)
{
    float v;
    if (calc_is_constant(code, exponent, &v) && v == 2)
        return calc_value(code, GI_CALC_MULTIPLY, base, base, 0);
    return calc_value(code, GI_CALC_POWER, base, exponent, 0);
}

int calc_apply(struct calc_code *code, const struct calc_function *function, const int *v, int n)
{
    int made = v[0];
    switch (function->op) {
    case CLAMP:
        made = calc_value(code, GI_CALC_MAXIMUM, v[0], v[1], 0);
        return calc_value(code, GI_CALC_MINIMUM, made, v[2], 0);
    case MIX:
        made = calc_value(code, GI_CALC_SUBTRACT, v[1], v[0], 0);
        made = calc_value(code, GI_CALC_MULTIPLY, made, v[2], 0);
        return calc_value(code, GI_CALC_ADD, v[0], made, 0);
    case ATAN:
        return calc_value(code, GI_CALC_ATAN2, v[0], calc_constant(code, 1), 0);
    case WHERE:
        return calc_value(code, GI_CALC_SELECT, v[0], v[1], v[2]);
    case GI_CALC_POWER:
        return calc_power(code, v[0], v[1]);
    default:
        if (n == 1)
            return calc_value(code, (enum gi_calc_op)function->op, v[0], 0, 0);
        for (int i = 1; i < n; i++)
            made = calc_value(code, (enum gi_calc_op)function->op, made, v[i], 0);
        return made;
    }
}

const struct calc_function *calc_function_named(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}
