/* Convolve: any kernel, run separably where its rank is one.
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "filters/filter.h"
#include "filters/convolution/kernel_text.h"

/* Weights differ from a product of a row and a column by less than this part of the largest:
 * rank 1. */
#define RANK_ONE_TOLERANCE 1e-12

/* A sum of weights this small beside the sum of their absolute values is 0 but for rounding. */
#define ZERO_SUM 1e-6

struct params {
    const char *kernel;
    bool normalize, flip;
    double bias; /* sample units */
    struct gi_reals anchor;
    struct gi_border_params edge;
};

static const struct gi_option options[] = {
    {.name = "kernel",
     .letter = 'k',
     .type = GI_OPT_CONTENT,
     .offset = offsetof(struct params, kernel),
     .example = "0 -1 0; -1 5 -1; 0 -1 0",
     .metavar = "ROWS|FILE",
     .help = "The weights, row by row, or a file that holds them"},
    {.name = "normalize",
     .letter = 'n',
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, normalize),
     .help = "Divide the weights by their sum"},
    {.name = "bias",
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, bias),
     .default_text = "0",
     .unit = "in sample values",
     .help = "Added to each result"},
    {.name = "anchor",
     .type = GI_OPT_REALS,
     .offset = offsetof(struct params, anchor),
     .metavar = "X,Y",
     .help = "The weight that lies on the pixel itself, counted from zero at the top left of the "
             "kernel as it is written; left out, the middle, or right and below of it"},
    {.name = "flip",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, flip),
     .help = "Turn the kernel by half a turn first"},
    GI_BORDER_OPTIONS(struct params),
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

/* What run() needs of the options. */
struct plan {
    struct gi_kernel kernel; /* flipped and normalised */
    int anchor_x, anchor_y;
    double sum;
    enum gi_alpha_rule alpha;
    bool rank_one;
    double *row, *col; /* rank one: weights[j][i] = col[j] * row[i] */
};

static void plan_free(struct plan *plan)
{
    gi_kernel_free(&plan->kernel);
    free(plan->row);
    plan->row = plan->col = NULL;
}

/* Through its largest weight run the only row and column that a kernel of rank one can be made of.
 */
static enum gi_status plan_rank(struct plan *plan, struct gi_err *err)
{
    int width = plan->kernel.width, height = plan->kernel.height;
    const double *w = plan->kernel.weights;
    size_t n = (size_t)width * (size_t)height, pivot = 0;
    plan->row = malloc(((size_t)width + (size_t)height) * sizeof *plan->row);
    if (!plan->row)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a kernel of %d x %d", width, height);
    plan->col = plan->row + width;
    for (size_t i = 0; i < n; i++)
        if (fabs(w[i]) > fabs(w[pivot]))
            pivot = i;
    size_t p = pivot / (size_t)width, q = pivot % (size_t)width;
    for (int i = 0; i < width; i++)
        plan->row[i] = w[p * (size_t)width + (size_t)i];
    for (int j = 0; j < height; j++)
        plan->col[j] = w[pivot] == 0 ? 0 : w[(size_t)j * (size_t)width + q] / w[pivot];
    plan->rank_one = true;
    for (size_t i = 0; i < n && plan->rank_one; i++) {
        double product = plan->col[i / (size_t)width] * plan->row[i % (size_t)width];
        plan->rank_one = fabs(w[i] - product) <= RANK_ONE_TOLERANCE * fabs(w[pivot]);
    }
    return GI_OK;
}

/* Fills the sum and divides by it where asked. */
static enum gi_status plan_sum(struct plan *plan, bool normalize, struct gi_err *err)
{
    size_t n = (size_t)plan->kernel.width * (size_t)plan->kernel.height;
    double *w = plan->kernel.weights, sum = 0, sum_abs = 0;
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
    plan->sum = normalize ? 1 : sum;
    plan->alpha = zero ? GI_ALPHA_KEEP : GI_ALPHA_WEIGH;
    return GI_OK;
}

static enum gi_status plan_limits(const struct plan *plan, struct gi_err *err)
{
    int width = plan->kernel.width, height = plan->kernel.height;
    if (width > GI_TAPS_MAX || height > GI_TAPS_MAX)
        return gi_fail(err, GI_E_USAGE, "--kernel: %d x %d weights: want at most %d a side", width,
                       height, GI_TAPS_MAX);
    if (!plan->rank_one && (size_t)width * (size_t)height > GI_WEIGHTS_MAX)
        return gi_fail(err, GI_E_USAGE,
                       "--kernel: %d x %d weights: want at most %d in all, unless each row is a "
                       "multiple of one row",
                       width, height, GI_WEIGHTS_MAX);
    return GI_OK;
}

static enum gi_status plan_fill(struct plan *plan, const struct params *p, struct gi_err *err)
{
    struct gi_kernel *kernel = &plan->kernel;
    if (p->anchor.n && !anchor_inside(&p->anchor, kernel))
        return gi_fail(err, GI_E_USAGE, "--anchor: want X,Y, whole numbers, 0,0 to %d,%d",
                       kernel->width - 1, kernel->height - 1);
    plan->anchor_x = p->anchor.n ? (int)p->anchor.v[0] : kernel->width / 2;
    plan->anchor_y = p->anchor.n ? (int)p->anchor.v[1] : kernel->height / 2;
    if (p->flip) {
        flip(kernel);
        plan->anchor_x = kernel->width - 1 - plan->anchor_x;
        plan->anchor_y = kernel->height - 1 - plan->anchor_y;
    }
    enum gi_status status = plan_sum(plan, p->normalize, err);
    if (!status)
        status = plan_rank(plan, err);
    return status ? status : plan_limits(plan, err);
}

