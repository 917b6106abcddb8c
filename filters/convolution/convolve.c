/* Convolution with any kernel. A kernel of rank one, which is the product of a column and a row, is
 * applied separably. Other kernels are applied in two dimensions.
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/convolution/kernel_text.h"
#include "imgio/small.h"
#include "kernels/convolution.h"
#include "kernels/kernels.h"

/* A kernel has rank one if its weights differ from the product of a row and a column by at most
 * this fraction of the largest weight. */
#define RANK_ONE_TOLERANCE 1e-12

/* A sum of weights counts as 0 if it is at most this fraction of the sum of absolute weights. */
#define ZERO_SUM 1e-6

struct convolve_params {
    const char *kernel;
    bool normalize, flip;
    double bias; /* sample units */
    struct gi_reals anchor;
    int alpha;
    struct gi_border_params border;
};

static const struct gi_option options[] = {
    {GI_OPTION("kernel", CONTENT, struct convolve_params, kernel), .letter = 'k',
     .example = "0 -1 0; -1 5 -1; 0 -1 0", .metavar = "ROWS|FILE",
     .help = "The weights, row by row, or the name of a file that holds them"},
    {GI_OPTION("normalize", FLAG, struct convolve_params, normalize), .letter = 'n',
     .help = "Divide the weights by their sum, so that the brightness stays the same"},
    {GI_OPTION("bias", REAL, struct convolve_params, bias), .default_text = "0",
     .unit = "in sample values", .help = "Number that is added to each result"},
    {GI_OPTION("anchor", REALS, struct convolve_params, anchor), .least = 2, .most = 2,
     .metavar = "X,Y",
     .help = "Column and row of the weight that is applied to the pixel itself, counted from 0 "
             "at the top left of the kernel as written; by default the middle"},
    {GI_OPTION("flip", FLAG, struct convolve_params, flip),
     .help = "Turn the kernel by 180 degrees before it is applied"},
    GI_BORDER_OPTIONS(struct convolve_params),
    GI_ALPHA_OPTION(struct convolve_params, alpha),
    {.name = NULL},
};

static bool anchor_inside(const struct gi_reals *anchor, const struct gi_kernel *kernel)
{
    double x = anchor->v[0], y = anchor->v[1];
    return anchor->n == 2 && x == floor(x) && y == floor(y) && x >= 0 && x < kernel->width &&
           y >= 0 && y < kernel->height;
}

static void flip(struct gi_kernel *kernel)
{
    size_t n = (size_t)kernel->width * (size_t)kernel->height;
    for (size_t i = 0; i < n / 2; i++) {
        double w = kernel->weights[i];
        kernel->weights[i] = kernel->weights[n - 1 - i];
        kernel->weights[n - 1 - i] = w;
    }
}

/* The kernel that the options define, in double precision. */
struct kernel {
    struct gi_kernel kernel; /* flipped and normalised */
    int anchor_x, anchor_y;
    double sum;
    enum gi_alpha_rule alpha;
    bool rank_one;
    double *row, *col; /* if rank_one: weights[j][i] = col[j] * row[i] */
};

static void kernel_free(struct kernel *k)
{
    gi_kernel_free(&k->kernel);
    free(k->row);
    k->row = k->col = NULL;
}

/* Tests whether the kernel has rank one. The only candidates for the factors are the row and the
 * column that contain the largest weight. */
static void kernel_rank(struct kernel *k)
{
    int width = k->kernel.width, height = k->kernel.height;
    const double *w = k->kernel.weights;
    size_t n = (size_t)width * (size_t)height, pivot = 0;
    k->row = gi_small_alloc(((size_t)width + (size_t)height) * sizeof *k->row);
    k->col = k->row + width;
    for (size_t i = 0; i < n; i++)
        if (fabs(w[i]) > fabs(w[pivot]))
            pivot = i;
    size_t p = pivot / (size_t)width, q = pivot % (size_t)width;
    for (int i = 0; i < width; i++)
        k->row[i] = w[p * (size_t)width + (size_t)i];
    for (int j = 0; j < height; j++)
        k->col[j] = w[pivot] == 0 ? 0 : w[(size_t)j * (size_t)width + q] / w[pivot];
    k->rank_one = true;
    for (size_t i = 0; i < n && k->rank_one; i++) {
        double product = k->col[i / (size_t)width] * k->row[i % (size_t)width];
        k->rank_one = fabs(w[i] - product) <= RANK_ONE_TOLERANCE * fabs(w[pivot]);
    }
}

