/* Times a pipeline alone, on images that are already on the backend.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "filters/execution.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

enum { START, DONE, MARKS }; /* of the stopwatch */
enum { SOURCES = 64, TRIES = 3 };

/* Approximate milliseconds of a measurement, which uses each source at most once. */
#define TRY_MS 25.0

/* A pipeline that is timed, with its images and memory, which are allocated once. */
struct timed {
    struct gi_execution execution;
    struct gi_image in[SOURCES], out[SOURCES]; /* `out`: results of the last step */
    int nin, nout;
    struct gi_side *sides;
    struct gi_stopwatch *watch;
};

static bool makes_image(const struct gi_pipeline *pipeline)
{
    return pipeline->plans[pipeline->n - 1].filter->run;
}

/* Returns whether the only step needs its images in host memory. */
static bool on_host(const struct gi_pipeline *pipeline)
{
    return pipeline->plans[0].on_host;
}

static void make_sides(struct timed *timed)
{
    const struct gi_pipeline *pipeline = timed->execution.pipeline;
    size_t n = (size_t)pipeline->n;
    timed->sides = gi_small_calloc(n, sizeof *timed->sides);
    timed->execution.states = gi_small_calloc(n, sizeof *timed->execution.states);
    for (int i = 0; i < pipeline->n; i++) {
        const struct gi_plan *plan = &pipeline->plans[i];
        timed->sides[i].result = gi_small_calloc(1, plan->filter->analysis.nbytes + 1);
        timed->execution.states[i] = gi_small_calloc(1, plan->state_nbytes + 1);
    }
    timed->execution.sides = timed->sides;
}

static enum gi_status timed_make(struct timed *timed, const struct gi_image *srcs, int nsrcs,
                                 struct gi_err *err)
{
    struct gi_queue *queue = timed->execution.queue;
    struct gi_image shape = gi_pipeline_result(timed->execution.pipeline);
    make_sides(timed);
    enum gi_status status = queue->k->stopwatch_new(&timed->watch, queue, MARKS, err);
    for (int i = 0; i < nsrcs && i < SOURCES && !status; i++) {
        if (on_host(timed->execution.pipeline))
            timed->in[i] = gi_image_rows(&srcs[i], 0, srcs[i].height);
        else
            status = queue->k->upload(queue, &timed->in[i], &srcs[i], NULL, err);
        timed->nin += !status;
        if (status || !makes_image(timed->execution.pipeline))
            continue;
        status = queue->k->alloc(queue, &timed->out[i], shape.width, shape.height, shape.channels,
                                 shape.type, err);
        timed->nout += !status;
    }
    return status;
}

static void timed_free(struct timed *timed)
{
    struct gi_queue *queue = timed->execution.queue;
    while (timed->nin > 0)
        queue->k->release(queue, &timed->in[--timed->nin]);
    while (timed->nout > 0)
        queue->k->release(queue, &timed->out[--timed->nout]);
    for (int i = 0; i < timed->execution.pipeline->n; i++) {
        free(timed->sides[i].result);
        free(timed->execution.states[i]);
    }
    free(timed->sides);
    free(timed->execution.states);
    queue->k->stopwatch_free(&timed->watch);
}

/* Runs step i on `image`, into `dst` if it is the last step. */
static enum gi_status run_step(struct timed *timed, int i, int turn, const struct gi_image *image,
                               struct gi_image *dst, struct gi_err *err)
{
    const struct gi_plan *plan = &timed->execution.pipeline->plans[i];
    const struct gi_filter *filter = plan->filter;
    struct gi_queue *queue = timed->execution.queue;
    void *state = timed->execution.states[i], *result = timed->sides[i].result;
    struct gi_image srcs[GI_SOURCES_MAX] = {*image};
    enum gi_status status = GI_OK;
    for (int j = 1; j < plan->nsources; j++)
        srcs[j] = timed->in[(turn + j) % timed->nin];
    memset(state, 0, plan->passes ? plan->state_nbytes : 0);
    for (int pass = 0; pass < plan->passes && !status; pass++)
        status =
            filter->measure(plan, queue, state, &(struct gi_look){.pass = pass, .srcs = srcs}, err);
    struct gi_work work = {.dst = dst, .srcs = srcs, .state = plan->passes ? state : NULL};
    if (!status && filter->run)
        return gi_plan_run(plan, queue, &work, err);
    if (!status && filter->analysis.conclude && !plan->on_host)
        status = filter->analysis.conclude(plan, result, state, err);
    else if (!status)
        status = filter->analysis.run(plan, queue, result, srcs, err);
    if (filter->analysis.free)
        filter->analysis.free(result);
    memset(result, 0, filter->analysis.nbytes);
    return status;
}

