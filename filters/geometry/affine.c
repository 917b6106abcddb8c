/* Affine transform (rotate, scale, shear, move) by a 2 x 3 matrix, interpolated by the primitive
 * `remap`.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/transform.h"

struct affine_params {
    const char *matrix;
    struct gi_extent size;
    bool inverse;
    struct gi_transform_params transform;
};

static const struct gi_option options[] = {
    {GI_OPTION("matrix", CONTENT, struct affine_params, matrix), .letter = 'm',
     .example = "0.9 0.3 -2.5; -0.2 1.1 1.25", .metavar = "ROWS|FILE",
     .help = "Matrix from the input to the result, \"a b c; d e f\", or a file that holds it"},
    {GI_OPTION("inverse", FLAG, struct affine_params, inverse),
     .help = "The matrix maps the result to the input instead"},
    GI_TRANSFORM_SIZE_OPTION(struct affine_params, "the input"),
    GI_TRANSFORM_OPTIONS(struct affine_params),
    {.name = NULL},
};

static enum gi_status check(void *arg, struct gi_err *err)
{
    const struct affine_params *p = arg;
    double m[9];
    return gi_matrix_read(m, "matrix", p->matrix, false, p->inverse, err);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct affine_params *p = plan->params;
    double m[9];
    enum gi_status status = gi_matrix_read(m, "matrix", p->matrix, false, p->inverse, err);
    gi_extent_pixels(&p->size, &plan->result.width, &plan->result.height);
    if (!status && !gi_transform_plan(plan, &p->transform, 0, err))
        status = GI_E_MEMORY;
    if (!status)
        gi_transform_affine(plan, m);
    return status;
}

const struct gi_filter gi_filter_affine = {
    .name = "affine",
    .group = GI_GROUP_GEOMETRY,
    .planes = GI_PLANES_RGB,
    .summary = "Affine transform by a matrix: rotate, scale, shear, move",
    .examples = "gpuimg affine in.png out.png --matrix \"1 0.2 0; 0 1 0\"\n"
                "gpuimg affine in.png half.png --matrix \"0.5 0 0; 0 0.5 0\" --size 640x480\n"
                "gpuimg affine in.png out.png --matrix inverse.txt --inverse --border mirror\n"
                "gpuimg affine scan.tif out.tif --matrix \"0.9 0.2 3; -0.1 1.1 2\" -i bspline\n"
                "gpuimg affine texture.tga out.tga --matrix \"1 0.5 0; 0 1 0\" --border wrap "
                "--alpha straight",
    .manual = "--matrix \"a b c; d e f\" maps pixel (x, y) of the input to (a x + b y + c, d x + "
              "e y + f), like OpenCV's warpAffine; with --inverse it maps the result to the "
              "input, like scipy's affine_transform and Pillow's Image.transform. Coordinates "
              "are in pixels and count from the centre of the top left pixel; Pillow's count "
              "from its corner. A third row 0 0 1 is allowed. The result has the size of the "
              "input unless --size is given.\n\n"
              "Each pixel of the result is interpolated from a few pixels of the input. An image "
              "that is made much smaller therefore shows aliasing: blur it first, or use gpuimg "
              "resize. Colours are weighted by alpha, unless --alpha says that it is data.\n\n"
              "--interpolation bspline is the cubic spline through all pixels, like order=3 of "
              "scipy.ndimage with its prefilter. Each pixel depends on pixels up to 17 away, by "
              "weights that fall by 0.27 per pixel, so that edges overshoot more than with "
              "bicubic, and NaN spreads so far. The borders clamp, border, wrap, mirror and "
              "reflect101 are scipy's modes nearest, grid-constant, grid-wrap, reflect and mirror; "
              "scipy's constant and wrap end the image in other ways. Floats are within 1e-6 of "
              "the largest value, and integers are rounded once.",
    .options = options,
    .params_nbytes = sizeof(struct affine_params),
    .check = check,
    .plan = plan,
    .sources.needs = gi_transform_needs,
    .run = gi_transform_run,
};
