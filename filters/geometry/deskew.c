/* Straightens a scanned page: rotates it by the primitive `remap` against its skew.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/geometry/skew.h"
#include "filters/geometry/transform.h"
#include "kernels/elementary.h"

struct deskew_params {
    double max_angle;
    struct gi_transform_params transform;
};

static const struct gi_option options[] = {
    GI_SKEW_OPTION(struct deskew_params),
    {GI_OPTION("interpolation", CHOICE, struct deskew_params, transform.interpolation),
     .letter = 'i', .default_text = "bilinear", .choices = gi_interpolation_choices,
     .help = "How a pixel of the result is interpolated from the pixels of the input"},
    {GI_OPTION("border", CHOICE, struct deskew_params, transform.border.mode),
     .default_text = "clamp", .choices = gi_border_choices,
     .help = "Border mode: the pixels outside the image"},
    GI_ADDED_VALUE_OPTION(struct deskew_params, transform.border,
                          "Pixels outside the image with --border border"),
    {.name = NULL},
};

static enum gi_status check(void *arg, struct gi_err *err)
{
    struct deskew_params *p = arg;
    (void)err;
    p->transform.cubic = -0.5; /* the default of the operations that have an option for it */
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct deskew_params *p = plan->params;
    if (!gi_transform_plan(plan, &p->transform, 0, err))
        return GI_E_MEMORY;
    gi_skew_plan(plan);
    plan->passes = 1;
    plan->state_nbytes = sizeof(struct gi_skew);
    plan->late = true;
    return GI_OK;
}

/* The source is whole, because the dependency is global. */
static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err)
{
    const struct deskew_params *p = plan->params;
    return gi_skew_find(state, queue, look->srcs, p->max_angle, err);
}

static enum gi_status settle(struct gi_plan *plan, const void *state, struct gi_err *err)
{
    const struct deskew_params *p = plan->params;
    const struct gi_skew *found = state;
    bool none = isnan(found->angle_deg);
    double angle = none ? 0 : -found->angle_deg * (GI_PI / 180), c = gi_cos_rest(angle),
           s = gi_sin_rest(angle);
    double x = (plan->sources[0].width - 1) / 2.0, y = (plan->sources[0].height - 1) / 2.0;
    if (!gi_transform_plan(plan, &p->transform, 0, err))
        return GI_E_MEMORY;
    if (none) {
        gi_fail(&plan->warning, GI_E_UNSUPPORTED,
                "no lines of text are found, so the image is not rotated");
        plan->warning.status = GI_OK;
    }
    gi_transform_affine(plan, (double[6]){c, -s, x - c * x + s * y, s, c, y - s * x - c * y});
    return GI_OK;
}

const struct gi_filter gi_filter_deskew = {
    .name = "deskew",
    .group = GI_GROUP_GEOMETRY,
    .planes = GI_PLANES_RGB,
    .summary = "Deskew: straighten a scanned page by the angle of its lines",
    .examples = "gpuimg deskew scan.png straight.png\n"
                "gpuimg deskew scan.tif straight.tif --border border --background white\n"
                "gpuimg deskew photo.jpg straight.jpg --max-angle 30 --interpolation bicubic",
    .manual =
        "The image is rotated so that its lines of text, or other horizontal lines, become "
        "horizontal. It is rotated around its middle, and the result has the size of the input. "
        "Pixels outside the image repeat its nearest pixels, unless --border says otherwise. If no "
        "angle has a clear maximum, a warning says so, and the image is not rotated.\n\n"
        "The angle is that of gpuimg skew, whose help says how it is found.",
    .options = options,
    .params_nbytes = sizeof(struct deskew_params),
    .check = check,
    .plan = plan,
    .sources.needs = gi_transform_needs,
    .run = gi_transform_run,
    .measure = measure,
    .settle = settle,
};
