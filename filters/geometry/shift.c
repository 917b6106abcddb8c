/* Translation. Whole pixels are copied unchanged; fractions of a pixel are interpolated by the
 * primitive `remap`.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/transform.h"

struct shift_params {
    struct gi_reals by;
    struct gi_transform_params transform;
};

static const struct gi_option options[] = {
    {GI_OPTION("offset", REALS, struct shift_params, by), .also = "by", .letter = 'b',
     .example = "3.25,-1.5", .least = 2, .most = 2, .metavar = "X,Y",
     .help = "Offset in pixels to the right and down; negative numbers move to the left and up"},
    GI_TRANSFORM_OPTIONS(struct shift_params),
    {.name = NULL},
};

static enum gi_status check(void *arg, struct gi_err *err)
{
    const struct shift_params *p = arg;
    if (!p->by.n)
        return gi_fail(err, GI_E_USAGE,
                       "--offset: missing: want X,Y, pixels to the right and down");
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct shift_params *p = plan->params;
    if (!gi_transform_plan(plan, &p->transform, 0, err))
        return GI_E_MEMORY;
    gi_transform_affine(plan, (double[6]){1, 0, -p->by.v[0], 0, 1, -p->by.v[1]});
    gi_plan_place(plan, -p->by.v[0], -p->by.v[1]);
    return GI_OK;
}

const struct gi_filter gi_filter_shift = {
    .name = "shift",
    .group = GI_GROUP_GEOMETRY,
    .planes = GI_PLANES_RGB,
    .summary = "Shift (translate) by whole or fractional pixels",
    .examples = "gpuimg shift in.png out.png --offset 10,-4\n"
                "gpuimg shift texture.png middle.png --offset 256,256 --border wrap\n"
                "gpuimg shift frame.tif aligned.tif --offset 0.37,-1.62 --interpolation bicubic\n"
                "gpuimg shift texture.tga out.tga --offset 0.5,0.5 --border wrap --alpha straight",
    .manual = "The image moves, and its size stays the same. Pixels that leave on one side are "
              "lost; with --border wrap they come in on the other side. Offsets of whole pixels "
              "do not change samples. For fractions of a pixel samples are interpolated, and "
              "colours are weighted by alpha, unless --alpha says that it is data.",
    .options = options,
    .params_nbytes = sizeof(struct shift_params),
    .check = check,
    .plan = plan,
    .sources.needs = gi_transform_needs,
    .run = gi_transform_run,
};
