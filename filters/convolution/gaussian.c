/* Gaussian filter (blur): a separable convolution with Gaussian weights, computed in double from
 * sigma, or from k by OpenCV's formula.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/convolution/weights.h"

#include <math.h>

struct params {
    double sigma; /* px; NAN until check() */
    int k;        /* taps; 0 until check() */
    struct gi_border_params border;
};

static const struct gi_option options[] = {
    {.name = "sigma",
     .letter = 's',
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, sigma),
     .min = 0.1,
     .max = 250,
     .unit = "px",
     .help = "Standard deviation; without it sigma = 0.3 ((k - 1) / 2 - 1) + 0.8, or 1 "
             "px without --k"},
    {.name = "k",
     .letter = 'k',
     .type = GI_OPT_ODD,
     .offset = offsetof(struct params, k),
     .min = 1,
     .max = GI_TAPS_MAX,
     .unit = "px",
     .help = "Side of the kernel; without it k = 2 ceil(4 sigma) + 1, which reaches "
             "four sigma"},
    GI_BORDER_OPTIONS(struct params),
    {.name = NULL},
};

static enum gi_status check(void *arg, struct gi_err *err)
{
    (void)err;
    struct params *p = arg;
    if (isnan(p->sigma))
        p->sigma = p->k ? gi_gaussian_sigma(p->k) : 1;
    if (!p->k)
        p->k = gi_gaussian_k(p->sigma);
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct params *p = plan->params;
    struct gi_separable_tables *tables = gi_separable_plan(plan, p->k, &p->border, err);
    if (!tables)
        return GI_E_MEMORY;
    gi_separable_sum(tables, gi_gaussian_taps(tables->taps, p->k, p->sigma));
    return GI_OK;
}

const struct gi_filter gi_filter_gaussian = {
    .name = "gaussian",
    .group = GI_GROUP_FILTERS,
    .summary = "Blur with a Gaussian filter",
    .examples = "gpuimg gaussian in.png out.png --sigma 2.5\n"
                "gpuimg gaussian in.png out.png --k 5\n"
                "djpeg photo.jpg | gpuimg gaussian - - --sigma 4 | cjpeg >soft.jpg",
    .manual = "Each pixel becomes the mean of its neighbours, weighted by exp(-(x^2 + y^2) / (2 "
              "sigma^2)). The weights are taken at whole pixels and divided by their sum; rows "
              "are filtered first, then columns.\n\n"
              "--sigma and --k follow from each other. With --sigma alone the kernel reaches "
              "four sigma: k = 2 ceil(4 sigma) + 1. With --k alone sigma = 0.3 ((k - 1) / 2 - 1) "
              "+ 0.8, the formula of OpenCV's getGaussianKernel, which has fixed weights up to k = "
              "9. With both, the Gaussian is truncated "
              "to k and divided by the sum of its weights. With neither, sigma is 1 px.\n\n"
              "Colour is weighted by alpha, so that transparent pixels do not bleed.",
    .averages = true,
    .options = options,
    .params_nbytes = sizeof(struct params),
    .check = check,
    .plan = plan,
    .run = gi_separable_run,
};
