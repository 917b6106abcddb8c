/* Transposition at either diagonal: rows become columns.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/layout.h"

struct transpose_params {
    bool anti;
};

static const struct gi_option options[] = {
    {GI_OPTION("anti", FLAG, struct transpose_params, anti),
     .help = "Mirror at the diagonal from the lower left to the upper right"},
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct transpose_params *p = plan->params;
    int anti = p->anti ? GI_LAYOUT_MIRROR_X | GI_LAYOUT_MIRROR_Y : 0;
    return gi_layout_plan(plan, GI_LAYOUT_TRANSPOSE | anti, err);
}

const struct gi_filter gi_filter_transpose = {
    .name = "transpose",
    .group = GI_GROUP_GEOMETRY,
    .summary = "Transpose: turn rows into columns",
    .examples = "gpuimg transpose in.png out.png\n"
                "gpuimg transpose in.png out.png --anti\n"
                "gpuimg transpose columns.npy rows.npy",
    .manual = "The pixel in row y and column x moves to row x and column y: the image is "
              "mirrored at the diagonal through its upper left corner. With --anti it is "
              "mirrored at the other diagonal. Samples do not change.",
    .options = options,
    .params_nbytes = sizeof(struct transpose_params),
    .plan = plan,
    .sources.needs = gi_layout_needs,
    .run = gi_layout_run,
};
