/* Perspective transform (homography), interpolated by the primitive `remap`. The transform is
 * defined by a 3 x 3 matrix, or by four pairs of points, from which a system of 8 linear equations
 * follows.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/geometry/transform.h"

enum { CORNERS = 4, UNKNOWNS = 8 };

struct perspective_params {
    const char *matrix;
    struct gi_extent size;
    bool inverse;
    struct gi_reals from, to;
    struct gi_transform_params transform;
};

static const struct gi_option options[] = {
    {GI_OPTION("matrix", CONTENT, struct perspective_params, matrix), .letter = 'm',
     .metavar = "ROWS|FILE",
     .help = "Matrix from the input to the result, \"a b c; d e f; g h i\", or a file that holds "
             "it"},
    {GI_OPTION("inverse", FLAG, struct perspective_params, inverse),
     .help = "The matrix maps the result to the input instead"},
    {GI_OPTION("from", REALS, struct perspective_params, from), .letter = 'f',
     .example = "1.5,2,30,0.5,28,33,-2,29", .one_of = true, .least = 2 * CORNERS,
     .most = 2 * CORNERS, .metavar = "X,Y,X,Y,X,Y,X,Y",
     .help = "Four points of the input; by default the four corners of the input, clockwise from "
             "the top left"},
    {GI_OPTION("to", REALS, struct perspective_params, to), .letter = 't', .least = 2 * CORNERS,
     .most = 2 * CORNERS, .metavar = "X,Y,X,Y,X,Y,X,Y",
     .help = "The places of these points in the result; by default the four corners of the "
             "result, clockwise from the top left"},
    GI_TRANSFORM_SIZE_OPTION(struct perspective_params, "the input"),
    GI_TRANSFORM_OPTIONS(struct perspective_params),
    {.name = NULL},
};

static void corners_of(double *points, const struct gi_reals *given, const struct gi_image *shape)
{
    double right = shape->width - 0.5, bottom = shape->height - 0.5, o = -0.5;
    const double corners[2 * CORNERS] = {o, o, right, o, right, bottom, o, bottom};
    for (int i = 0; i < 2 * CORNERS; i++)
        points[i] = given->n ? given->v[i] : corners[i];
}

/* Solves a system of equations by Gaussian elimination with partial pivoting. The last column of
 * `a` is the right-hand side. */
static bool solve(double a[UNKNOWNS][UNKNOWNS + 1], double *x)
{
    for (int i = 0; i < UNKNOWNS; i++) {
        int pivot = i;
        for (int j = i + 1; j < UNKNOWNS; j++)
            pivot = fabs(a[j][i]) > fabs(a[pivot][i]) ? j : pivot;
        for (int k = 0; k <= UNKNOWNS; k++) {
            double keep = a[i][k];
            a[i][k] = a[pivot][k];
            a[pivot][k] = keep;
        }
        if (!(fabs(a[i][i]) > 1e-12))
            return false;
        for (int j = 0; j < UNKNOWNS; j++)
            for (int k = UNKNOWNS; j != i && k >= i; k--)
                a[j][k] -= a[i][k] * (a[j][i] / a[i][i]);
    }
    for (int i = 0; i < UNKNOWNS; i++)
        x[i] = a[i][UNKNOWNS] / a[i][i];
    return true;
}

/* Finds the matrix m that maps the points `to` to the points `from`. For each pair, (x, y) in `to`
 * and (u, v) in `from`, it solves (a x + b y + c) - (g x + h y) u = u, and likewise for v. */
static bool matrix_of(double m[9], const double *from, const double *to)
{
    double a[UNKNOWNS][UNKNOWNS + 1] = {{0}};
    for (int i = 0; i < UNKNOWNS; i++) {
        double x = to[i / 2 * 2], y = to[i / 2 * 2 + 1], u = from[i];
        double *row = a[i] + i % 2 * 3;
        row[0] = x;
        row[1] = y;
        row[2] = 1;
        a[i][6] = -x * u;
        a[i][7] = -y * u;
        a[i][8] = u;
    }
    m[8] = 1;
    return solve(a, m);
}