/* Computes the sum of the weights. If `normalize` is set, divides the weights by their sum. */
static enum gi_status kernel_sum(struct kernel *k, bool normalize, struct gi_err *err)
{
    size_t n = (size_t)k->kernel.width * (size_t)k->kernel.height;
    double *w = k->kernel.weights, sum = 0, sum_abs = 0;
    for (size_t i = 0; i < n; i++) {
        sum += w[i];
        sum_abs += fabs(w[i]);
    }
    bool zero = !(fabs(sum) > ZERO_SUM * sum_abs);
    if (normalize && zero)
        return gi_fail(err, GI_E_USAGE, "--normalize: the weights sum to 0: want another sum");
    if (normalize)
        for (size_t i = 0; i < n; i++)
            w[i] /= sum;
    k->sum = normalize ? 1 : sum;
    k->alpha = zero ? GI_ALPHA_KEEP : GI_ALPHA_WEIGH;
    return GI_OK;
}

static enum gi_status kernel_limits(const struct kernel *k, struct gi_err *err)
{
    int width = k->kernel.width, height = k->kernel.height;
    if (width > GI_TAPS_MAX || height > GI_TAPS_MAX)
        return gi_fail(err, GI_E_USAGE, "--kernel: %d x %d weights: want at most %d a side", width,
                       height, GI_TAPS_MAX);
    if (!k->rank_one && (size_t)width * (size_t)height > GI_WEIGHTS_MAX)
        return gi_fail(err, GI_E_USAGE,
                       "--kernel: %d x %d weights: want at most %d in all, unless each row is a "
                       "multiple of one row",
                       width, height, GI_WEIGHTS_MAX);
    return GI_OK;
}

static enum gi_status kernel_fill(struct kernel *k, const struct convolve_params *p,
                                  struct gi_err *err)
{
    struct gi_kernel *kernel = &k->kernel;
    if (p->anchor.n && !anchor_inside(&p->anchor, kernel))
        return gi_fail(err, GI_E_USAGE, "--anchor: want X,Y, whole numbers, 0,0 to %d,%d",
                       kernel->width - 1, kernel->height - 1);
    k->anchor_x = p->anchor.n ? (int)p->anchor.v[0] : kernel->width / 2;
    k->anchor_y = p->anchor.n ? (int)p->anchor.v[1] : kernel->height / 2;
    if (p->flip) {
        flip(kernel);
        k->anchor_x = kernel->width - 1 - k->anchor_x;
        k->anchor_y = kernel->height - 1 - k->anchor_y;
    }
    enum gi_status status = kernel_sum(k, p->normalize, err);
    if (!status)
        kernel_rank(k);
    return status ? status : kernel_limits(k, err);
}

/* Makes `k`. The caller frees it unless this function fails. */
static enum gi_status kernel_make(struct kernel *k, const struct convolve_params *p,
                                  struct gi_err *err)
{
    *k = (struct kernel){0};
    if (!p->kernel)
        return gi_fail(err, GI_E_USAGE, "--kernel: missing: want rows of weights such as \"%s\"",
                       options[0].example);
    enum gi_status status = gi_kernel_read(&k->kernel, p->kernel, err);
    if (status) {
        gi_err_prefix(err, "--kernel");
        return status;
    }
    status = kernel_fill(k, p, err);
    if (status)
        kernel_free(k);
    return status;
}

static enum gi_status check(void *arg, struct gi_err *err)
{
    struct kernel k;
    enum gi_status status = kernel_make(&k, arg, err);
    if (!status)
        kernel_free(&k);
    return status;
}

/* Returns whether all weights and the bias are multiples of 1 / q. */
static bool has_denominator(const struct kernel *k, double bias, int q)
{
    size_t n = (size_t)k->kernel.width * (size_t)k->kernel.height;
    for (size_t i = 0; i <= n; i++) {
        double v = q * (i < n ? k->kernel.weights[i] : bias);
        if (fabs(v - rint(v)) > 1e-9)
            return false;
    }
    return true;
}

static bool are_exact(const float *weights, size_t n)
{
    const double unit = 1.0 / 4096;
    for (size_t i = 0; i < n; i++)
        if (fmod((double)weights[i], unit) != 0)
            return false;
    return true;
}

/* Returns whether results are often ties that sums of the float weights miss: if the common
 * denominator is even, one result in as many is a tie. With more than 1,000, ties do not matter. */
static bool misses_ties(const struct kernel *k, double bias, const float *weights, size_t nweights)
{
    int q = 1;
    while (q <= 1000 && !has_denominator(k, bias, q))
        q++;
    return q <= 1000 && q % 2 == 0 && !are_exact(weights, nweights);
}

/* The tables of the plan: `separable` is used if the kernel has rank one, `dense` otherwise. */
struct convolve_tables {
    bool rank_one;
    struct gi_separable separable;
    struct gi_dense dense;
    float weights[]; /* rank one: the row, then the column; else all rows of the kernel */
};

