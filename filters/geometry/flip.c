/* Flips an image horizontally and vertically, without interpolation.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/layout.h"

struct flip_params {
    bool h, v;
};

static const struct gi_option options[] = {
    {GI_OPTION("h", FLAG, struct flip_params, h), .also = "horizontal", .example = "",
     .one_of = true, .help = "Swap left and right, like a mirror"},
    {GI_OPTION("v", FLAG, struct flip_params, v), .also = "vertical",
     .help = "Swap top and bottom"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct flip_params *p = params;
    return p->h || p->v ? GI_OK : gi_fail(err, GI_E_USAGE, "want --h, --v or both");
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct flip_params *p = plan->params;
    return gi_layout_plan(plan, (p->h ? GI_LAYOUT_MIRROR_X : 0) | (p->v ? GI_LAYOUT_MIRROR_Y : 0),
                          err);
}

const struct gi_filter gi_filter_flip = {
    .name = "flip",
    .group = GI_GROUP_GEOMETRY,
    .summary = "Flip horizontally or vertically",
    .examples = "gpuimg flip photo.jpg mirrored.jpg --h\n"
                "gpuimg flip texture.png texture-gl.png --v\n"
                "gpuimg flip photo.jpg upside-down.jpg --h --v",
    .manual = "--h moves column x to width - 1 - x, and --v moves row y to height - 1 - y. Both "
              "together turn the image by 180 degrees. Samples do not change. At least one of "
              "the two is required.",
    .options = options,
    .params_nbytes = sizeof(struct flip_params),
    .check = check,
    .plan = plan,
    .sources.needs = gi_layout_needs,
    .run = gi_layout_run,
};
