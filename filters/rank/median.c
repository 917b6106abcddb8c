/* Median: the sample in the middle of those about a pixel.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"

struct params {
    int k; /* pixels */
    bool alpha;
    struct gi_border_params edge;
};

static const struct gi_option options[] = {
    {.name = "k",
     .letter = 'k',
     .type = GI_OPT_ODD,
     .offset = offsetof(struct params, k),
     .default_text = "3",
     .min = 1,
     .max = GI_MEDIAN_MAX,
     .unit = "px",
     .help = "Side of the square with the pixel in its middle"},
    {.name = "alpha",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, alpha),
     .help = "Alpha too: what is opaque loses its specks"},
    GI_BORDER_OPTIONS(struct params),
    {.name = NULL},
};

/* Of comparing pairs, of histograms of columns, or of those that slide. */
static double cost_of(int k, enum gi_type type)
{
    if (k <= 5)
        return k * k;
    return type == GI_U8 && k <= 255 ? 450 : 1000 + 180.0 * k;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct params *p = plan->params;
    struct gi_median *median = gi_plan_tables(plan, sizeof *median, err);
    if (!median)
        return GI_E_MEMORY;
    *median = (struct gi_median){
        .k = p->k, .alpha_too = p->alpha, .edge = gi_edge_from(&p->edge, &plan->sources[0])};
    plan->halo = p->k / 2;
    plan->border = median->edge.border;
    plan->cost.other = cost_of(p->k, plan->sources[0].type);
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    return queue->k->median(queue, work->dst, work->srcs, plan->tables, err);
}

const struct gi_filter gi_filter_median = {
    .name = "median",
    .summary = "Remove specks: the median of k x k pixels",
    .examples = "gpuimg median in.png out.png\n"
                "gpuimg median scan.png clean.png --k 5\n"
                "gpuimg median frame.tif background.tif --k 101 --border mirror",
    .manual =
        "Each sample becomes the one in the middle of the k x k samples around it in ascending "
        "order, each channel by itself: specks smaller than half of the square go, edges stay. "
        "It is one of the samples, nothing is rounded; the results are those of scipy's "
        "median_filter() and, with --border clamp, of OpenCV's medianBlur().\n\n"
        "Alpha stays as it is, and colour counts however transparent it is; --alpha filters alpha "
        "like a colour. In float images NaN is above all numbers, so that the result is NaN where "
        "more than half of the samples are; -0 is less than 0.\n\n"
        "Squares of 3 and 5 are sorted in part by comparing pairs of vectors (A. Adams, Fast "
        "median filters using separable sorting networks, 2021). For larger ones histograms "
        "slide: in 8 bits of columns, which costs the same for any square to 255 (S. Perreault "
        "and P. Hebert, Median filtering in constant time, 2007), else of the square (T. Huang, "
        "1979).",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .plan = plan,
    .run = run,
};
