/* Compiles and computes the formulas of operations for floats.
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/formula.h"
#include "filters/arithmetic/calc_parse.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

#include <stdlib.h>

enum gi_status gi_formula_compile(struct gi_calc *program, int channels, const char *text,
                                  struct gi_err *err)
{
    const struct gi_image shape = {.width = 1, .height = 1, .channels = channels, .type = GI_F32};
    const struct calc_scope scope = {.names = {"a"}, .images = {shape}, .nimages = 1};
    struct calc_code *code = gi_small_calloc(1, sizeof *code);
    struct calc_found found;
    enum gi_status status = GI_OK;
    *program = (struct gi_calc){0};
    for (int c = 0; c < gi_color_channels(&shape) && !status; c++) {
        status = calc_parse(code, &found, &scope, text, c, 0, err);
        code->outputs[code->noutputs++] = found.value;
    }
    if (gi_has_alpha(&shape))
        code->outputs[code->noutputs++] = calc_load(code, 0, channels - 1, 0, 0);
    if (!status)
        status = calc_program(program, code, err);
    free(code);
    return status;
}

/* Makes the program of formulas of the n images. */
static enum gi_status compile_images(struct gi_calc *program, const struct gi_image *images, int n,
                                     const char *text, struct gi_err *err)
{
    struct calc_scope scope = {.names = {"a", "b", "c"}, .nimages = n};
    struct calc_code *code = gi_small_calloc(1, sizeof *code);
    struct calc_found found = {.nbands = 1};
    enum gi_status status = GI_OK;
    *program = (struct gi_calc){0};
    for (int i = 0; i < n; i++)
        scope.images[i] = images[i];
    for (int i = 0; i < found.nbands && !status; i++) {
        status = calc_parse(code, &found, &scope, text, 0, i, err);
        code->outputs[code->noutputs++] = found.value;
    }
    if (!status)
        status = calc_program(program, code, err);
    free(code);
    return status;
}

enum gi_status gi_formula_run(struct gi_queue *queue, struct gi_image *dst, const char *text,
                              const struct gi_image *a, const struct gi_image *b,
                              const struct gi_image *c, struct gi_err *err)
{
    struct gi_image shapes[3] = {*a};
    struct gi_calc *program = gi_small_calloc(1, sizeof *program);
    int n = 1;
    if (b)
        shapes[n++] = *b;
    if (c)
        shapes[n++] = *c;
    enum gi_status status = compile_images(program, shapes, n, text, err);
    program->others[0] = b;
    program->others[1] = c;
    if (!status)
        status = queue->k->calc(queue, dst, a, program, err);
    free(program);
    return status;
}

enum gi_status gi_formula_make(struct gi_queue *queue, struct gi_image *made, int channels,
                               const char *text, const struct gi_image *a, const struct gi_image *b,
                               const struct gi_image *c, struct gi_err *err)
{
    enum gi_status status =
        queue->k->alloc(queue, made, a->width, a->height, channels, GI_F32, err);
    if (status)
        return status;
    status = gi_formula_run(queue, made, text, a, b, c, err);
    if (status)
        queue->k->release(queue, made);
    return status;
}
