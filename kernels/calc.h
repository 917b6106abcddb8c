/* Contract of the primitive calc, of the family arithmetic: an expression of the samples of several
 * images, as a program of steps for a small register machine. filters/arithmetic/formula.c
 * makes such programs.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CALC_H
#define GI_KERNELS_CALC_H

#include "kernels/elementary.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GI_CALC_STEPS = 512, /* with the constants below the 32764 bytes of a CUDA launch's arguments */
    GI_CALC_REGISTERS = 32,  /* values that a program may hold at a time */
    GI_CALC_CONSTANTS = 224, /* numbers of operands above the registers; an operand is a byte */
    GI_CALC_OTHERS = 3,      /* images besides `src` */
    GI_CALC_OFFSET_MAX = 64, /* distance of a neighbour along each axis, in pixels */
};

/* Operations, each with its value for operands a, b and c: plain float32 operations, and functions
 * of kernels/elementary.h. A value counts as true unless it is 0; NaN is true. Comparisons and
 * logical operations are 1 or 0. */
#define GI_CALC_OPERATIONS(P)                                                                      \
    P(NEGATE, -a)                                                                                  \
    P(NOT, a == 0 ? 1.0f : 0.0f)                                                                   \
    P(ABS, fabsf(a))                                                                               \
    P(SIGN, a > 0 ? 1.0f : a < 0 ? -1.0f : a)                                                      \
    P(FLOOR, floorf(a))                                                                            \
    P(CEIL, ceilf(a))                                                                              \
    P(ROUND, rintf(a)) /* half to even */                                                          \
    P(TRUNC, truncf(a))                                                                            \
    P(SQRT, sqrtf(a))                                                                              \
    P(EXP, gi_exp(a))                                                                              \
    P(LOG, gi_log(a))                                                                              \
    P(LOG2, gi_log2(a))                                                                            \
    P(LOG10, gi_log10(a))                                                                          \
    P(SIN, gi_sin(a))                                                                              \
    P(COS, gi_cos(a))                                                                              \
    P(TAN, gi_tan(a))                                                                              \
    P(ASINH, gi_asinh(a))                                                                          \
    P(IS_NAN, a != a ? 1.0f : 0.0f)                                                                \
    P(ADD, a + b)                                                                                  \
    P(SUBTRACT, a - b)                                                                             \
    P(MULTIPLY, a *b)                                                                              \
    P(DIVIDE, a / b)                                                                               \
    P(MODULO, gi_calc_modulo(a, b))                                                                \
    P(POWER, gi_pow(a, b))                                                                         \
    P(MINIMUM, b != b || a > b ? b : a) /* NaN where either is NaN */                              \
    P(MAXIMUM, b != b || b > a ? b : a)                                                            \
    P(ATAN2, gi_atan2(a, b))                                                                       \
    P(HYPOT, gi_hypot(a, b))                                                                       \
    P(LESS, a < b ? 1.0f : 0.0f)                                                                   \
    P(AT_MOST, a <= b ? 1.0f : 0.0f)                                                               \
    P(EQUAL, a == b ? 1.0f : 0.0f)                                                                 \
    P(UNEQUAL, a != b ? 1.0f : 0.0f)                                                               \
    P(AND, ((a != 0) & (b != 0)) ? 1.0f : 0.0f)                                                    \
    P(OR, ((a != 0) | (b != 0)) ? 1.0f : 0.0f)                                                     \
    P(SELECT, a != 0 ? b : c)

enum gi_calc_op {
    GI_CALC_LOAD,  /* sample of an image */
    GI_CALC_X,     /* column of the pixel, from 0 */
    GI_CALC_Y,     /* row of the pixel in the whole image, from 0 */
    GI_CALC_STORE, /* operand a becomes channel `to` of the result */
#define GI_CALC_OPERATION(name, value) GI_CALC_##name,
    GI_CALC_OPERATIONS(GI_CALC_OPERATION)
#undef GI_CALC_OPERATION
};

/* One step. An operand below GI_CALC_REGISTERS is a register, another one is constant number
 * operand - GI_CALC_REGISTERS. `to` is a register that is none of the operands. */
struct gi_calc_step {
    uint8_t op; /* enum gi_calc_op */
    uint8_t to, a, b, c;
    /* LOAD: the sample, as it is stored, of channel b of image a (0: `src`, j: others[j - 1]) at
     * the pixel dx to the right and dy below, or at the nearest pixel of the image. */
    int8_t dx, dy;
};

/* calc: runs the steps in their order for every pixel. gi_settle() and the last step follow each
 * STORE. `dst` has the size and the type of `src` and its own channels, each of which one STORE
 * sets. Images that steps load have the size of `src`, and any type and channels. `dst` may not be
 * one of them. */
struct gi_calc {
    const struct gi_image *others[GI_CALC_OTHERS]; /* on the backend; NULL: not loaded */
    int y;                                         /* row of the whole image that row 0 is */
    int nsteps, nregisters, nconstants;
    struct gi_calc_step steps[GI_CALC_STEPS];
    float constants[GI_CALC_CONSTANTS];
};

/* Returns a - floor(a / b) * b, which has the sign of b. It is exact if |a / b| < 2^24: floor(a /
 * b) is then at most one off, because the quotient is rounded, and that is corrected. For an
 * infinite b it is a if that has b's sign or is 0, and else b. */
GI_ELEMENTARY float gi_calc_modulo(float a, float b)
{
    float quotient = floorf(a / b), rest = fmaf(-quotient, b, a);
    float more = rest + b, less = rest - b;
    bool under = b > 0 ? rest < 0 : rest > 0, over = b > 0 ? rest >= b : rest <= b;
    rest = under ? more : over ? less : rest;
    float whole = (a < 0) != (b < 0) && a != 0 ? b : a;
    bool infinite = (fabsf(b) == (float)INFINITY) & (fabsf(a) < (float)INFINITY);
    return infinite ? whole : rest;
}

/* Returns the value of an operation that is neither LOAD, X, Y nor STORE. */
GI_ELEMENTARY float gi_calc_value(enum gi_calc_op op, float a, float b, float c)
{
    switch (op) {
#define GI_CALC_OPERATION(name, value)                                                             \
    case GI_CALC_##name:                                                                           \
        return value;
        GI_CALC_OPERATIONS(GI_CALC_OPERATION)
#undef GI_CALC_OPERATION
    default:
        return 0;
    }
}

#ifdef __cplusplus
}
#endif
#endif
