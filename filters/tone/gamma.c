/* Gamma correction: raises every sample to a power, by a look-up table; floats by a formula.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/arithmetic/formula.h"
#include "filters/tone/curve.h"
#include "imgio/small.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

struct gamma_params {
    double by;
};

static const struct gi_option options[] = {
    {GI_OPTION("gamma", REAL, struct gamma_params, by), .letter = 'g', .also = "by",
     .example = "1.4", .min = 0.01, .max = 100,
     .help = "Values above 1 brighten the midtones, and values below 1 darken them"},
    {.name = NULL},
};

static enum gi_status check(void *arg, struct gi_err *err)
{
    return isnan(((const struct gamma_params *)arg)->by)
               ? gi_fail(err, GI_E_USAGE, "--gamma is missing: want a number, such as 1.4")
               : GI_OK;
}

static enum gi_status plan_floats(struct gi_plan *plan, double by, struct gi_err *err)
{
    char text[64];
    struct gi_calc *program = gi_plan_tables(plan, sizeof *program, err);
    if (!program)
        return GI_E_MEMORY;
    snprintf(text, sizeof text, "sign(a) * abs(a) ^ %.17g", 1 / by);
    plan->cost.fmas = 20;
    return gi_formula_compile(program, plan->sources[0].channels, text, err);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gamma_params *p = plan->params;
    enum gi_type type = plan->sources[0].type;
    double full = (double)gi_type_full_scale(type), *to;
    int n = gi_curve_values(type);
    void *table;
    plan->cost.other = 1;
    if (type == GI_F32)
        return plan_floats(plan, p->by, err);
    table = gi_plan_tables(plan, (size_t)n * gi_type_nbytes(type), err);
    if (!table)
        return GI_E_MEMORY;
    to = gi_small_alloc((size_t)n * sizeof *to);
    for (int v = 0; v < n; v++)
        to[v] = full * pow(v / full, 1 / p->by);
    gi_curve_fill(table, type, to);
    free(to);
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    struct gi_pointwise spec = {.op = GI_POINTWISE_TABLE};
    if (work->srcs[0].type == GI_F32)
        return queue->k->calc(queue, work->dst, work->srcs, plan->tables, err);
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        spec.table[c] = plan->tables;
    return queue->k->pointwise(queue, work->dst, work->srcs, &spec, err);
}

const struct gi_filter gi_filter_gamma = {
    .name = "gamma",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_RGB,
    .summary = "Gamma correction: make the midtones lighter or darker",
    .examples = "gpuimg gamma in.png lighter.png --gamma 1.4\n"
                "gpuimg gamma in.png darker.png --gamma 0.7\n"
                "gpuimg gamma linear.png display.png --gamma 2.2",
    .manual = "A colour sample v becomes full scale * (v / full scale)^(1 / gamma), rounded. "
              "Alpha does not change. In a float image the result is not limited, and a negative "
              "sample v becomes -(-v)^(1 / gamma). gpuimg levels sets black and white as well.\n\n"
              "scikit-image's adjust_gamma takes the exponent itself, the inverse of --gamma.",
    .options = options,
    .params_nbytes = sizeof(struct gamma_params),
    .check = check,
    .plan = plan,
    .run = run,
};
