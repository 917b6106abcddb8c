/* Finishes the alpha of results whose sources have pixels without data.
 * SPDX-License-Identifier: MIT */
#include "filters/masked.h"

#include "filters/channels_apart.h"
#include "filters/filter.h"
#include "kernels/arithmetic.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

/* Returns whether further image j says where the result has no data. */
static bool is_masked_by(const struct gi_plan *plan, int j)
{
    return plan->filter->samples.masks_others && plan->sources[j].mask;
}

/* Returns whether the step leaves every pixel in its place and keeps the sample type. */
static bool stays(const struct gi_plan *plan)
{
    const struct gi_image *src = &plan->sources[0], *made = &plan->result;
    return plan->filter->group != GI_GROUP_GEOMETRY && made->type == src->type &&
           made->width == src->width && made->height == src->height &&
           plan->dependency != GI_DEPENDENCY_MAPPED;
}

void gi_masked_plan(struct gi_plan *plan)
{
    const struct gi_image *src = &plan->sources[0];
    if (src->mask && plan->filter->run && !gi_has_alpha(&plan->result) && stays(plan)) {
        plan->masked = plan->adds_alpha = true;
        plan->result.channels++;
        plan->result.mask = GI_MASK_HIDDEN;
    }
    if (!gi_has_alpha(&plan->result))
        plan->result.mask = GI_MASK_NONE;
    for (int j = 1; j < plan->nsources && plan->result.mask; j++)
        plan->masked = plan->masked || is_masked_by(plan, j);
    if (plan->masked)
        plan->scratch_nbytes += 2 * (size_t)gi_image_nbytes(&plan->result);
}

/* Makes *alpha 0 where the alpha of `other` is not > 0. */
static enum gi_status mask_by(struct gi_queue *queue, struct gi_image *alpha,
                              const struct gi_image *other, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    const struct gi_threshold above_zero = {0};
    struct gi_image theirs, made;
    struct gi_arithmetic product = {.op = GI_ARITHMETIC_MULTIPLY,
                                    .other = &theirs,
                                    .factor = {1 / gi_type_full_scale(alpha->type)}};
    enum gi_status status = gi_channels_take(queue, &theirs, other, other->channels - 1, 1, err);
    if (status)
        return status;
    status = k->threshold(queue, &theirs, &theirs, &above_zero, err);
    if (!status)
        status = k->alloc(queue, &made, alpha->width, alpha->height, 1, alpha->type, err);
    if (!status) {
        status = k->arithmetic(queue, &made, alpha, &product, err);
        struct gi_image unused = status ? made : *alpha;
        if (!status)
            *alpha = made;
        k->release(queue, &unused);
    }
    k->release(queue, &theirs);
    return status;
}

/* Joins the colours of the result and its alpha. */
static enum gi_status finish(const struct gi_plan *plan, struct gi_queue *queue,
                             const struct gi_work *work, const struct gi_image *made,
                             struct gi_err *err)
{
    struct gi_image parts[2] = {*made};
    const struct gi_image *of = made->channels == work->dst->channels ? made : &work->srcs[0];
    enum gi_status status = gi_channels_take(queue, &parts[1], of, of->channels - 1, 1, err);
    if (status)
        return status;
    for (int j = 1; j < plan->nsources && !status; j++)
        if (is_masked_by(plan, j))
            status = mask_by(queue, &parts[1], &work->srcs[j], err);
    if (!status)
        status = gi_channels_join_alpha(queue, work->dst, parts, 0, err);
    queue->k->release(queue, &parts[1]);
    return status;
}

enum gi_status
gi_masked_run(const struct gi_plan *plan, struct gi_queue *queue, const struct gi_work *work,
              enum gi_status (*run)(const struct gi_plan *plan, struct gi_queue *queue,
                                    const struct gi_work *work, struct gi_err *err),
              struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    const struct gi_image *dst = work->dst;
    struct gi_image made;
    struct gi_work inner = *work;
    enum gi_status status = k->alloc(queue, &made, dst->width, dst->height,
                                     dst->channels - plan->adds_alpha, dst->type, err);
    if (status)
        return status;
    inner.dst = &made;
    status = run(plan, queue, &inner, err);
    if (!status)
        status = finish(plan, queue, work, &made, err);
    k->release(queue, &made);
    return status;
}