static enum gi_status check(void *arg, struct gi_err *err)
{
    const struct perspective_params *p = arg;
    double m[9];
    if (p->matrix)
        return gi_matrix_read(m, "matrix", p->matrix, true, p->inverse, err);
    if (!p->from.n && !p->to.n)
        return gi_fail(err, GI_E_USAGE,
                       "--matrix, --from and --to are missing: want a matrix, or four points of "
                       "either side");
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct perspective_params *p = plan->params;
    double m[9], from[2 * CORNERS], to[2 * CORNERS];
    enum gi_status status = GI_OK;
    gi_extent_pixels(&p->size, &plan->result.width, &plan->result.height);
    if (p->matrix)
        status = gi_matrix_read(m, "matrix", p->matrix, true, p->inverse, err);
    if (!status && !p->matrix) {
        corners_of(from, &p->from, &plan->sources[0]);
        corners_of(to, &p->to, &plan->result);
        double back[9];
        bool made = matrix_of(m, from, to);
        for (int i = 0; i < 9; i++)
            back[i] = made ? m[i] : 0;
        if (!made || !gi_matrix_invert(back))
            status =
                gi_fail(err, GI_E_USAGE, "--from, --to: want four points with no three on a line");
    }
    if (!status && !gi_transform_plan(plan, &p->transform, 0, err))
        status = GI_E_MEMORY;
    if (!status && m[6] == 0 && m[7] == 0)
        gi_transform_affine(plan, (double[6]){m[0] / m[8], m[1] / m[8], m[2] / m[8], m[3] / m[8],
                                              m[4] / m[8], m[5] / m[8]});
    else if (!status)
        gi_transform_projective(plan, m);
    return status;
}

const struct gi_filter gi_filter_perspective = {
    .name = "perspective",
    .group = GI_GROUP_GEOMETRY,
    .planes = GI_PLANES_RGB,
    .summary = "Perspective transform (homography) by four points or a matrix",
    .examples =
        "gpuimg perspective photo.jpg page.png --from 212,95,1480,130,1610,1990,90,2040 --size "
        "1240x1754\n"
        "gpuimg perspective in.png out.png --to 40,0,600,20,639,479,0,460\n"
        "gpuimg perspective in.png out.png --matrix \"1 0.1 0; 0 1 0; 0.0005 0 1\"\n"
        "gpuimg perspective texture.tga out.tga --to 40,0,216,0,255,255,0,255 --alpha straight",
    .manual = "The four points of --from in the input are moved to the four points of --to in "
              "the result, and straight lines stay straight. If one of the two options is left "
              "out, its points are the outer corners of the image: from -0.5,-0.5 to width - "
              "0.5, height - 0.5. Coordinates are in pixels from the centre of the top left "
              "pixel. The result has the size of the input unless --size is given.\n\n"
              "In place of points, --matrix \"a b c; d e f; g h i\" maps (x, y) of the input to "
              "((a x + b y + c) / (g x + h y + i), (d x + e y + f) / (g x + h y + i)), like "
              "OpenCV's warpPerspective. With --inverse it maps the result to the input.\n\n"
              "Each pixel of the result is interpolated from a few pixels of the input. An image "
              "that is made much smaller therefore shows aliasing: blur it first. Colours are "
              "weighted by alpha, unless --alpha says that it is data. Coordinates are computed in "
              "double precision. Behind the "
              "horizon, where g x + h y + i does not have the sign that it has in the visible "
              "part, the formula is applied unchanged "
              "and shows the plane from below.",
    .options = options,
    .params_nbytes = sizeof(struct perspective_params),
    .check = check,
    .plan = plan,
    .sources.needs = gi_transform_needs,
    .run = gi_transform_run,
};
