/* Mode filter: the most frequent sample of a neighbourhood, for labels and palettes, whose values
 * cannot be averaged.
 * SPDX-License-Identifier: MIT */
#include "filters/rank/rank_plan.h"
#include "kernels/kernels.h"

static const struct gi_option options[] = {GI_FOOTPRINT_SHAPE_OPTIONS, GI_RANK_OPTIONS};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (plan->sources[0].type == GI_F32)
        status = gi_fail(
            err, GI_E_UNSUPPORTED,
            "samples are float: want 8 or 16 bits, by --work-depth 16 and without --linear");
    if (!status)
        status = gi_rank_plan(plan, 0, err);
    if (status)
        return status;
    const struct gi_median *window = plan->tables;
    plan->cost.other = (plan->sources[0].type == GI_U8 ? 750 : 2200) +
                       (window->runs ? 200.0 * window->nruns : 100.0 * window->height);
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    return queue->k->mode(queue, work->dst, work->srcs, gi_rank_footprint(plan, work), err);
}

const struct gi_filter gi_filter_mode = {
    .name = "mode",
    .group = GI_GROUP_FILTERS,
    .summary = "Mode filter: the most frequent value of k x k pixels",
    .examples = "gpuimg mode labels.png smooth.png --k 5\n"
                "gpuimg mode quantized.png out.png --k 7\n"
                "gpuimg mode map.png out.png --k 9 --shape disk --border mirror",
    .manual = "Each sample becomes the most frequent value of the samples around it, channel by "
              "channel. If several values are equally frequent, the smallest of them is taken. "
              "This smooths images of labels, classes or palette indexes, in which a mean would "
              "make no sense.\n\n"
              "The input must have 8 or 16 bits. gpuimg help median describes the structuring "
              "element (--k, --size, --shape, --mask). " GI_OPACITY_ALPHA_MANUAL ".\n\n"
              "The results are those of scikit-image's rank.modal(), if the neighbourhood is "
              "inside the image.",
    .options = options,
    .params_nbytes = sizeof(struct gi_rank_params),
    .check = gi_footprint_check,
    .plan = plan,
    .run = run,
    .measure = gi_opacity_measure,
};
