/* Programs of calc give the bytes of the definition, which runs their steps pixel by pixel: random
 * steps with all operations, images of all types, neighbours, positions and constants.
 * Sources: kernels/calc.h kernels/elementary.h kernels/cpu/arithmetic/calc.c
 * kernels/cuda/arithmetic/calc.cu SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/calc.h"

enum { OPERATIONS = GI_CALC_SELECT + 1 };

/* Returns a random operand: a register of the first `n`, or a constant. */
static uint8_t operand(struct walk_case *c, const struct gi_calc *spec, int n)
{
    bool constant = n == 0 || walk_between(c, 0, 3) == 0;
    return (uint8_t)(constant ? GI_CALC_REGISTERS + walk_between(c, 0, spec->nconstants - 1)
                              : walk_between(c, 0, n - 1));
}

static struct gi_calc_step load(struct walk_case *c, const struct gi_calc *spec, uint8_t to)
{
    int image = walk_between(c, 0, c->nothers), most = walk_between(c, 0, 1) ? 3 : 0;
    int channels = image ? spec->others[image - 1]->channels : c->srcs[0].image.channels;
    return (struct gi_calc_step){.op = GI_CALC_LOAD,
                                 .to = to,
                                 .a = (uint8_t)image,
                                 .b = (uint8_t)walk_between(c, 0, channels - 1),
                                 .dx = (int8_t)walk_between(c, -most, most),
                                 .dy = (int8_t)walk_between(c, -most, most)};
}

/* Makes a program in which each step fills the next register, up to all of them, and then one of
 * those that are not its operands. Each operation is the first of a program in some case. */
static void draw(struct walk_case *c)
{
    struct gi_calc *spec = WALK_SPEC(c, struct gi_calc);
    int channels = walk_between(c, 1, GI_MAX_CHANNELS), steps = walk_between(c, 1, 40);
    walk_source_here(c);
    for (int j = walk_between(c, 0, GI_CALC_OTHERS); j > 0; j--)
        walk_other(c, &spec->others[c->nothers], c->width, c->height, walk_between(c, 1, 4),
                   (enum gi_type)walk_between(c, GI_U8, GI_F32));
    spec->y = walk_between(c, 0, 1) ? walk_between(c, 0, 1 << 24) : 0;
    spec->nconstants = walk_between(c, 1, GI_CALC_CONSTANTS);
    for (int i = 0; i < spec->nconstants; i++)
        spec->constants[i] = walk_real(c) * (i % 2 ? 1 : 300);
    for (int i = 0; i < steps; i++) {
        int ready = spec->nregisters, n = ready < GI_CALC_REGISTERS ? ready : GI_CALC_REGISTERS - 1;
        struct gi_calc_step step = {.to = (uint8_t)n};
        int op = i == 1 ? c->turn % OPERATIONS : walk_between(c, 0, OPERATIONS - 1);
        step.op = (uint8_t)(op == GI_CALC_STORE ? GI_CALC_ADD : op);
        step.a = operand(c, spec, n);
        step.b = operand(c, spec, n);
        step.c = operand(c, spec, n);
        spec->steps[spec->nsteps++] =
            op == GI_CALC_LOAD || i == 0 ? load(c, spec, (uint8_t)n) : step;
        spec->nregisters = n + 1;
    }
    for (int i = 0; i < channels; i++)
        spec->steps[spec->nsteps++] = (struct gi_calc_step){
            .op = GI_CALC_STORE,
            .to = (uint8_t)i,
            .a = i ? operand(c, spec, spec->nregisters) : (uint8_t)(spec->nregisters - 1)};
    walk_result(c, c->width, c->height, channels, c->type);
}

static int inside(int at, int n)
{
    return at < 0 ? 0 : at >= n ? n - 1 : at;
}

static void define(struct walk_case *c)
{
    const struct gi_calc *spec = c->spec;
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            float v[GI_CALC_REGISTERS + GI_CALC_CONSTANTS] = {0};
            memcpy(v + GI_CALC_REGISTERS, spec->constants, sizeof spec->constants);
            for (int i = 0; i < spec->nsteps; i++) {
                const struct gi_calc_step *s = &spec->steps[i];
                if (s->op == GI_CALC_STORE)
                    exact_put(&c->want, y, x, s->to, gi_settle(v[s->a], c->type));
                else if (s->op == GI_CALC_LOAD)
                    v[s->to] = exact_sample(s->a ? spec->others[s->a - 1] : &c->srcs[0].image,
                                            inside(y + s->dy, c->height),
                                            inside(x + s->dx, c->width), s->b);
                else if (s->op == GI_CALC_X || s->op == GI_CALC_Y)
                    v[s->to] = (float)(s->op == GI_CALC_X ? x : spec->y + y);
                else
                    v[s->to] = gi_calc_value((enum gi_calc_op)s->op, v[s->a], v[s->b], v[s->c]);
            }
        }
}

static const int sizes[][2] = {{1, 1},   {1, 17},  {17, 1},  {31, 9},  {67, 5},
                               {255, 3}, {256, 2}, {257, 4}, {601, 7}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("calc", "programs", draw, define, .sizes = sizes),
};

WALK_ROWS(rows)
