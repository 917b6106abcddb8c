/* Gamma correction: raises every sample to a power, by a look-up table.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/tone/curve.h"

struct params {
    double by;
};

static const struct gi_option options[] = {
    {.name = "gamma",
     .letter = 'g',
     .also = "by",
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, by),
     .example = "1.4",
     .min = 0.01,
     .max = 100,
     .help = "Values above 1 brighten the midtones, and values below 1 darken them"},
    {.name = NULL},
};

struct power {
    double of, full;
};

static double curve(const void *arg, int channel, double v)
{
    const struct power *power = arg;
    (void)channel;
    return power->full * pow(v / power->full, power->of);
}

static enum gi_status check(void *arg, struct gi_err *err)
{
    return isnan(((const struct params *)arg)->by)
               ? gi_fail(err, GI_E_USAGE, "--gamma is missing: want a number, such as 1.4")
               : GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    plan->cost.other = 1;
    return gi_curve_takes(&plan->sources[0], "", err);
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct params *p = plan->params;
    struct power power = {1 / p->by, (double)gi_type_full_scale(plan->sources[0].type)};
    return gi_curve_run(queue, work, &(struct gi_curve){.at = curve, .arg = &power}, err);
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
              "Alpha does not change. The input must have 8 or 16 bits. gpuimg levels sets black "
              "and white as well.\n\n"
              "scikit-image's adjust_gamma takes the exponent itself, the inverse of --gamma.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .check = check,
    .plan = plan,
    .run = run,
};
