/* Levels adjustment: maps a black point and a white point to new ones, with a gamma curve between
 * them. Integers use a look-up table, floats a linear function, or a formula with gamma.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/arithmetic/formula.h"
#include "filters/tone/curve.h"
#include "filters/tone/threshold_level.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

struct levels_params {
    struct gi_level black, white, out_black, out_white;
    double gamma;
};

static const struct gi_option options[] = {
    {GI_OPTION("black", LEVEL, struct levels_params, black), .letter = 'b', .default_text = "0",
     .help = "Level that becomes black"},
    {GI_OPTION("white", LEVEL, struct levels_params, white), .letter = 'w', .default_text = "100%",
     .help = "Level that becomes white"},
    {GI_OPTION("gamma", REAL, struct levels_params, gamma), .letter = 'g', .default_text = "1",
     .min = 0.01, .max = 100,
     .help = "Values above 1 brighten the midtones, and values below 1 darken them"},
    {GI_OPTION("out-black", LEVEL, struct levels_params, out_black), .default_text = "0",
     .help = "Level that black has in the result"},
    {GI_OPTION("out-white", LEVEL, struct levels_params, out_white), .default_text = "100%",
     .help = "Level that white has in the result"},
    {.name = NULL},
};

/* The levels in sample units. */
struct levels_ends {
    double black, white, out_black, out_white, power;
};

static enum gi_status find_ends(struct levels_ends *e, const struct gi_plan *plan,
                                const struct gi_level_state *state, struct gi_err *err)
{
    const struct levels_params *p = plan->params;
    const struct gi_level *levels[] = {&p->black, &p->white, &p->out_black, &p->out_white};
    double *ends[] = {&e->black, &e->white, &e->out_black, &e->out_white};
    enum gi_status status = GI_OK;
    e->power = 1 / p->gamma;
    for (int i = 0; i < 4 && !status; i++)
        status = gi_level_resolve(ends[i], levels[i], plan->sources[0].type, state, err);
    return status;
}

static void fill_curve(double *to, int n, const struct levels_ends *e)
{
    for (int v = 0; v < n; v++) {
        double t = e->black == e->white ? v > e->black : (v - e->black) / (e->white - e->black);
        t = t > 0 ? t < 1 ? t : 1 : 0;
        if (e->power != 1)
            t = pow(t, e->power);
        to[v] = e->out_black + (e->out_white - e->out_black) * t;
    }
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct levels_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    plan->cost.other = 1;
    gi_level_plan(plan, &p->black);
    gi_level_plan(plan, &p->white);
    gi_level_plan(plan, &p->out_black);
    gi_level_plan(plan, &p->out_white);
    if (src->type == GI_F32 && p->gamma != 1)
        plan->cost.fmas = 20;
    return GI_OK;
}

/* Maps floats with a gamma. (v - b) + (b - black), where b is black rounded to float, is accurate
 * near black, where the curve is steep. */
static enum gi_status run_gamma(struct gi_queue *queue, const struct gi_work *work,
                                const struct levels_ends *e, struct gi_err *err)
{
    char text[256];
    double black = (double)(float)e->black;
    struct gi_calc *program = gi_small_alloc(sizeof *program);
    snprintf(text, sizeof text,
             "t = ((a - (%.17g)) + (%.17g)) / (%.17g); %.17g + (%.17g) * sign(t) * abs(t) ^ %.17g",
             black, black - e->black, e->white - e->black, e->out_black,
             e->out_white - e->out_black, e->power);
    enum gi_status status = gi_formula_compile(program, work->srcs[0].channels, text, err);
    if (!status)
        status = queue->k->calc(queue, work->dst, work->srcs, program, err);
    free(program);
    return status;
}

/* Returns whether float arithmetic can represent the curve. */
static bool fits_floats(const struct levels_ends *e)
{
    float span = (float)(e->white - e->black), out = (float)(e->out_white - e->out_black);
    return span != 0 && isfinite(span) && isfinite(out) && isfinite((float)e->black) &&
           isfinite((float)e->out_black);
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    struct levels_ends ends;
    enum gi_status status = find_ends(&ends, plan, work->state, err);
    if (status)
        return status;
    if (plan->sources[0].type == GI_F32 && ends.power != 1 && fits_floats(&ends))
        return run_gamma(queue, work, &ends, err);
    if (plan->sources[0].type == GI_F32) {
        struct gi_stretch lines[GI_MAX_CHANNELS];
        for (int c = 0; c < GI_MAX_CHANNELS; c++)
            lines[c] =
                (struct gi_stretch){ends.black, ends.white, {ends.out_black, ends.out_white}};
        return gi_stretch_run(queue, work, lines, err);
    }
    int n = gi_curve_values(plan->sources[0].type);
    double *to = gi_small_alloc((size_t)n * sizeof *to);
    fill_curve(to, n, &ends);
    status = gi_curve_run(queue, work, &(struct gi_curve){.to = to}, err);
    free(to);
    return status;
}

const struct gi_filter gi_filter_levels = {
    .name = "levels",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_RGB,
    .summary = "Adjust levels: black point, white point and gamma",
    .examples = "gpuimg levels in.png out.png --black 5% --white 95%\n"
                "gpuimg levels in.png brighter.png --gamma 1.4\n"
                "gpuimg levels scan.png clean.png --white otsu\n"
                "gpuimg run 'levels --black 3% --white 92% --gamma 1.15 | color --saturation 1.3' "
                "photo.jpg vivid.jpg",
    .manual = "Samples at --black become black and samples at --white become white; the samples "
              "between these two levels are stretched, and --gamma makes them brighter or darker. "
              "Each level is a sample value, a percentage of full scale (50%), or a method such as "
              "\"otsu\", which finds a threshold between dark and bright pixels (see threshold "
              "--method). The last "
              "example makes a photograph brighter, with more contrast and more saturation (gpuimg "
              "help color). gpuimg normalize takes the levels from the image itself, and gpuimg "
              "add --value adds the same to all samples.\n\n"
              "A colour sample v becomes out-black + (out-white - out-black) * t^(1 / gamma), "
              "where t = (v - black) / (white - black) is limited to the range 0 to 1. All "
              "colour channels have the same levels, and alpha does not change. If white is "
              "below black, the result is a negative. If black equals white, samples above that "
              "level become white and all others black.\n\n"
              "Float images differ in two points: t is not limited, so that below 0 the power is "
              "-(-t)^(1 / gamma), and samples do not change if black equals white or if float "
              "arithmetic cannot represent the stretching.",
    .options = options,
    .params_nbytes = sizeof(struct levels_params),
    .plan = plan,
    .run = run,
    .measure = gi_level_measure,
};
