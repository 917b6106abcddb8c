/* Finds connected components, measures them, and paints over some of them.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/choose.h"

#include <stdlib.h>

#include "filters/regions/extract.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"

const struct gi_choice gi_connectivity_choices[] = {
    {"4", NULL, "pixels that share a side"},
    {"8", NULL, "pixels that share a side or a corner"},
    {0},
};

enum gi_status gi_choose_plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    enum gi_status status = gi_regions_take(src, err);
    if (status)
        return status;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->scratch_nbytes =
        (size_t)src->width * (size_t)src->height * sizeof(uint32_t) + gi_luma_nbytes(src);
    plan->cost = (struct gi_cost){.other = 110.0 / src->channels, .nbytes = 8.0 / src->channels};
    return GI_OK;
}

enum gi_status gi_choose_by_side_plan(struct gi_plan *plan, struct gi_err *err)
{
    enum gi_status status = gi_choose_plan(plan, err);
    int channels = plan->sources[0].channels;
    plan->cost = (struct gi_cost){.other = 30.0 / channels, .nbytes = 0.5 / channels};
    return status;
}

/* Returns whether the region touches a side of the image. */
static bool reaches(const struct gi_region_sums *region, const struct gi_image *image)
{
    return !region->min_x || !region->min_y || region->max_x + 1 == (uint32_t)image->width ||
           region->max_y + 1 == (uint32_t)image->height;
}

static void choose_by_side(uint8_t *marked, const struct gi_region_sums *regions, uint32_t n,
                           const struct gi_plan *plan, bool holes)
{
    for (uint32_t i = 0; i < n; i++)
        marked[i] = reaches(&regions[i], &plan->sources[0]) != holes;
}

static float paint_of(const struct gi_work *work, bool holes)
{
    return holes ? gi_type_full_scale(work->srcs->type) : 0.0f;
}

static enum gi_status paint(const struct gi_plan *plan, struct gi_queue *queue,
                            const struct gi_work *work, const struct gi_image *judge,
                            const struct gi_labels *labels, bool holes, gi_choose_fn *choose,
                            struct gi_err *err)
{
    uint32_t n = labels->n;
    struct gi_region_sums *regions = malloc(((size_t)n + 1) * sizeof *regions);
    uint8_t *marked = calloc((size_t)n + 1, 1);
    struct gi_paint spec = {&labels->image, marked, n, paint_of(work, holes)};
    struct gi_region_stats sums = {.labels = &labels->image, .n = n};
    enum gi_status status = GI_OK;
    if (!regions || !marked)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %u regions", n);
    if (!status)
        status = queue->k->region_stats(queue, regions, judge, &sums, err);
    if (!status && choose)
        status = choose(marked, regions, n, plan, err);
    else if (!status)
        choose_by_side(marked, regions, n, plan, holes);
    if (!status)
        status = queue->k->paint(queue, work->dst, work->srcs, &spec, err);
    free(regions);
    free(marked);
    return status;
}

enum gi_status gi_choose_run(const struct gi_plan *plan, struct gi_queue *queue,
                             const struct gi_work *work, bool holes, gi_choose_fn *choose,
                             struct gi_err *err)
{
    const struct gi_choose_params *p = plan->params;
    bool by_luma = gi_luma_decides(work->srcs, false);
    struct gi_image judge;
    struct gi_labels labels = {.n = 0};
    struct gi_predicate foreground = {.on = &judge, .invert = holes};
    enum gi_status status = gi_judge_make(queue, &judge, work->srcs, by_luma, err);
    if (status)
        return status;
    status = gi_level_above(queue, &foreground.above, &p->at, &judge, err);
    struct gi_label parts = {foreground.above, holes, p->connectivity ? 8 : 4};
    struct gi_flood by_side = {&foreground, parts.connectivity, holes, paint_of(work, holes)};
    bool floods = !choose && queue->k->flood;
    if (!status && floods)
        status = queue->k->flood(queue, work->dst, work->srcs, &by_side, err);
    else if (!status)
        status = queue->k->label(queue, &labels, &judge, &parts, err);
    if (!status && !floods)
        status = paint(plan, queue, work, &judge, &labels, holes, choose, err);
    if (labels.image.data)
        queue->k->release(queue, &labels.image);
    gi_judge_release(queue, &judge, by_luma);
    return status;
}
