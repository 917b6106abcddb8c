/* Gaussian filter (blur): a separable convolution. Its weights are computed in double from sigma,
 * or from k with the sigma of OpenCV's formula.
 * SPDX-License-Identifier: MIT */
#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/convolution/weights.h"

#include <math.h>

struct gaussian_params {
    double sigma; /* px; NAN until check() */
    int k;        /* taps; 0 until check() */
    int alpha;
    struct gi_border_params border;
};

static const struct gi_option options[] = {
    {GI_OPTION("sigma", REAL, struct gaussian_params, sigma), .letter = 's', .min = 0.1, .max = 250,
     .unit = "px",
     .help = "Standard deviation of the Gaussian; by default sigma = 0.3 ((k - 1) / 2 - 1) + "
             "0.8, or 1 px if --k is not given either"},
    {GI_OPTION("k", ODD, struct gaussian_params, k), .letter = 'k', .min = 1, .max = GI_TAPS_MAX,
     .unit = "px", .help = "Side of the kernel; by default k = 2 ceil(4 sigma) + 1"},
    GI_BORDER_OPTIONS(struct gaussian_params),
    GI_ALPHA_OPTION(struct gaussian_params, alpha),
    {.name = NULL},
};

static enum gi_status check(void *arg, struct gi_err *err)
{
    struct gaussian_params *p = arg;
    if (isnan(p->sigma))
        p->sigma = p->k ? gi_gaussian_sigma(p->k) : 1;
    if (!p->k)
        p->k = gi_gaussian_k(p->sigma);
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gaussian_params *p = plan->params;
    struct gi_separable_tables *tables = gi_separable_plan(plan, p->k, &p->border, err);
    if (!tables)
        return GI_E_MEMORY;
    tables->spec.alpha = gi_alpha_rule_of(plan, p->alpha, GI_ALPHA_WEIGH);
    gi_separable_sum(tables, gi_gaussian_taps(tables->taps, p->k, p->sigma));
    return GI_OK;
}

const struct gi_filter gi_filter_gaussian = {
    .name = "gaussian",
    .group = GI_GROUP_FILTERS,
    .summary = "Blur with a Gaussian filter",
    .examples = "gpuimg gaussian in.png out.png --sigma 2.5\n"
                "gpuimg gaussian in.png out.png --k 5\n"
                "djpeg photo.jpg | gpuimg gaussian - - --sigma 4 | cjpeg >soft.jpg\n"
                "gpuimg gaussian texture.tga soft.tga --sigma 2 --alpha keep",
    .manual =
        "Each pixel becomes the mean of its neighbours, weighted by exp(-(x^2 + y^2) / (2 "
        "sigma^2)). Here x and y are the distances in pixels, and the weights are divided "
        "by their sum. Rows are filtered first, then columns.\n\n"
        "Usually only --sigma is given, and the kernel then reaches four sigma: k = 2 "
        "ceil(4 sigma) + 1. If only --k is given, sigma = 0.3 ((k - 1) / 2 - 1) + 0.8. "
        "This is the formula of OpenCV's getGaussianKernel, except that OpenCV has fixed "
        "weights up to k = 9. If both are given, the Gaussian is cut off after k weights "
        "per row and column. If neither is given, sigma is 1 px.\n\n" GI_ALPHA_FILTERED_MANUAL ".",
    .samples.averages = true,
    .options = options,
    .params_nbytes = sizeof(struct gaussian_params),
    .check = check,
    .plan = plan,
    .run = gi_separable_run,
};
