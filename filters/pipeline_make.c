/* Makes pipelines: copies their steps, and plans those whose source shapes are known.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "filters/execution.h"
#include "imgio/small.h"

/* Copies the steps and the shapes of their further sources. */
static void copy_steps(struct gi_pipeline *pipeline, const struct gi_step *steps, int nsteps)
{
    size_t n = (size_t)nsteps;
    struct copy {
        struct gi_step step;
        struct gi_image others[GI_SOURCES_MAX - 1];
    };
    pipeline->steps = gi_small_calloc(n, sizeof(struct copy));
    pipeline->plans = gi_small_calloc(n, sizeof *pipeline->plans);
    struct gi_image *others = (struct gi_image *)(pipeline->steps + n);
    for (int i = 0; i < nsteps; i++, others += GI_SOURCES_MAX - 1) {
        pipeline->steps[i] = steps[i];
        pipeline->steps[i].others = others;
        for (int j = 0; j < steps[i].nothers; j++)
            others[j] = steps[i].others[j];
    }
    pipeline->nsteps = nsteps;
}

/* Makes the plan of a step whose first source is shaped as `src`, within the pipeline's limits. */
static enum gi_status make_plan(struct gi_plan *plan, const struct gi_pipeline *pipeline,
                                const struct gi_step *step, const struct gi_image *src,
                                struct gi_err *err)
{
    struct gi_image sources[GI_SOURCES_MAX] = {*src};
    for (int j = 0; j < step->nothers; j++)
        sources[1 + j] = step->others[j];
    return gi_plan_make_within(plan, &pipeline->limits, step->filter, step->params, sources,
                               1 + step->nothers, err);
}

uint64_t gi_pipeline_nbytes(const struct gi_pipeline *pipeline)
{
    uint64_t peak = 0, kept = 0;
    for (int i = 0; i < pipeline->n; i++) {
        const struct gi_plan *plan = &pipeline->plans[i];
        uint64_t images = plan->scratch_nbytes + (i ? gi_image_nbytes(&plan->sources[0]) : 0) +
                          (plan->filter->run ? gi_image_nbytes(&plan->result) : 0);
        peak = images > peak ? images : peak;
        kept += (plan->passes ? plan->state_nbytes : 0) + plan->tables_nbytes + plan->array_nbytes;
    }
    return peak + kept;
}

/* Makes the plans of the remaining steps, up to the first late plan. `src` is the source of the
 * first of these steps. */
static enum gi_status make_plans(struct gi_pipeline *pipeline, const struct gi_image *src,
                                 struct gi_err *err)
{
    while (pipeline->n < pipeline->nsteps) {
        const struct gi_step *step = &pipeline->steps[pipeline->n];
        struct gi_plan *plan = &pipeline->plans[pipeline->n];
        if (pipeline->n > 0 && plan[-1].late)
            break;
        enum gi_status status =
            make_plan(plan, pipeline, step, pipeline->n > 0 ? &plan[-1].result : src, err);
        if (status)
            return status;
        pipeline->n++;
    }
    return GI_OK;
}

/* Checks that the steps after a late plan accept the sample type and channels of its result. The
 * size of the result is not known yet. Errors: GI_E_UNSUPPORTED for step *failed. */
static enum gi_status try_rest(const struct gi_pipeline *pipeline, int *failed, struct gi_err *err)
{
    struct gi_image src = pipeline->plans[pipeline->n - 1].result;
    for (*failed = pipeline->n; *failed < pipeline->nsteps; (*failed)++) {
        struct gi_plan plan;
        struct gi_err why = {0};
        enum gi_status status = make_plan(&plan, pipeline, &pipeline->steps[*failed], &src, &why);
        if (status == GI_E_UNSUPPORTED)
            return gi_fail(err, status, "%s", why.text);
        if (status)
            break;
        src = plan.result;
        gi_plan_free(&plan);
    }
    return GI_OK;
}

enum gi_status gi_pipeline_new(struct gi_pipeline **out, const struct gi_step *steps, int nsteps,
                               const struct gi_image *src, int *failed, struct gi_err *err)
{
    const struct gi_limits none = {0};
    return gi_pipeline_new_within(out, &none, steps, nsteps, src, failed, err);
}

enum gi_status gi_pipeline_new_within(struct gi_pipeline **out, const struct gi_limits *limits,
                                      const struct gi_step *steps, int nsteps,
                                      const struct gi_image *src, int *failed, struct gi_err *err)
{
    uint64_t pixels = (uint64_t)src->width * (uint64_t)src->height;
    struct gi_pipeline *pipeline = gi_small_calloc(1, sizeof *pipeline);
    copy_steps(pipeline, steps, nsteps);
    pipeline->limits = *limits;
    if (limits->max_pixels && limits->max_pixels < pixels)
        pipeline->limits.max_pixels = pixels;
    enum gi_status status = make_plans(pipeline, src, err);
    int at = pipeline->n;
    if (!status)
        status = try_rest(pipeline, &at, err);
    if (status && failed)
        *failed = at;
    if (status)
        gi_pipeline_free(&pipeline);
    else
        *out = pipeline;
    return status;
}

void gi_pipeline_free(struct gi_pipeline **pipeline)
{
    for (int i = 0; *pipeline && i < (*pipeline)->n; i++)
        gi_plan_free(&(*pipeline)->plans[i]);
    if (*pipeline) {
        free((*pipeline)->plans);
        free((*pipeline)->steps);
    }
    free(*pipeline);
    *pipeline = NULL;
}

struct gi_image gi_pipeline_result(const struct gi_pipeline *pipeline)
{
    return pipeline->plans[pipeline->n - 1].result;
}

const struct gi_plan *gi_pipeline_plan(const struct gi_pipeline *pipeline, int i)
{
    return i < pipeline->n ? &pipeline->plans[i] : NULL;
}

/* Makes a copy of the pipeline for this run, in which plans can be settled. */
static enum gi_status need_own(struct gi_execution *execution, struct gi_err *err)
{
    const struct gi_pipeline *given = execution->pipeline;
    if (execution->own)
        return GI_OK;
    enum gi_status status =
        gi_pipeline_new_within(&execution->own, &given->limits, given->steps, given->nsteps,
                               &given->plans[0].sources[0], NULL, err);
    if (!status)
        execution->pipeline = execution->own;
    return status;
}

enum gi_status gi_execution_settle(struct gi_execution *execution, int i, struct gi_err *err)
{
    struct gi_plan settled;
    if (!execution->pipeline->plans[i].late)
        return GI_OK;
    enum gi_status status = need_own(execution, err);
    struct gi_pipeline *own = execution->own;
    int failed = i;
    if (!status)
        status = gi_plan_settle(&settled, &own->plans[i], execution->states[i], err);
    if (!status) {
        gi_plan_free(&own->plans[i]);
        own->plans[i] = settled;
        status = make_plans(own, &settled.sources[0], err);
        failed = own->n;
    }
    if (!status)
        return gi_execution_begin(execution, i + 1, err);
    if (own && own->nsteps > 1)
        gi_err_prefix(err, "step %d, %s", failed + 1, own->steps[failed].filter->name);
    return status;
}
