/* Box filter (mean of k x k pixels). Integers are computed by running sums, floats by a separable
 * convolution.
 * SPDX-License-Identifier: MIT */
#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/convolution/weights.h"
#include "kernels/kernels.h"

struct blur_params {
    int k, alpha;
    struct gi_border_params border;
};

static const struct gi_option options[] = {
    {GI_OPTION("k", ODD, struct blur_params, k), .letter = 'k', .default_text = "5", .min = 1,
     .max = GI_TAPS_MAX, .unit = "px",
     .help = "Side of the square of pixels that the mean is taken of"},
    GI_BORDER_OPTIONS(struct blur_params),
    GI_ALPHA_OPTION(struct blur_params, alpha),
    {.name = NULL},
};

/* Running sums for integers take about ten operations per sample for any k. Floats take a
 * convolution. */
static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct blur_params *p = plan->params;
    if (plan->sources[0].type == GI_F32) {
        struct gi_separable_tables *tables = gi_separable_plan(plan, p->k, &p->border, err);
        if (!tables)
            return GI_E_MEMORY;
        tables->spec.alpha = gi_alpha_rule_of(plan, p->alpha, GI_ALPHA_WEIGH);
        gi_separable_sum(tables, gi_box_taps(tables->taps, p->k));
        return GI_OK;
    }
    struct gi_box *box = gi_plan_tables(plan, sizeof *box, err);
    if (!box)
        return GI_E_MEMORY;
    *box = (struct gi_box){.k = p->k,
                           .alpha = gi_alpha_rule_of(plan, p->alpha, GI_ALPHA_WEIGH),
                           .border = gi_border_spec_from(&p->border, &plan->sources[0])};
    plan->halo = p->k / 2;
    plan->border = box->border.mode;
    plan->cost.other = 10;
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    return plan->sources[0].type == GI_F32
               ? gi_separable_run(plan, queue, work, err)
               : queue->k->box(queue, work->dst, work->srcs, plan->tables, err);
}

const struct gi_filter gi_filter_blur = {
    .name = "blur",
    .group = GI_GROUP_FILTERS,
    .summary = "Blur with a box filter (mean of k x k pixels)",
    .examples = "gpuimg blur in.png out.png\n"
                "gpuimg blur in.jpg out.png --k 31 --border mirror\n"
                "gpuimg blur scan.tif out.png --k 9 --gray\n"
                "gpuimg blur texture.tga soft.tga --alpha straight",
    .manual =
        "Each pixel becomes the mean of the k x k pixels around it (a box filter). A "
        "larger k blurs more; the time does not depend on k.\n\n" GI_ALPHA_FILTERED_MANUAL ".\n\n"
        "In 8- and 16-bit images the mean is exact, and rounded to the nearest value. "
        "OpenCV's blur() gives the same in 8 bits, and in 16 bits differs by at most 1.",
    .samples.averages = true,
    .options = options,
    .params_nbytes = sizeof(struct blur_params),
    .plan = plan,
    .run = run,
};
