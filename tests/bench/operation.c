/* Runs any operation for the bench, with the looks (passes that only read) before it. The request
 * has the name and options of the operation.
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "filters/filter.h"
#include "tests/bench/request.h"

/* Sets an option from "NAME=TEXT", or a flag from "NAME". */
static enum gi_status set(void *params, const struct gi_filter *filter, char *word,
                          struct gi_err *err)
{
    char *text = strchr(word, '=');
    if (text)
        *text++ = 0;
    return gi_option_find(filter->options, word)
               ? gi_option_set(params, filter->options, word, text, err)
               : gi_fail(err, GI_E_USAGE, "request: %s: no option of %s", word, filter->name);
}

enum gi_status bench_operation_fill(struct bench_weights *weights,
                                    const struct bench_request *request, struct gi_err *err)
{
    char text[sizeof request->operation], *rest, *word;
    memcpy(text, request->operation, sizeof text);
    word = strtok_r(text, " ", &rest);
    const struct gi_filter *filter = word ? gi_filter_find(word) : NULL;
    struct gi_image shape = bench_dst_shape(request), srcs[2] = {shape, shape};
    if (!filter || !filter->run)
        return gi_fail(err, GI_E_USAGE, "request: no such operation");
    assert(filter->params_nbytes <= sizeof weights->params);
    memset(weights->params, 0, sizeof weights->params); /* those without a row in `options` */
    gi_options_default(weights->params, filter->options);
    enum gi_status status = GI_OK;
    while (!status && (word = strtok_r(NULL, " ", &rest)))
        status = set(weights->params, filter, word, err);
    if (!status && filter->check)
        status = filter->check(weights->params, err);
    if (!status)
        status = gi_plan_make(&weights->plan, filter, weights->params, srcs,
                              1 + bench_has_other(request), err);
    const struct gi_image *result = &weights->plan.result;
    if (!status && (result->width != shape.width || result->height != shape.height ||
                    result->channels != shape.channels || result->type != shape.type))
        status =
            gi_fail(err, GI_E_USAGE,
                    "request: a result of %d x %d pixels of %d channels: want the input's shape",
                    result->width, result->height, result->channels);
    if (status)
        return status;
    weights->state = calloc(1, weights->plan.state_nbytes + 1);
    return weights->state ? GI_OK : gi_fail(err, GI_E_MEMORY, "out of memory: a state");
}

enum gi_status bench_operation_run(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *srcs, const struct bench_weights *weights,
                                   struct gi_err *err)
{
    const struct gi_plan *plan = &weights->plan;
    struct gi_work work = {.dst = dst, .srcs = srcs};
    struct gi_plan settled = {0};
    enum gi_status status = GI_OK;
    if (plan->passes)
        work.state = memset(weights->state, 0, plan->state_nbytes);
    for (int pass = 0; pass < plan->passes && !status; pass++)
        status = plan->filter->measure(plan, queue, weights->state,
                                       &(struct gi_look){.pass = pass, .srcs = srcs}, err);
    if (status || !plan->late)
        return status ? status : gi_plan_run(plan, queue, &work, err);
    status = gi_plan_settle(&settled, plan, weights->state, err);
    if (!status)
        status = gi_plan_run(&settled, queue, &work, err);
    gi_plan_free(&settled);
    return status;
}
