/* Edge detection: gradients by 3 x 3 operators (Sobel, Scharr, Prewitt) and the Laplacian. The
 * magnitude is the primitive `gradient_magnitude`, a component is a separable convolution, and the
 * Laplacian is a dense convolution.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/alpha.h"
#include "filters/filter.h"
#include "kernels/convolution.h"
#include "kernels/kernels.h"

enum operator_name { SOBEL, SCHARR, PREWITT, LAPLACIAN };
enum part { MAGNITUDE, X, Y };

struct edges_params {
    int operator_name, of, alpha;
    double scale;
    struct gi_border_params border;
};

static const struct gi_choice operators[] = {
    {"sobel", NULL, "gradient, weighted by 1 2 1"},
    {"scharr", NULL, "gradient, weighted by 3 10 3"},
    {"prewitt", NULL, "gradient, weighted by 1 1 1"},
    {"laplacian", NULL, "the four neighbours minus four times the pixel"},
    {"laplace", "laplacian", NULL},
    {NULL, NULL, NULL},
};

static const struct gi_choice parts[] = {
    {"magnitude", NULL, "the length of the gradient, in any direction"},
    {"x", NULL, "the derivative from left to right"},
    {"y", NULL, "the derivative from top to bottom"},
    {NULL, NULL, NULL},
};

static const struct gi_option options[] = {
    {GI_OPTION("operator", CHOICE, struct edges_params, operator_name), .default_text = "sobel",
     .choices = operators, .help = "Which edge detector is used"},
    {GI_OPTION("component", CHOICE, struct edges_params, of), .also = "of",
     .default_text = "magnitude", .choices = parts,
     .help = "Which part of the gradient the result is; not for the Laplacian"},
    {GI_OPTION("scale", REAL, struct edges_params, scale), .default_text = "1", .min = 0,
     .max = 1000, .help = "Factor that the result is multiplied by"},
    GI_BORDER_OPTIONS(struct edges_params),
    GI_ALPHA_OPTION(struct edges_params, alpha),
    {.name = NULL},
};

static enum gi_status check(void *arg, struct gi_err *err)
{
    const struct edges_params *p = arg;
    if (p->operator_name == LAPLACIAN && p->of != MAGNITUDE)
        return gi_fail(
            err, GI_E_USAGE,
            "--component %s: want magnitude with --operator laplacian, which has no direction",
            parts[p->of].name);
    return GI_OK;
}

/* The specifications of the primitives. The operator and the component decide which one is used. */
struct edges_tables {
    struct gi_gradient_magnitude gradient;
    struct gi_separable part;
    struct gi_dense laplacian;
    float weights[9];
};

static const float difference[3] = {-1, 0, 1};

static void plan_laplacian(struct edges_tables *tables, float scale)
{
    const float weights[9] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    for (int i = 0; i < 9; i++)
        tables->weights[i] = weights[i] * scale;
    tables->laplacian = (struct gi_dense){.weights = tables->weights,
                                          .width = 3,
                                          .height = 3,
                                          .anchor_x = 1,
                                          .anchor_y = 1,
                                          .alpha = tables->gradient.alpha,
                                          .border = tables->gradient.border};
}

static void plan_part(struct edges_tables *tables, enum part part)
{
    const float *smooth = tables->gradient.smooth;
    tables->part = (struct gi_separable){.row = part == X ? difference : smooth,
                                         .col = part == X ? smooth : difference,
                                         .nrow = 3,
                                         .ncol = 3,
                                         .row_anchor = 1,
                                         .col_anchor = 1,
                                         .alpha = tables->gradient.alpha,
                                         .border = tables->gradient.border};
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    static const double smooths[][3] = {{1, 2, 1}, {3, 10, 3}, {1, 1, 1}};
    const struct edges_params *p = plan->params;
    struct edges_tables *tables = gi_plan_tables(plan, sizeof *tables, err);
    if (!tables)
        return GI_E_MEMORY;
    tables->gradient = (struct gi_gradient_magnitude){
        .alpha = gi_alpha_rule_of(plan, p->alpha, GI_ALPHA_KEEP),
        .border = gi_border_spec_from(&p->border, &plan->sources[0])};
    for (int i = 0; i < 3 && p->operator_name != LAPLACIAN; i++)
        tables->gradient.smooth[i] = (float)(smooths[p->operator_name][i] * p->scale);
    plan_laplacian(tables, (float)p->scale);
    plan_part(tables, (enum part)p->of);
    /* Integer samples cannot store a sign, but floats can. */
    if (plan->sources[0].type != GI_F32)
        tables->laplacian.epilogue.kind = tables->part.epilogue.kind = GI_EPILOGUE_ABS;
    /* Sums with a decimal scale miss ties. */
    tables->laplacian.epilogue.settle = tables->part.epilogue.settle =
        plan->sources[0].type == GI_U8 && fmod(p->scale * 4096, 1) != 0;
    plan->alpha_apart = p->operator_name == LAPLACIAN || p->of != MAGNITUDE;
    plan->halo = 1;
    plan->border = tables->gradient.border.mode;
    plan->cost =
        (struct gi_cost){.fmas = p->of == MAGNITUDE ? 13 : 6, .other = p->of == MAGNITUDE ? 3 : 0};
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct edges_params *p = plan->params;
    const struct edges_tables *tables = plan->tables;
    if (p->operator_name == LAPLACIAN)
        return queue->k->convolve_2d(queue, work->dst, work->srcs, &tables->laplacian, err);
    if (p->of == MAGNITUDE)
        return queue->k->gradient_magnitude(queue, work->dst, work->srcs, &tables->gradient, err);
    return queue->k->convolve_separable(queue, work->dst, work->srcs, &tables->part, err);
}

const struct gi_filter gi_filter_edges = {
    .name = "edges",
    .group = GI_GROUP_FILTERS,
    .planes = GI_PLANES_LUMA,
    .summary = "Detect edges: Sobel, Scharr or Prewitt gradient, or Laplacian",
    .examples = "gpuimg edges in.png out.png\n"
                "gpuimg edges in.png out.png --operator scharr --gray\n"
                "gpuimg edges in.png out.png --operator laplace --scale 4\n"
                "gpuimg edges texture.tga out.tga --alpha straight",
    .manual =
        "By default the result is the gradient magnitude sqrt(gx^2 + gy^2), which is large "
        "at edges. gx is the difference (-1, 0, 1) along the row, weighted over three rows "
        "with (1, 2, 1) for Sobel, (3, 10, 3) for Scharr or (1, 1, 1) for Prewitt. gy is "
        "the same along the column, weighted over three columns. The Laplacian is the sum "
        "of the four neighbours minus four times the pixel.\n\n"
        "The weights are not divided by their sum; use --scale for this. The slope per pixel "
        "(the derivative) is given by --scale 0.125 for Sobel, 0.03125 for Scharr and "
        "0.1666667 for Prewitt. --scale 0.25 gives twice Sobel's slope, the weighted mean of "
        "the differences over two pixels.\n\n"
        "In 8- and 16-bit images results above full scale become full scale, and "
        "--component x, --component y and the Laplacian give the absolute value. Float "
        "images keep the sign: the x component is positive if the image is brighter on the "
        "right, and the y component is positive if it is brighter below.\n\n" GI_ALPHA_COPIED_MANUAL
        ".\n\n"
        "The weights are those of OpenCV; for Prewitt, which OpenCV lacks, they are those "
        "of scipy.ndimage.",
    .options = options,
    .params_nbytes = sizeof(struct edges_params),
    .check = check,
    .plan = plan,
    .run = run,
};
