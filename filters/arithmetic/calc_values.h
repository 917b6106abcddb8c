/* Values of an expression, from which a program for the primitive calc is made.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/status.h"
#include "kernels/calc.h"

/* `op` of a value that is a number. */
enum { CALC_CONSTANT = UINT8_MAX };

/* Limits an expression; the compiler compares every new value with all earlier ones. */
enum { CALC_VALUES_MAX = 2048 };

/* An operation with the numbers of the values that are its operands, each smaller than its own. */
struct calc_value {
    uint8_t op;    /* enum gi_calc_op, or CALC_CONSTANT */
    int8_t dx, dy; /* LOAD, in pixels */
    int16_t a, b, c;
    float constant;
};

struct calc_code {
    struct calc_value values[CALC_VALUES_MAX];
    int n;
    bool over;                    /* there were more values than CALC_VALUES_MAX */
    int outputs[GI_MAX_CHANNELS]; /* numbers of the values that become the result's channels */
    int noutputs;
};

/* These return the number of a value. Equal values have one number, and operations on numbers are
 * computed at once, by the definition that kernels use. If there are too many values, `over` is set
 * and the number has no meaning. */
int calc_constant(struct calc_code *code, double constant);
int calc_value(struct calc_code *code, enum gi_calc_op op, int a, int b, int c);
int calc_load(struct calc_code *code, int image, int channel, int dx, int dy);

/* Returns whether the value is a number, and stores that in *constant. */
bool calc_is_constant(const struct calc_code *code, int value, float *constant);

/* Makes the program: steps for the values that the outputs need, with registers and constants.
 * Errors: GI_E_USAGE if the primitive has too few of something. */
enum gi_status calc_program(struct gi_calc *program, const struct calc_code *code,
                            struct gi_err *err);
