/* Fuzzes the parser of expressions, and checks the program that it makes: all operands are within
 * the machine, and each channel is stored.
 * Sources: filters/arithmetic/calc_*
 * SPDX-License-Identifier: MIT */
#include "small.h"

#include "filters/arithmetic/calc_parse.h"

static void check_program(const struct gi_calc *program, int channels)
{
    int stores = 0;
    for (int i = 0; i < program->nsteps; i++) {
        const struct gi_calc_step *step = &program->steps[i];
        const uint8_t operands[] = {step->a, step->b, step->c};
        bool load = step->op == GI_CALC_LOAD, store = step->op == GI_CALC_STORE;
        stores += store;
        if (load && (step->a > 1 || step->b > 3))
            abort();
        for (int k = 0; k < 3 && !load; k++)
            if (operands[k] >= GI_CALC_REGISTERS + program->nconstants ||
                (step->op > GI_CALC_STORE && operands[k] == step->to))
                abort();
        if (step->to >= (store ? channels : program->nregisters))
            abort();
    }
    if (stores != channels || program->nsteps > GI_CALC_STEPS)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    struct calc_scope scope = {.names = {"a", "b"},
                               .images = {{.width = 3, .height = 2, .channels = 4},
                                          {.width = 3, .height = 2, .channels = 1, .type = GI_F32}},
                               .nimages = 2};
    struct calc_code *code = calloc(1, sizeof *code);
    struct gi_calc *program = calloc(1, sizeof *program);
    char *text = small_text(bytes, nbytes);
    struct gi_err err = {0};
    struct calc_found found;
    enum gi_status status = GI_OK;
    if (!code || !program)
        abort();
    for (int c = 0; c < GI_MAX_CHANNELS && text && !status; c++) {
        status = calc_parse(code, &found, &scope, text, c, 0, &err);
        code->outputs[code->noutputs++] = found.value;
    }
    if (text && !status && !(status = calc_program(program, code, &err)))
        check_program(program, GI_MAX_CHANNELS);
    if (status != err.status || (status && !*err.text))
        abort();
    free(text);
    free(program);
    free(code);
    return 0;
}