static enum gi_status run_once(struct timed *timed, int turn, struct gi_err *err)
{
    const struct gi_pipeline *pipeline = timed->execution.pipeline;
    struct gi_queue *queue = timed->execution.queue;
    struct gi_image image = gi_image_rows(&timed->in[turn], 0, timed->in[turn].height), dst;
    enum gi_status status = GI_OK;
    for (int i = 0; i < pipeline->n && !status; i++) {
        struct gi_image shape = pipeline->plans[i].result;
        bool makes = pipeline->plans[i].filter->run, last = i == pipeline->n - 1;
        if (makes && last)
            dst = timed->out[turn];
        else if (makes)
            status = queue->k->alloc(queue, &dst, shape.width, shape.height, shape.channels,
                                     shape.type, err);
        if (status)
            break;
        status = run_step(timed, i, turn, &image, makes ? &dst : NULL, err);
        if (!makes)
            continue;
        queue->k->release(queue, &image);
        image = last ? gi_image_rows(&dst, 0, dst.height) : dst;
    }
    queue->k->release(queue, &image);
    return status;
}

static enum gi_status run_many(struct timed *timed, double *ms, int n, struct gi_err *err)
{
    struct gi_queue *queue = timed->execution.queue;
    queue->k->stopwatch_mark(timed->watch, START);
    enum gi_status status = GI_OK;
    for (int i = 0; i < n && !status; i++)
        status = run_once(timed, i, err);
    queue->k->stopwatch_mark(timed->watch, DONE);
    if (!status)
        status = queue->k->sync(queue, err);
    if (!status)
        *ms = queue->k->stopwatch_ms(timed->watch, START, DONE);
    return status;
}

/* Counts the minimum bytes and multiply-adds of a run, separately for each step. */
static void count(struct gi_pipeline_time *time, const struct gi_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->n; i++) {
        const struct gi_plan *plan = &pipeline->plans[i];
        double in = gi_image_nbytes(&plan->sources[0]);
        double samples = in / (double)gi_type_nbytes(plan->sources[0].type);
        bool makes = plan->filter->run;
        double looks = makes ? plan->passes + 1 : plan->passes ? plan->passes : 1;
        time->nbytes += looks * in + (makes ? gi_image_nbytes(&plan->result) : 0);
        time->fmas += plan->cost.fmas * samples;
    }
}

enum gi_status gi_pipeline_measure(struct gi_pipeline_time *time,
                                   const struct gi_pipeline *pipeline, struct gi_queue *queue,
                                   const struct gi_image *srcs, int nsrcs, struct gi_err *err)
{
    struct timed timed = {.execution = {.pipeline = pipeline, .queue = queue}};
    double ms = 0, best = 0;
    int n = 1;
    *time = (struct gi_pipeline_time){0};
    if (pipeline->plans[pipeline->n - 1].late)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%s can't be timed alone: its plan depends on what it measures",
                       pipeline->plans[pipeline->n - 1].filter->name);
    enum gi_status status = timed_make(&timed, srcs, nsrcs, err);
    for (int i = 0; i < 2 && !status; i++) /* the first run loads the kernels */
        status = run_many(&timed, &ms, 1, err);
    if (!status && ms < TRY_MS)
        n = TRY_MS / timed.nin > ms ? timed.nin : (int)(TRY_MS / ms);
    for (int i = 0; i < TRIES && !status; i++) {
        status = run_many(&timed, &ms, n, err);
        best = i == 0 || ms / n < best ? ms / n : best;
    }
    *time = (struct gi_pipeline_time){.ms = best};
    count(time, pipeline);
    timed_free(&timed);
    return status;
}
