/* Non-local means (A. Buades, B. Coll and J.-M. Morel, 2005): a mean of the search window weighted
 * by the similarity of the patches around the pixels. This file computes the table of weights by
 * distance.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/tone/threshold_level.h"
#include "kernels/denoise.h"
#include "kernels/kernels.h"

struct nlmeans_params {
    struct gi_level strength;
    int patch, search; /* pixels */
    int alpha;
    struct gi_border_params border;
};

/* Quantisation steps per unit of strength, for samples of more than 8 bits. Rounding to steps
 * changes an exponent by at most 1 / 1536. */
enum { STEPS = 16 };

static const struct gi_option options[] = {
    {GI_OPTION("strength", LEVEL, struct nlmeans_params, strength), .also = "h", .letter = 's',
     .amount = true, .default_text = "4%",
     .help = "Strength h: about the standard deviation of the noise; a larger value removes more"},
    {GI_OPTION("patch", ODD, struct nlmeans_params, patch), .letter = 'p', .default_text = "7",
     .min = 1, .max = GI_NLMEANS_PATCH_MAX, .unit = "px",
     .help = "Side of the patches that are compared"},
    {GI_OPTION("search", ODD, struct nlmeans_params, search), .letter = 'k', .default_text = "21",
     .min = 1, .max = GI_NLMEANS_SEARCH_MAX, .unit = "px",
     .help = "Side of the square in which patches are searched"},
    GI_BORDER_OPTIONS(struct nlmeans_params),
    GI_ALPHA_OPTION(struct nlmeans_params, alpha),
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct nlmeans_params *p = params;
    return gi_level_check_positive(&p->strength, "strength", err);
}

struct nlmeans_tables {
    struct gi_nlmeans spec;
    uint16_t weights[GI_NLMEANS_ENTRIES];
};

/* Fills in the weights exp(-distance / unit) in units of 1 / GI_NLMEANS_ONE. Entry i is for the
 * integer distances from i << shift to ((i + 1) << shift) - 1, and has the weight of the mean of
 * these distances. */
static void fill(struct nlmeans_tables *t, double unit)
{
    struct gi_nlmeans *spec = &t->spec;
    double far = unit * log(2.0 * GI_NLMEANS_ONE); /* weights round to 0 from this distance on */
    while (far / ldexp(1, spec->shift) >= GI_NLMEANS_ENTRIES && spec->shift < 31)
        spec->shift++;
    spec->n = (int)fmin(far / ldexp(1, spec->shift) + 1, GI_NLMEANS_ENTRIES);
    spec->weights = t->weights;
    for (int i = 0; i < spec->n; i++) {
        double mean = ldexp(i, spec->shift) + (ldexp(1, spec->shift) - 1) / 2;
        t->weights[i] = (uint16_t)rint(GI_NLMEANS_ONE * exp(-mean / unit));
    }
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct nlmeans_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    double h = gi_level_number(&p->strength, src->type);
    struct nlmeans_tables *t = gi_plan_tables(plan, sizeof *t, err);
    if (!t)
        return GI_E_MEMORY;
    t->spec.patch = p->patch;
    t->spec.search = p->search;
    t->spec.border = gi_border_spec_from(&p->border, src);
    t->spec.scale = src->type == GI_U8 ? 1 : (float)(STEPS / h);
    h = src->type == GI_U8 ? h : STEPS;
    fill(t, h * h * p->patch * p->patch * gi_color_channels(src));
    plan->cost.other = 100.0 * p->search * p->search;
    plan->alpha_apart = true;
    plan->halo = p->search / 2 + p->patch / 2;
    plan->border = t->spec.border.mode;
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct nlmeans_tables *tables = plan->tables;
    return queue->k->nlmeans(queue, work->dst, work->srcs, &tables->spec, err);
}

const struct gi_filter gi_filter_nlmeans = {
    .name = "nlmeans",
    .group = GI_GROUP_FILTERS,
    .summary = "Denoise with non-local means",
    .examples = "gpuimg nlmeans in.png out.png\n"
                "gpuimg nlmeans night.jpg clean.jpg --strength 10\n"
                "gpuimg nlmeans scan.tif out.tif --strength 2% --patch 5 --search 15\n"
                "gpuimg nlmeans texture.tga out.tga --alpha keep",
    .manual = "Each pixel becomes a weighted mean of the pixels in the square of --search x "
              "--search pixels around it. A pixel q has a high weight if the patch of --patch x "
              "--patch pixels around q looks like the patch around p, the pixel that is "
              "computed. So noise is removed, while texture and edges, which repeat, stay. The "
              "weight is exp(-d / h^2), where h is --strength and d is the mean squared "
              "difference of the two patches over all colours.\n\n" GI_ALPHA_COPIED_MANUAL ".\n\n"
              "In float images pixels "
              "with NaN or infinity have no weight, and become the weighted mean of their "
              "neighbours.\n\n"
              "Source: A. Buades, B. Coll, J.-M. Morel, A non-local algorithm for image "
              "denoising, 2005. In OpenCV's fastNlMeansDenoising() the names are h (--strength), "
              "templateWindowSize (--patch) and searchWindowSize (--search); it uses --border "
              "reflect101 and rounds distances more coarsely. Colours are compared in RGB; to "
              "compare them in Lab, use the chain 'color --to lab | nlmeans | color --from lab'. "
              "In 8-bit images the distances d are exact; in other images they are rounded to "
              "sixteenths of the strength. The weights are whole numbers from a table of up to "
              "4096 distances. In integer images the weighted sums are exact, and each result is "
              "rounded once.",
    .samples.averages = true,
    .options = options,
    .params_nbytes = sizeof(struct nlmeans_params),
    .check = check,
    .plan = plan,
    .run = run,
};
