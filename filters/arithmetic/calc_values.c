/* Finds equal values of an expression, and assigns registers.
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/calc_values.h"

#include <string.h>

static bool is_same(const struct calc_value *p, const struct calc_value *q)
{
    return p->op == q->op && p->dx == q->dx && p->dy == q->dy && p->a == q->a && p->b == q->b &&
           p->c == q->c && memcmp(&p->constant, &q->constant, sizeof p->constant) == 0;
}

/* Returns the number of a value that equals *value, which is added if there is none. */
static int number_of(struct calc_code *code, const struct calc_value *value)
{
    for (int i = 0; i < code->n; i++)
        if (is_same(&code->values[i], value))
            return i;
    if (code->n == CALC_VALUES_MAX) {
        code->over = true;
        return 0;
    }
    code->values[code->n] = *value;
    return code->n++;
}

int calc_constant(struct calc_code *code, double constant)
{
    return number_of(code, &(struct calc_value){.op = CALC_CONSTANT, .constant = (float)constant});
}

bool calc_is_constant(const struct calc_code *code, int value, float *constant)
{
    *constant = code->values[value].constant;
    return code->values[value].op == CALC_CONSTANT;
}

int calc_value(struct calc_code *code, enum gi_calc_op op, int a, int b, int c)
{
    float x, y, z;
    bool known = op > GI_CALC_STORE;
    known = calc_is_constant(code, a, &x) && known;
    known = calc_is_constant(code, b, &y) && known;
    known = calc_is_constant(code, c, &z) && known;
    if (known)
        return calc_constant(code, (double)gi_calc_value(op, x, y, z));
    return number_of(
        code,
        &(struct calc_value){.op = (uint8_t)op, .a = (int16_t)a, .b = (int16_t)b, .c = (int16_t)c});
}

int calc_load(struct calc_code *code, int image, int channel, int dx, int dy)
{
    return number_of(code, &(struct calc_value){.op = GI_CALC_LOAD,
                                                .a = (int16_t)image,
                                                .b = (int16_t)channel,
                                                .dx = (int8_t)dx,
                                                .dy = (int8_t)dy});
}

/* ---- from values to steps ---- */

struct calc_registers {
    int16_t last[CALC_VALUES_MAX];    /* the last value that has it as operand, or -1: unused */
    uint8_t operand[CALC_VALUES_MAX]; /* its register or constant */
    int16_t holds[GI_CALC_REGISTERS]; /* the value of each register, or -1 */
};

/* Returns whether the operands of the value are values, and not an image and a channel. */
static bool has_operands(const struct calc_value *value)
{
    return value->op > GI_CALC_STORE && value->op != CALC_CONSTANT;
}

static void find_last(struct calc_registers *registers, const struct calc_code *code)
{
    memset(registers->last, -1, sizeof registers->last);
    for (int i = 0; i < code->noutputs; i++)
        registers->last[code->outputs[i]] = (int16_t)code->outputs[i];
    for (int i = code->n - 1; i >= 0; i--) {
        const struct calc_value *value = &code->values[i];
        const int16_t operands[] = {value->a, value->b, value->c};
        for (int k = 0; k < 3 && registers->last[i] >= 0 && has_operands(value); k++)
            if (registers->last[operands[k]] < i)
                registers->last[operands[k]] = (int16_t)i;
    }
}

/* Gives the value a free register, then frees those whose values are not used later. So the
 * register of a result is none of its operands. Returns false if all are in use. */
static bool take_register(struct calc_registers *registers, struct gi_calc *program, int value)
{
    int free = 0;
    while (free < GI_CALC_REGISTERS && registers->holds[free] >= 0)
        free++;
    if (free == GI_CALC_REGISTERS)
        return false;
    registers->operand[value] = (uint8_t)free;
    registers->holds[free] = (int16_t)value;
    if (free >= program->nregisters)
        program->nregisters = free + 1;
    for (int r = 0; r < GI_CALC_REGISTERS; r++)
        if (registers->holds[r] >= 0 && registers->last[registers->holds[r]] <= value)
            registers->holds[r] = -1;
    return true;
}

static bool add_step(struct gi_calc *program, struct gi_calc_step step)
{
    if (program->nsteps == GI_CALC_STEPS)
        return false;
    program->steps[program->nsteps++] = step;
    return true;
}

/* Adds the steps that store the value, if it is an output. */
static bool add_stores(struct gi_calc *program, const struct calc_code *code, int value,
                       uint8_t operand)
{
    bool fits = true;
    for (int i = 0; i < code->noutputs; i++)
        if (code->outputs[i] == value)
            fits =
                fits && add_step(program, (struct gi_calc_step){
                                              .op = GI_CALC_STORE, .to = (uint8_t)i, .a = operand});
    return fits;
}

static enum gi_status fail_long(const char *what, int most, struct gi_err *err)
{
    return gi_fail(err, GI_E_USAGE, "the expression is too long: want at most %d %s", most, what);
}

static enum gi_status add_value(struct gi_calc *program, struct calc_registers *registers,
                                const struct calc_code *code, int i, struct gi_err *err)
{
    const struct calc_value *value = &code->values[i];
    if (value->op == CALC_CONSTANT) {
        if (program->nconstants == GI_CALC_CONSTANTS)
            return fail_long("numbers", GI_CALC_CONSTANTS, err);
        registers->operand[i] = (uint8_t)(GI_CALC_REGISTERS + program->nconstants);
        program->constants[program->nconstants++] = value->constant;
    } else {
        struct gi_calc_step step = {.op = value->op, .dx = value->dx, .dy = value->dy};
        bool values = has_operands(value);
        step.a = values ? registers->operand[value->a] : (uint8_t)value->a;
        step.b = values ? registers->operand[value->b] : (uint8_t)value->b;
        step.c = values ? registers->operand[value->c] : (uint8_t)value->c;
        if (!take_register(registers, program, i))
            return fail_long("values that are needed later, at a time", GI_CALC_REGISTERS, err);
        step.to = registers->operand[i];
        if (!add_step(program, step))
            return fail_long("operations", GI_CALC_STEPS, err);
    }
    return add_stores(program, code, i, registers->operand[i])
               ? GI_OK
               : fail_long("operations", GI_CALC_STEPS, err);
}

enum gi_status calc_program(struct gi_calc *program, const struct calc_code *code,
                            struct gi_err *err)
{
    struct calc_registers registers;
    enum gi_status status = GI_OK;
    memset(registers.holds, -1, sizeof registers.holds);
    find_last(&registers, code);
    program->nsteps = program->nregisters = program->nconstants = 0;
    for (int i = 0; i < code->n && !status; i++)
        if (registers.last[i] >= 0)
            status = add_value(program, &registers, code, i, err);
    return status;
}
