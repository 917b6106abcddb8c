/* Helpers of the tests of operations.
 * SPDX-License-Identifier: MIT */
#include "filter_cases.h"

void case_set(const struct gi_filter *filter, void *params, const char *name, const char *text)
{
    struct gi_err err = {0};
    const struct gi_option *row = gi_option_find(filter->options, name);
    assert_non_null(row);
    if (gi_option_read(params, row, row->type == GI_OPT_FLAG ? NULL : text, &err))
        fail_msg("%s: %s", filter->name, err.text);
}

void *case_params(const struct gi_filter *filter, const char *const *words)
{
    void *params = calloc(1, filter->params_nbytes);
    gi_options_example(params, filter->options);
    for (; words && *words; words++) {
        char name[32];
        size_t n = strcspn(*words, "=");
        snprintf(name, sizeof name, "%.*s", (int)n, *words);
        case_set(filter, params, name, (*words)[n] ? *words + n + 1 : NULL);
    }
    struct gi_err err = {0};
    if (filter->check && filter->check(params, &err))
        fail_msg("%s: %s", filter->name, err.text);
    return params;
}

struct gi_plan case_plan(const struct gi_filter *filter, const void *params,
                         const struct gi_image *srcs)
{
    struct gi_err err = {0};
    struct gi_plan plan;
    int n = 1 + gi_filter_others(filter, params);
    if (gi_plan_make(&plan, filter, params, srcs, n, &err))
        fail_msg("%s: %s", filter->name, err.text);
    return plan;
}

enum gi_status case_run(struct gi_queue *queue, struct gi_image *dst, void *result,
                        const struct gi_image *src, const struct gi_filter *filter,
                        const void *params, struct gi_times *times, double *nbytes,
                        struct gi_err *err)
{
    struct gi_step step = {.filter = filter, .params = params};
    struct gi_side side = {.result = result};
    struct gi_pipeline *pipeline;
    double ms;
    *times = (struct gi_times){.step_ms = &ms, .step_nbytes = nbytes};
    enum gi_status status = gi_pipeline_new(&pipeline, &step, 1, src, NULL, err);
    if (status)
        return status;
    status = gi_pipeline_run(pipeline, queue, dst, src, &side, times, err);
    gi_pipeline_free(&pipeline);
    return status;
}

/* ---- two operations ---- */

struct thin_params {
    int unused;
};

static enum gi_status thin_plan(struct gi_plan *plan, struct gi_err *err)
{
    (void)err;
    plan->result.width = (plan->sources[0].width + 1) / 2;
    plan->result.height = (plan->sources[0].height + 1) / 2;
    plan->dependency = GI_DEPENDENCY_MAPPED;
    plan->cost.other = 1;
    return GI_OK;
}

static struct gi_span thin_needs(const struct gi_plan *plan, int y0, int y1)
{
    int bottom = 2 * y1 - 1 < plan->sources[0].height ? 2 * y1 - 1 : plan->sources[0].height;
    return (struct gi_span){2 * y0, bottom};
}

static enum gi_status thin_run(const struct gi_plan *plan, struct gi_queue *queue,
                               const struct gi_work *work, struct gi_err *err)
{
    (void)plan;
    (void)queue;
    (void)err;
    size_t pixel = (size_t)work->dst->channels * gi_type_nbytes(work->dst->type);
    for (int y = 0; y < work->dst->height; y++)
        for (size_t x = 0; x < (size_t)work->dst->width; x++)
            memcpy((char *)gi_row(work->dst, y) + x * pixel,
                   (char *)gi_row(work->srcs, 2 * (work->dst_y + y) - work->src_y) + 2 * x * pixel,
                   pixel);
    return GI_OK;
}

static enum gi_status next_plan(struct gi_plan *plan, struct gi_err *err)
{
    (void)err;
    plan->result.type = GI_F32;
    plan->halo = 1;
    plan->cost.other = 1;
    return GI_OK;
}

static enum gi_status next_run(const struct gi_plan *plan, struct gi_queue *queue,
                               const struct gi_work *work, struct gi_err *err)
{
    (void)queue;
    (void)err;
    const struct gi_image *src = work->srcs;
    for (int y = 0; y < src->height; y++) {
        int last = plan->sources[0].height - 1 - work->src_y;
        int from = y < last && y + 1 < src->height ? y + 1 : y;
        for (int x = 0; x < src->width; x++)
            for (int c = 0; c < src->channels; c++)
                ((float *)gi_row(work->dst, y))[x * src->channels + c] =
                    (float)case_get(src, from, (size_t)(x * src->channels + c)) +
                    (float)(work->src_y + y);
    }
    return GI_OK;
}

static const struct gi_option no_options[] = {{.name = NULL}};
const struct gi_filter case_thin = {.name = "thin",
                                    .options = no_options,
                                    .params_nbytes = sizeof(struct thin_params),
                                    .plan = thin_plan,
                                    .needs = thin_needs,
                                    .run = thin_run};
const struct gi_filter case_next = {.name = "next",
                                    .options = no_options,
                                    .params_nbytes = sizeof(struct thin_params),
                                    .plan = next_plan,
                                    .run = next_run};
