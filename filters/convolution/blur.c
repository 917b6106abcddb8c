/* Box filter (mean of k x k pixels). Integers are computed by running sums, floats by a separable
 * convolution.
 * SPDX-License-Identifier: MIT */
#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/option_footprint.h"
#include "filters/convolution/weights.h"
#include "kernels/kernels.h"

struct blur_params {
    struct gi_footprint_params window; /* k and size; the rest is unset */
    int alpha;
    struct gi_border_params border;
};

static const struct gi_option options[] = {
    {GI_OPTION("k", ODD, struct blur_params, window.k), .letter = 'k', .min = 1, .max = GI_TAPS_MAX,
     .unit = "px",
     .help = "Side of the square of pixels that the mean is taken of; without --k and --size it is "
             "5"},
    {GI_OPTION("size", EXTENT, struct blur_params, window.size), .form = "WIDTHxHEIGHT or 50%",
     .help = "Take the mean of a rectangle of this width and height in place of the square of --k. "
             "Each side may be odd or even and is at most 4001 px, or it is a percentage of the "
             "image's side"},
    GI_BORDER_OPTIONS(struct blur_params),
    GI_ALPHA_OPTION(struct blur_params, alpha),
    {.name = NULL},
};

static enum gi_status check(void *arg, struct gi_err *err)
{
    struct gi_footprint_params *window = &((struct blur_params *)arg)->window;
    if (!window->k && !gi_extent_is_set(&window->size))
        window->k = 5;
    return gi_footprint_size_check(window, err);
}

/* Floats, and rectangles that are not squares of an odd side, take a convolution. */
static bool convolves(const struct gi_plan *plan)
{
    return plan->sources[0].type == GI_F32 || !((const struct blur_params *)plan->params)->window.k;
}

/* Running sums for integers take about ten operations per sample for any k. */
static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct blur_params *p = plan->params;
    int width, height;
    enum gi_status status =
        gi_footprint_sides(&width, &height, &p->window, &plan->sources[0], GI_TAPS_MAX, err);
    if (status)
        return status;
    if (convolves(plan)) {
        struct gi_separable_tables *tables = gi_mean_plan(plan, width, height, &p->border, err);
        if (!tables)
            return GI_E_MEMORY;
        tables->spec.alpha = gi_alpha_rule_of(plan, p->alpha, GI_ALPHA_WEIGH);
        tables->spec.epilogue.settle = plan->sources[0].type == GI_U8;
        return GI_OK;
    }
    struct gi_box *box = gi_plan_tables(plan, sizeof *box, err);
    if (!box)
        return GI_E_MEMORY;
    *box = (struct gi_box){.k = width,
                           .alpha = gi_alpha_rule_of(plan, p->alpha, GI_ALPHA_WEIGH),
                           .border = gi_border_spec_from(&p->border, &plan->sources[0])};
    plan->halo = width / 2;
    plan->border = box->border.mode;
    plan->cost.other = 10;
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    return convolves(plan) ? gi_separable_run(plan, queue, work, err)
                           : queue->k->box(queue, work->dst, work->srcs, plan->tables, err);
}

const struct gi_filter gi_filter_blur = {
    .name = "blur",
    .group = GI_GROUP_FILTERS,
    .summary = "Blur with a box filter (mean of k x k pixels)",
    .examples = "gpuimg blur in.png out.png\n"
                "gpuimg blur in.jpg out.png --k 31 --border mirror\n"
                "gpuimg blur scan.tif out.png --k 9 --gray\n"
                "gpuimg blur interlaced.png out.png --size 1x3\n"
                "gpuimg blur texture.tga soft.tga --alpha straight",
    .manual =
        "Each pixel becomes the mean of the k x k pixels around it (a box filter). A "
        "larger k blurs more; the time does not depend on k. --size takes the mean of a rectangle, "
        "whose middle is the later one of two where a side is even, as in scipy's "
        "uniform_filter().\n\n" GI_ALPHA_FILTERED_MANUAL ".\n\n"
        "In 8- and 16-bit images the mean of a square is exact, and rounded to the nearest value. "
        "OpenCV's blur() gives the same in 8 bits, and in 16 bits differs by at most 1. The mean "
        "of a rectangle is computed in float32, and in time "
        "that grows with its sides.",
    .samples.averages = true,
    .options = options,
    .params_nbytes = sizeof(struct blur_params),
    .check = check,
    .plan = plan,
    .run = run,
};