/* Makes `plan`, which the caller frees unless this fails. */
static enum gi_status plan_make(struct plan *plan, const struct params *p, struct gi_err *err)
{
    *plan = (struct plan){0};
    if (!p->kernel)
        return gi_fail(err, GI_E_USAGE, "--kernel: missing: want rows of weights such as \"%s\"",
                       options[0].example);
    enum gi_status status = gi_kernel_read(&plan->kernel, p->kernel, err);
    if (status)
        return gi_err_prefix(err, "--kernel");
    status = plan_fill(plan, p, err);
    if (status)
        plan_free(plan);
    return status;
}

static enum gi_status check(void *arg, struct gi_err *err)
{
    struct plan plan;
    enum gi_status status = plan_make(&plan, arg, err);
    if (!status)
        plan_free(&plan);
    return status;
}

static struct gi_halo halo(const void *arg)
{
    const struct params *p = arg;
    struct plan plan;
    if (plan_make(&plan, p, NULL))
        return (struct gi_halo){0, GI_BORDER_CLAMP}; /* run() will say why */
    int above = plan.anchor_y, below = plan.kernel.height - 1 - plan.anchor_y;
    plan_free(&plan);
    return (struct gi_halo){above > below ? above : below, (enum gi_border)p->edge.border};
}

static struct gi_cost cost(const struct gi_image *src, const void *arg)
{
    (void)src;
    struct plan plan;
    if (plan_make(&plan, arg, NULL))
        return (struct gi_cost){0};
    double width = plan.kernel.width, height = plan.kernel.height;
    double fmas = plan.rank_one ? width + height : width * height;
    plan_free(&plan);
    return (struct gi_cost){.fmas = fmas};
}

static void to_float(float *dst, const double *src, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = (float)src[i];
}

static enum gi_status run_plan(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct params *p,
                               const struct plan *plan, float *weights, struct gi_err *err)
{
    int width = plan->kernel.width, height = plan->kernel.height;
    struct gi_edge edge = gi_edge_from(&p->edge, src);
    struct gi_finish finish = {.kind = GI_FINISH_STORE, .bias = (float)p->bias};
    if (plan->rank_one) {
        to_float(weights, plan->row, (size_t)width + (size_t)height);
        struct gi_separable spec = {.row = weights,
                                    .col = weights + width,
                                    .nrow = width,
                                    .ncol = height,
                                    .row_anchor = plan->anchor_x,
                                    .col_anchor = plan->anchor_y,
                                    .sum = (float)plan->sum,
                                    .alpha = plan->alpha,
                                    .edge = edge,
                                    .finish = finish};
        return queue->k->convolve_separable(queue, dst, src, &spec, err);
    }
    to_float(weights, plan->kernel.weights, (size_t)width * (size_t)height);
    struct gi_dense spec = {.weights = weights,
                            .width = width,
                            .height = height,
                            .anchor_x = plan->anchor_x,
                            .anchor_y = plan->anchor_y,
                            .sum = (float)plan->sum,
                            .alpha = plan->alpha,
                            .edge = edge,
                            .finish = finish};
    return queue->k->convolve_2d(queue, dst, src, &spec, err);
}

static enum gi_status run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const void *arg, const void *state, struct gi_err *err)
{
    (void)state;
    struct plan plan;
    enum gi_status status = plan_make(&plan, arg, err);
    if (status)
        return status;
    size_t n = plan.rank_one ? (size_t)plan.kernel.width + (size_t)plan.kernel.height
                             : (size_t)plan.kernel.width * (size_t)plan.kernel.height;
    float *weights = malloc(n * sizeof *weights);
    status = weights ? run_plan(queue, dst, src, arg, &plan, weights, err)
                     : gi_fail(err, GI_E_MEMORY, "out of memory: weights");
    free(weights);
    plan_free(&plan);
    return status;
}

const struct gi_filter gi_filter_convolve = {
    .name = "convolve",
    .summary = "Apply any kernel of weights",
    .manual =
        "out(y, x) = bias + sum of kernel(j, i) in(y + j - anchor y, x + i - anchor x). The kernel "
        "is "
        "laid on the image as it is written, as OpenCV's filter2D, vips conv and GIMP do; with "
        "--flip it is turned by 180 degrees first, which is the convolution of the textbooks and "
        "of scipy.ndimage.convolve.\n\n"
        "The kernel has any number of rows and columns, odd or even. Rows are parted by ';' or "
        "line ends, weights by blanks or commas; a weight may be a fraction such as 1/16; what "
        "follows a '#' on a line is a comment. The middle of an even side is the weight right "
        "of, or below, its centre, as in OpenCV and scipy; --anchor picks another.\n\n"
        "A kernel whose rows are all multiples of one row (a Gaussian, a mean, Sobel) is found out "
        "and runs as rows and then columns, which is much faster for large kernels and allows "
        "larger ones.\n\n"
        "With alpha, colour counts as much as its pixel is opaque. Weights with a sum apply to "
        "alpha too; those that sum to zero, as for edges, leave it as it is.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .check = check,
    .halo = halo,
    .cost = cost,
    .run = run,
};
