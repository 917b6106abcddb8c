/* Gaussian filter (blur): a separable convolution. Its weights are computed in double from sigma,
 * or from k with the sigma of OpenCV's formula.
 * SPDX-License-Identifier: MIT */
#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/option_footprint.h"
#include "filters/convolution/weights.h"

#include <math.h>

struct gaussian_params {
    struct gi_footprint_params window; /* k and size; the rest is unset */
    struct gi_reals sigma;             /* px, along rows and along columns; n = 0: unset */
    struct gi_reals order;             /* of the derivative, the same; n = 0: unset */
    int alpha;
    struct gi_border_params border;
};

static const struct gi_option options[] = {
    {GI_OPTION("sigma", REALS, struct gaussian_params, sigma), .letter = 's', .least = 1, .most = 2,
     .min = 0, .max = 250, .unit = "px", .metavar = "SIGMA|X,Y",
     .help = "Standard deviation of the Gaussian, or one along rows and one along columns, where 0 "
             "does not filter; by default sigma = 0.3 ((k - 1) / 2 - 1) + 0.8, or 1 px if neither "
             "--k nor --size is given either"},
    {GI_OPTION("k", ODD, struct gaussian_params, window.k), .letter = 'k', .min = 1,
     .max = GI_TAPS_MAX, .unit = "px",
     .help = "Side of the kernel; by default k = 2 ceil(4 sigma) + 1"},
    {GI_OPTION("size", EXTENT, struct gaussian_params, window.size), .form = "WIDTHxHEIGHT or 50%",
     .help =
         "Width and height of the kernel in place of the square of --k, at most 4001 px; an even "
         "side gets one pixel more"},
    {GI_OPTION("order", REALS, struct gaussian_params, order), .least = 2, .most = 2, .min = 0,
     .max = 3, .metavar = "X,Y",
     .help = "Filter with a derivative of the Gaussian, of this order along rows and along "
             "columns, for example 1,0 for the slope from left to right"},
    GI_BORDER_OPTIONS(struct gaussian_params),
    GI_ALPHA_OPTION(struct gaussian_params, alpha),
    {.name = NULL},
};

static enum gi_status check(void *arg, struct gi_err *err)
{
    struct gaussian_params *p = arg;
    for (int i = 0; i < p->order.n; i++)
        if (p->order.v[i] != floor(p->order.v[i]))
            return gi_fail(err, GI_E_USAGE, "--order: %g: want a whole number", p->order.v[i]);
    for (int i = 0; i < p->order.n; i++)
        if (p->order.v[i] > 0 && p->sigma.n && p->sigma.v[p->sigma.n - 1 < i ? 0 : i] < 0.1)
            return gi_fail(err, GI_E_USAGE,
                           "--order: want a sigma of at least 0.1 px where there is a derivative");
    return gi_footprint_size_check(&p->window, err);
}

/* Fills one direction, 0 along rows, from the options. `k` is the side that they give, or 0. */
static struct gi_gaussian direction(const struct gaussian_params *p, int i, int k)
{
    struct gi_gaussian g;
    g.sigma = p->sigma.n ? p->sigma.v[p->sigma.n > i ? i : 0] : k ? gi_gaussian_sigma(k) : 1;
    g.k = k ? k | 1 : gi_gaussian_k(g.sigma);
    g.order = p->order.n ? (int)p->order.v[i] : 0;
    return g;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gaussian_params *p = plan->params;
    int width, height;
    enum gi_status status =
        gi_footprint_sides(&width, &height, &p->window, &plan->sources[0], GI_TAPS_MAX, err);
    if (status)
        return status;
    const struct gi_gaussian row = direction(p, 0, width), col = direction(p, 1, height);
    struct gi_separable_tables *tables = gi_gaussian_plan(plan, &row, &col, &p->border, err);
    if (!tables)
        return GI_E_MEMORY;
    bool derives = row.order || col.order;
    tables->spec.alpha = gi_alpha_rule_of(plan, p->alpha, derives ? GI_ALPHA_KEEP : GI_ALPHA_WEIGH);
    /* Integer samples cannot store a sign, but floats can. */
    if (derives && plan->sources[0].type != GI_F32)
        tables->spec.epilogue.kind = GI_EPILOGUE_ABS;
    return GI_OK;
}

const struct gi_filter gi_filter_gaussian = {
    .name = "gaussian",
    .group = GI_GROUP_FILTERS,
    .summary = "Blur with a Gaussian filter",
    .examples = "gpuimg gaussian in.png out.png --sigma 2.5\n"
                "gpuimg gaussian in.png out.png --k 5\n"
                "djpeg photo.jpg | gpuimg gaussian - - --sigma 4 | cjpeg >soft.jpg\n"
                "gpuimg gaussian in.png streaks.png --sigma 12,0\n"
                "gpuimg gaussian in.png slope.tif --sigma 2 --order 1,0 --depth float\n"
                "gpuimg gaussian texture.tga soft.tga --sigma 2 --alpha keep",
    .manual =
        "Each pixel becomes the mean of its neighbours, weighted by exp(-(x^2 + y^2) / (2 "
        "sigma^2)). Here x and y are the distances in pixels, and the weights are divided "
        "by their sum. Rows are filtered first, then columns.\n\n"
        "Usually only --sigma is given, and the kernel then reaches four sigma: k = 2 "
        "ceil(4 sigma) + 1. If only --k is given, sigma = 0.3 ((k - 1) / 2 - 1) + 0.8. "
        "This is the formula of OpenCV's getGaussianKernel, except that OpenCV has fixed "
        "weights up to k = 9. If both are given, the Gaussian is cut off after k weights "
        "per row and column. If neither is given, sigma is 1 px. --sigma X,Y and --size "
        "WIDTHxHEIGHT give the two directions values of their own; sigma 0 leaves a direction "
        "as it is.\n\n"
        "--order filters with a derivative of the Gaussian, as scipy's gaussian_filter() does with "
        "order: the result is the derivative of the blurred image, in sample values per pixel (to "
        "the power of the order). 8- and 16-bit images get its absolute value, and floats its "
        "sign too. The order can be 0 to 3 in each direction.\n\n" GI_ALPHA_FILTERED_MANUAL ".",
    .samples.averages = true,
    .options = options,
    .params_nbytes = sizeof(struct gaussian_params),
    .check = check,
    .plan = plan,
    .run = gi_separable_run,
};
