/* How long a filter's plan takes by itself, on images that are on the backend already.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "filters/run.h"

enum { START, DONE }; /* slots of the backend's stopwatch */
enum { SOURCES = 64, TRIES = 3 };

/* A try goes through the sources for about so long, each at most once. */
#define TRY_MS 25.0

/* What the plan takes and gives, made once. */
struct stand {
    struct gi_queue *queue;
    const struct gi_filter *filter;
    const void *params;
    const struct gi_image *host;
    struct gi_image in[SOURCES], out[SOURCES];
    int nin, nout, passes;
    void *state, *result;
    size_t state_nbytes;
};

static enum gi_status stand_make(struct stand *stand, const struct gi_image *srcs, int nsrcs,
                                 struct gi_err *err)
{
    const struct gi_filter *filter = stand->filter;
    const struct gi_image *src = &srcs[0];
    const struct gi_kernels *k = stand->queue->k;
    stand->host = src;
    if (filter->passes) {
        stand->passes = filter->passes(src, stand->params);
        stand->state_nbytes = filter->state_nbytes(src, stand->params);
    }
    stand->state = calloc(1, stand->state_nbytes + 1);
    stand->result = calloc(1, filter->result_nbytes + 1);
    if (!stand->state || !stand->result)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %s", filter->name);
    enum gi_status status = GI_OK;
    for (int i = 0; i < nsrcs && i < SOURCES && !status; i++) {
        status = k->upload(stand->queue, &stand->in[i], &srcs[i], err);
        stand->nin += !status;
        if (status || !filter->run)
            continue;
        status = k->alloc(stand->queue, &stand->out[i], src->width, src->height, src->channels,
                          src->type, err);
        stand->nout += !status;
    }
    return status;
}

static void stand_free(struct stand *stand)
{
    const struct gi_kernels *k = stand->queue->k;
    while (stand->nin > 0)
        k->release(stand->queue, &stand->in[--stand->nin]);
    while (stand->nout > 0)
        k->release(stand->queue, &stand->out[--stand->nout]);
    free(stand->state);
    free(stand->result);
}

/* The plan on source i, from its first look to its result. */
static enum gi_status run_once(struct stand *stand, int i, struct gi_err *err)
{
    const struct gi_filter *filter = stand->filter;
    const void *params = stand->params;
    enum gi_status status = GI_OK;
    memset(stand->state, 0, stand->state_nbytes);
    for (int pass = 0; pass < stand->passes && !status; pass++)
        status = filter->measure(stand->queue, stand->state, pass, &stand->in[i], params, err);
    if (!status && filter->run)
        return filter->run(stand->queue, &stand->out[i], &stand->in[i], params,
                           stand->passes ? stand->state : NULL, err);
    if (!status && filter->analyse)
        status = filter->analyse(stand->queue, stand->result, &stand->in[i], params, err);
    if (!status && filter->conclude)
        status = filter->conclude(stand->result, stand->host, params, stand->state, err);
    if (filter->result_free)
        filter->result_free(stand->result);
    memset(stand->result, 0, filter->result_nbytes);
    return status;
}

/* Milliseconds of n runs, one after the other. */
static enum gi_status run_many(struct stand *stand, double *ms, int n, struct gi_err *err)
{
    const struct gi_kernels *k = stand->queue->k;
    enum gi_status status = GI_OK;
    k->mark(stand->queue, START);
    for (int i = 0; i < n && !status; i++)
        status = run_once(stand, i, err);
    k->mark(stand->queue, DONE);
    if (!status)
        status = k->sync(stand->queue, err);
    if (!status)
        *ms = k->elapsed_ms(stand->queue, START, DONE);
    return status;
}

enum gi_status gi_run_time(struct gi_run_time *time, struct gi_queue *queue,
                           const struct gi_image *srcs, int nsrcs, const struct gi_filter *filter,
                           const void *params, struct gi_err *err)
{
    struct stand stand = {.queue = queue, .filter = filter, .params = params};
    double ms = 0, best = 0;
    int n = 1;
    enum gi_status status = stand_make(&stand, srcs, nsrcs, err);
    for (int i = 0; i < 2 && !status; i++) /* the first run of a kernel loads it */
        status = run_many(&stand, &ms, 1, err);
    if (!status && ms < TRY_MS)
        n = TRY_MS / stand.nin > ms ? stand.nin : (int)(TRY_MS / ms);
    for (int i = 0; i < TRIES && !status; i++) {
        status = run_many(&stand, &ms, n, err);
        best = i == 0 || ms / n < best ? ms / n : best;
    }
    struct gi_cost cost = filter->cost ? filter->cost(srcs, params) : (struct gi_cost){0};
    double nbytes = (double)gi_row_nbytes(srcs) * srcs->height;
    double looks = filter->run ? stand.passes + 2 : stand.passes ? stand.passes : 1;
    *time = (struct gi_run_time){.ms = best,
                                 .nbytes = looks * nbytes,
                                 .fmas = cost.fmas * (double)gi_row_samples(srcs) * srcs->height};
    stand_free(&stand);
    return status;
}
