/* Inversion: full scale minus the sample.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

struct invert_params {
    bool alpha;
};

static const struct gi_option options[] = {
    {GI_OPTION("alpha", FLAG, struct invert_params, alpha),
     .help = "Invert alpha too: opaque pixels become transparent"},
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    plan->cost.fmas = 1;
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct invert_params *p = plan->params;
    struct gi_pointwise spec = {.op = GI_POINTWISE_AFFINE, .alpha_too = p->alpha};
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        spec.scale[c] = -1;
        spec.offset[c] = gi_type_full_scale(plan->sources[0].type);
    }
    return queue->k->pointwise(queue, work->dst, work->srcs, &spec, err);
}

const struct gi_filter gi_filter_invert = {
    .name = "invert",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_RGB,
    .summary = "Invert: make a negative",
    .examples = "gpuimg invert in.png negative.png\n"
                "gpuimg invert scan.jpg positive.png --depth 16\n"
                "gpuimg invert mask.png hole.png --alpha",
    .manual = "Every colour sample v becomes 255 - v in 8 bits, 65535 - v in 16 bits, and 1 - v "
              "in a float image. Alpha does not change.",
    .options = options,
    .params_nbytes = sizeof(struct invert_params),
    .plan = plan,
    .run = run,
};
