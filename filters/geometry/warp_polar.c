/* Polar and log-polar transform about a point, and the inverse, interpolated by the primitive
 * `remap` at positions that are computed in double precision.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/geometry/transform.h"

struct warp_polar_params {
    struct gi_reals center;
    double radius; /* pixels */
    bool log, inverse;
    struct gi_extent size;
    struct gi_transform_params transform;
};

static const struct gi_option options[] = {
    {GI_OPTION("center", REALS, struct warp_polar_params, center), .least = 2, .most = 2,
     .metavar = "X,Y",
     .help = "Centre of the circles, in pixels from the centre of the top left pixel; by default "
             "the middle of the image, or with --inverse the middle of the result"},
    {GI_OPTION("radius", REAL, struct warp_polar_params, radius), .letter = 'r', .min = 1.5,
     .max = 100000, .unit = "px",
     .help = "Radius R at the right side of the polar image; by default the distance from "
             "--center to the farthest corner, or with --inverse the width of the polar image"},
    {GI_OPTION("log", FLAG, struct warp_polar_params, log),
     .help = "Log-polar: columns are the logarithm of the radius"},
    {GI_OPTION("inverse", FLAG, struct warp_polar_params, inverse),
     .help = "Transform a polar image back"},
    GI_TRANSFORM_SIZE_OPTION(struct warp_polar_params, "the default size"),
    GI_TRANSFORM_OPTIONS(struct warp_polar_params),
    {.name = NULL},
};

/* Sets the radius (from options or the image) and the shape of the result. */
static void set_shape(struct gi_plan *plan, double *radius, double *x, double *y)
{
    const struct warp_polar_params *p = plan->params;
    struct gi_image *dst = &plan->result;
    const struct gi_image *src = &plan->sources[0];
    *x = p->center.n ? p->center.v[0] : (src->width - 1) / 2.0;
    *y = p->center.n ? p->center.v[1] : (src->height - 1) / 2.0;
    double far = hypot(fmax(fabs(*x), fabs(src->width - 1 - *x)),
                       fmax(fabs(*y), fabs(src->height - 1 - *y)));
    double natural = fmax(p->inverse ? src->width : far, 1.5);
    *radius = isnan(p->radius) ? natural : p->radius;
    double side = fmin(*radius, natural); /* no more columns than the source has details */
    dst->width = (int)rint(p->inverse ? 2 * side : side);
    dst->height = (int)rint(p->inverse ? 2 * side : acos(-1) * side);
    gi_extent_pixels(&p->size, &dst->width, &dst->height);
    if (p->inverse && !p->center.n) {
        *x = (dst->width - 1) / 2.0;
        *y = (dst->height - 1) / 2.0;
    }
}

/* Fills in the radii of the columns, and the cosines and sines of the rows. They follow the struct
 * gi_remap in memory. */
static void fill_rays(struct gi_remap *transform, const struct gi_image *dst, double radius,
                      double x, double y, bool log_of)
{
    double *tables = (double *)(transform + 1), *cosine = tables + dst->width;
    double *sine = cosine + dst->height;
    for (int i = 0; i < dst->width; i++)
        tables[i] = log_of ? exp(i * (log(radius) / dst->width)) - 1 : i * (radius / dst->width);
    for (int i = 0; i < dst->height; i++) {
        double angle = i * (2 * acos(-1) / dst->height);
        cosine[i] = cos(angle);
        sine[i] = sin(angle);
    }
    transform->map.kind = GI_MAP_RAYS;
    transform->map.rays = (struct gi_rays){tables, cosine, sine, x, y};
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct warp_polar_params *p = plan->params;
    const struct gi_image *dst = &plan->result;
    double radius, x, y;
    set_shape(plan, &radius, &x, &y);
    size_t numbers = p->inverse ? 0 : (size_t)dst->width + 2 * (size_t)dst->height;
    struct gi_remap *transform =
        gi_transform_plan(plan, &p->transform, numbers * sizeof(double), err);
    if (!transform)
        return GI_E_MEMORY;
    if (!p->inverse) {
        fill_rays(transform, dst, radius, x, y, p->log);
        return GI_OK;
    }
    double columns = plan->sources[0].width, rows = plan->sources[0].height;
    transform->map.kind = GI_MAP_RINGS;
    transform->map.rings =
        (struct gi_rings){.center_x = x,
                          .center_y = y,
                          .radial = p->log ? columns / log(radius) : columns / radius,
                          .angular = rows / (2 * acos(-1)),
                          .log = p->log};
    return GI_OK;
}

const struct gi_filter gi_filter_warp_polar = {
    .name = "warp-polar",
    .group = GI_GROUP_GEOMETRY,
    .planes = GI_PLANES_RGB,
    .summary = "Polar or log-polar transform, and its inverse",
    .examples = "gpuimg warp-polar dial.png unrolled.png --center 320,240 --radius 200\n"
                "gpuimg warp-polar unrolled.png dial.png --inverse --radius 200 --size 640x480 "
                "--center 320,240\n"
                "gpuimg warp-polar in.png log.png --log --size 256x360\n"
                "gpuimg warp-polar texture.tga out.tga --alpha straight",
    .manual = "Circles around --center become columns of the result, and rays from --center "
              "become rows. Let R be --radius. Pixel (x, y) of the result is then interpolated "
              "in the input at radius x R / width and angle 2 pi y / height. With --log the "
              "radius is R^(x / width) - 1 instead. Angles begin on the right and go downwards, "
              "as in OpenCV's warpPolar. By default the result is R pixels wide and pi R pixels "
              "high; here R is limited to the distance to the farthest corner of the image.\n\n"
              "--inverse transforms a polar image back. By default the result has 2 R x 2 R "
              "pixels; here R is limited to the width of the polar image. The last row of "
              "the polar image is followed by its first row.\n\n"
              "Colours are weighted by alpha, unless --alpha says that it is data. Logarithm, root "
              "and angle are computed in double "
              "precision, by formulas that give the same result on every machine.",
    .options = options,
    .params_nbytes = sizeof(struct warp_polar_params),
    .plan = plan,
    .run = gi_transform_run,
};