static void fill_tables(struct convolve_tables *tables, const struct kernel *k, size_t nweights,
                        const struct gi_border_spec *border, double bias, enum gi_type type)
{
    int width = k->kernel.width, height = k->kernel.height;
    struct gi_epilogue epilogue = {.kind = GI_EPILOGUE_STORE, .bias = (float)bias};
    const double *from = k->rank_one ? k->row : k->kernel.weights;
    for (size_t i = 0; i < nweights; i++)
        tables->weights[i] = (float)from[i];
    tables->rank_one = k->rank_one;
    if (type == GI_U8 && misses_ties(k, bias, tables->weights, nweights))
        epilogue.settle = true;
    tables->separable = (struct gi_separable){.row = tables->weights,
                                              .col = tables->weights + width,
                                              .nrow = width,
                                              .ncol = height,
                                              .row_anchor = k->anchor_x,
                                              .col_anchor = k->anchor_y,
                                              .sum = (float)k->sum,
                                              .alpha = k->alpha,
                                              .border = *border,
                                              .epilogue = epilogue};
    tables->dense = (struct gi_dense){.weights = tables->weights,
                                      .width = width,
                                      .height = height,
                                      .anchor_x = k->anchor_x,
                                      .anchor_y = k->anchor_y,
                                      .sum = (float)k->sum,
                                      .alpha = k->alpha,
                                      .border = *border,
                                      .epilogue = epilogue};
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct convolve_params *p = plan->params;
    struct kernel k;
    enum gi_status status = kernel_make(&k, p, err);
    if (status)
        return status;
    size_t width = (size_t)k.kernel.width, height = (size_t)k.kernel.height;
    size_t nweights = k.rank_one ? width + height : width * height;
    int above = k.anchor_y, below = k.kernel.height - 1 - k.anchor_y;
    struct gi_border_spec border = gi_border_spec_from(&p->border, &plan->sources[0]);
    struct convolve_tables *tables =
        gi_plan_tables(plan, sizeof *tables + nweights * sizeof *tables->weights, err);
    k.alpha = gi_alpha_rule_of(plan, p->alpha, k.alpha);
    if (tables)
        fill_tables(tables, &k, nweights, &border, p->bias, plan->sources[0].type);
    plan->alpha_apart = p->bias != 0; /* primitives don't add it to alpha */
    plan->halo = above > below ? above : below;
    plan->border = border.mode;
    plan->cost.fmas = (double)nweights;
    kernel_free(&k);
    return tables ? GI_OK : GI_E_MEMORY;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct convolve_tables *tables = plan->tables;
    return tables->rank_one
               ? queue->k->convolve_separable(queue, work->dst, work->srcs, &tables->separable, err)
               : queue->k->convolve_2d(queue, work->dst, work->srcs, &tables->dense, err);
}

const struct gi_filter gi_filter_convolve = {
    .name = "convolve",
    .group = GI_GROUP_FILTERS,
    .planes = GI_PLANES_RGB,
    .summary = "Convolve with any kernel (2-D linear filter)",
    .examples =
        "gpuimg convolve in.png out.png --kernel \"0 -1 0; -1 5 -1; 0 -1 0\"\n"
        "gpuimg convolve in.png out.png --kernel \"3x3: 1 2 1 2 4 2 1 2 1\" --normalize\n"
        "gpuimg convolve in.png emboss.png --kernel emboss.txt --bias 128\n"
        "gpuimg convolve texture.tga out.tga --kernel \"1 2 1\" --normalize --alpha straight",
    .manual = "Each pixel becomes the sum of the pixels around it, multiplied by the weights of "
              "--kernel: out(y, x) = bias + sum of kernel(j, i) in(y + j - anchor y, x + i - "
              "anchor x) over all rows j and columns i of the kernel. The kernel is applied as "
              "written (a correlation), like OpenCV's filter2D. With --flip it is turned by 180 "
              "degrees first: that is the convolution of the textbooks and of "
              "scipy.ndimage.convolve.\n\n"
              "In --kernel rows are separated by ';' or line ends, and weights by blanks or "
              "commas. The number of rows and columns may be odd or even. A weight may be a "
              "fraction such as 1/16, and '#' begins a comment. A prefix such as \"3x3:\" gives "
              "width and height; the weights then need no row ends. A single row of 9, 25, 49 or "
              "another odd square number of weights needs the prefix, for example \"9x1:\", "
              "because it could be a square kernel too.\n\n"
              "The anchor is the weight that is applied to the pixel itself. On an even side the "
              "anchor is the later one of the two middle weights, as in OpenCV and scipy; "
              "--anchor chooses another.\n\n"
              "A kernel is separable if all its rows are multiples of one row, as in a Gaussian, "
              "a mean or Sobel. Such kernels are detected and applied first along rows, then "
              "along columns. This is much faster for large kernels and allows larger ones: "
              "gpuimg help limits has the limits.\n\n" GI_ALPHA_FILTERED_MANUAL
              ". Alpha is filtered too, without --bias, unless the sum of the weights is zero, as "
              "in an edge detector; then it does not change.",
    .samples.averages = true,
    .options = options,
    .params_nbytes = sizeof(struct convolve_params),
    .check = check,
    .plan = plan,
    .run = run,
};
