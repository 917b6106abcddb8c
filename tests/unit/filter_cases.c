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
