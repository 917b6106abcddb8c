/* Runs the plans of a pipeline one after another, on whole images if they fit on the device, else
 * in bands.
 * SPDX-License-Identifier: MIT */
#include "filters/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "filters/execution.h"
#include "imgio/small.h"
#include "kernels/codec.h"
#include "kernels/kernels.h"

enum { START, STOP, MARKS }; /* of the stopwatch */

static bool wants_all(const struct gi_plan *plan)
{
    return plan->dependency == GI_DEPENDENCY_GLOBAL ||
           (plan->filter->analysis.run && !plan->filter->analysis.conclude);
}

/* Begins a stage. Names the stage for profilers and, if times are wanted, starts the stopwatch. */
static void start(struct gi_execution *execution, const char *name)
{
    execution->queue->k->range(execution->queue, name);
    execution->queue->k->stopwatch_mark(execution->watch, START);
}

/* Ends a stage, whose work returned `status`. Adds the time of the stage to *ms, unless `ms` is
 * NULL because no times are wanted. Errors: as sync(). */
static enum gi_status stop(struct gi_execution *execution, enum gi_status status, double *ms,
                           struct gi_err *err)
{
    struct gi_queue *queue = execution->queue;
    queue->k->stopwatch_mark(execution->watch, STOP);
    if (!status && ms)
        status = queue->k->sync(queue, err);
    if (!status && ms)
        *ms += queue->k->stopwatch_ms(execution->watch, START, STOP);
    queue->k->range(queue, NULL);
    return status;
}

enum gi_status gi_execution_upload(struct gi_execution *execution, struct gi_image *image,
                                   const struct gi_image *host, struct gi_err *err)
{
    struct gi_times *times = execution->times;
    struct gi_queue *queue = execution->queue;
    start(execution, host->coded ? gi_coded_primitive(host->coded) : "upload");
    enum gi_status status = host->coded ? gi_execution_decode(queue, image, host, err)
                                        : queue->k->upload(queue, image, host, NULL, err);
    bool made = !status;
    status = stop(execution, status, times ? &times->upload_ms : NULL, err);
    if (made && status)
        execution->queue->k->release(execution->queue, image);
    if (made && times)
        times->uploads++;
    return status;
}

/* `status` is that of the download. */
static enum gi_status stop_download(struct gi_execution *execution, enum gi_status status,
                                    struct gi_err *err)
{
    struct gi_times *times = execution->times;
    if (!status && times)
        times->downloads++;
    return stop(execution, status, times ? &times->download_ms : NULL, err);
}

enum gi_status gi_execution_download(struct gi_execution *execution, struct gi_image *host,
                                     struct gi_image *image, struct gi_err *err)
{
    const struct gi_kernels *k = execution->queue->k;
    const struct gi_allocator *allocator = execution->src ? execution->src->allocator : NULL;
    start(execution, "download");
    enum gi_status status;
    if (allocator && k->kind != GI_DEVICE_CPU) { /* memory that the device can access directly */
        status = gi_image_alloc_from(host, allocator, image->width, image->height, image->channels,
                                     image->type, err);
        if (status)
            k->release(execution->queue, image);
        else if ((status = k->download_into(execution->queue, host, image, NULL, err)))
            gi_image_free(host);
    } else {
        status = k->download(execution->queue, host, image, NULL, err);
    }
    bool made = !status;
    status = stop_download(execution, status, err);
    if (made && status)
        gi_image_free(host);
    return status;
}

enum gi_status gi_execution_download_into(struct gi_execution *execution,
                                          const struct gi_image *host, struct gi_image *image,
                                          struct gi_err *err)
{
    start(execution, "download");
    return stop_download(
        execution, execution->queue->k->download_into(execution->queue, host, image, NULL, err),
        err);
}

/* Copies an image, or a band of one, to a host image that the caller frees. */
static enum gi_status copy_out(struct gi_execution *execution, struct gi_image *host,
                               const struct gi_image *image, struct gi_err *err)
{
    struct gi_image view =
        gi_image_rows(image, 0, image->height); /* download() consumes its image */
    return gi_execution_download(execution, host, &view, err);
}

/* Returns a pointer to the time of step i, or NULL if no times are wanted. */
static double *step_ms(struct gi_execution *execution, int i)
{
    return execution->times ? &execution->times->step_ms[i] : NULL;
}

static void note_nbytes(struct gi_execution *execution, int i, double nbytes)
{
    if (execution->times)
        execution->times->step_nbytes[i] += nbytes;
}

static double all_nbytes(const struct gi_image *images, int n)
{
    double nbytes = 0;
    for (int i = 0; i < n; i++)
        nbytes += gi_image_nbytes(&images[i]);
    return nbytes;
}

enum gi_status gi_execution_measure(struct gi_execution *execution, int i,
                                    const struct gi_look *look, struct gi_err *err)
{
    const struct gi_plan *plan = &execution->pipeline->plans[i];
    start(execution, plan->filter->name);
    enum gi_status status =
        plan->filter->measure(plan, execution->queue, execution->states[i], look, err);
    note_nbytes(execution, i, all_nbytes(look->srcs, plan->nsources));
    return stop(execution, status, step_ms(execution, i), err);
}

enum gi_status gi_execution_plan(struct gi_execution *execution, int i, const struct gi_work *work,
                                 struct gi_err *err)
{
    const struct gi_plan *plan = &execution->pipeline->plans[i];
    start(execution, plan->filter->name);
    enum gi_status status = gi_plan_run(plan, execution->queue, work, err);
    note_nbytes(execution, i, all_nbytes(work->srcs, plan->nsources) + gi_image_nbytes(work->dst));
    return stop(execution, status, step_ms(execution, i), err);
}

void gi_execution_release_others(struct gi_execution *execution, int i, struct gi_image *srcs)
{
    for (int j = 1; j < execution->pipeline->plans[i].nsources; j++)
        if (srcs[j].data)
            execution->queue->k->release(execution->queue, &srcs[j]);
}

enum gi_status gi_execution_others(struct gi_execution *execution, int i, struct gi_image *srcs,
                                   int y0, int y1, struct gi_err *err)
{
    int n = execution->pipeline->plans[i].nsources;
    enum gi_status status = GI_OK;
    for (int j = 1; j < n; j++)
        srcs[j].data = NULL;
    for (int j = 1; j < n && !status; j++) {
        const struct gi_image *all = &execution->sides[i].others[j - 1];
        struct gi_span span = gi_plan_beside(&execution->pipeline->plans[i], j, y0, y1);
        struct gi_image host = gi_image_rows(all, span.top, span.bottom);
        if (span.top == span.bottom)
            srcs[j] = (struct gi_image){
                .width = all->width, .channels = all->channels, .type = all->type};
        else
            status = gi_execution_upload(execution, &srcs[j], &host, err);
    }
    if (status)
        gi_execution_release_others(execution, i, srcs);
    return status;
}

/* Runs an analysis that needs its images in host memory. Downloads images that are on a device. */
static enum gi_status analyse_on_host(struct gi_execution *execution, int i, struct gi_image *srcs,
                                      struct gi_err *err)
{
    const struct gi_plan *plan = &execution->pipeline->plans[i];
    struct gi_image hosts[GI_SOURCES_MAX] = {0};
    bool down = execution->queue->k->kind != GI_DEVICE_CPU;
    enum gi_status status = down ? copy_out(execution, &hosts[0], &srcs[0], err) : GI_OK;
    if (!down)
        hosts[0] = srcs[0];
    for (int j = 1; j < plan->nsources; j++)
        hosts[j] = execution->sides[i].others[j - 1];
    start(execution, plan->filter->name);
    if (!status)
        status = plan->filter->analysis.run(plan, execution->queue, execution->sides[i].result,
                                            hosts, err);
    if (down)
        gi_image_free(&hosts[0]);
    return stop(execution, status, step_ms(execution, i), err);
}

static enum gi_status analyse(struct gi_execution *execution, int i, struct gi_image *srcs,
                              struct gi_err *err)
{
    const struct gi_plan *plan = &execution->pipeline->plans[i];
    void *result = execution->sides[i].result;
    note_nbytes(execution, i, plan->passes ? 0 : all_nbytes(srcs, plan->nsources));
    if (plan->on_host)
        return analyse_on_host(execution, i, srcs, err);
    if (plan->filter->analysis.conclude)
        return plan->filter->analysis.conclude(plan, result, execution->states[i], err);
    start(execution, plan->filter->name);
    enum gi_status status = plan->filter->analysis.run(plan, execution->queue, result, srcs, err);
    return stop(execution, status, step_ms(execution, i), err);
}

/* Settles step i, as gi_execution_settle() does, and checks that later steps fit on the device. */
static enum gi_status settle_whole(struct gi_execution *execution, int i, struct gi_err *err)
{
    int rows;
    bool whole;
    enum gi_status status = gi_execution_settle(execution, i, err);
    if (!status)
        status = gi_execution_fit(execution, &rows, &whole, err);
    return status || whole ? status
                           : gi_fail(err, GI_E_DEVICE_MEMORY, "out of device memory: %s",
                                     execution->pipeline->steps[i].filter->name);
}

/* Runs step i on *image, which is its whole first source, and replaces *image by the result. */
static enum gi_status step_whole(struct gi_execution *execution, int i, struct gi_image *image,
                                 struct gi_err *err)
{
    const struct gi_plan *plan = &execution->pipeline->plans[i];
    const struct gi_kernels *k = execution->queue->k;
    struct gi_image srcs[GI_SOURCES_MAX] = {*image}, dst;
    enum gi_status status = GI_OK;
    if (execution->sides && execution->sides[i].copy_out)
        status = copy_out(execution, execution->sides[i].copy_out, image, err);
    if (!status && !plan->on_host)
        status = gi_execution_others(execution, i, srcs, 0, image->height, err);
    for (int pass = 0; pass < plan->passes && !status; pass++)
        status =
            gi_execution_measure(execution, i, &(struct gi_look){.pass = pass, .srcs = srcs}, err);
    if (!status && plan->late)
        status = settle_whole(execution, i, err);
    plan = &execution->pipeline->plans[i];
    struct gi_image shape = plan->result;
    if (!plan->filter->run) {
        status = status ? status : analyse(execution, i, srcs, err);
    } else if (!status) {
        status = k->alloc(execution->queue, &dst, shape.width, shape.height, shape.channels,
                          shape.type, err);
        struct gi_work work = {.dst = &dst, .srcs = srcs, .state = execution->states[i]};
        bool made = !status;
        if (!status)
            status = gi_execution_plan(execution, i, &work, err);
        if (made && status)
            k->release(execution->queue, &dst);
        if (!status) {
            k->release(execution->queue, image);
            *image = dst;
        }
    }
    if (!plan->on_host)
        gi_execution_release_others(execution, i, srcs);
    return status;
}

/* Encodes the result, if the caller can use this and the device encodes. Then *dst becomes the
 * shape of the result. Otherwise, also if memory runs out, ending->encoded stays empty, and the
 * result must be downloaded. */
static enum gi_status encode(struct gi_execution *execution, struct gi_image *dst,
                             const struct gi_image *image, struct gi_ending *ending,
                             struct gi_err *err)
{
    struct gi_queue *queue = execution->queue;
    struct gi_times *times = execution->times;
    struct gi_coding coding;
    bool on_cpu = queue->k->kind == GI_DEVICE_CPU;
    if ((on_cpu && !ending->on_cpu) || !ending->coding_of(ending->self, &coding, image) ||
        (coding.strip_rows && !queue->k->png_encode))
        return GI_OK;
    const struct gi_allocator *allocator = on_cpu ? NULL : execution->src->allocator;
    start(execution, "encode");
    enum gi_status status =
        coding.ssimulacra2 > 0
            ? gi_execution_encode_scored(queue, ending, image, &coding, allocator, err)
            : gi_execution_encode(queue, &ending->encoded, image, &coding, allocator, err);
    bool later =
        status == GI_E_UNSUPPORTED || status == GI_E_MEMORY || status == GI_E_DEVICE_MEMORY;
    status = stop(execution, later ? GI_OK : status, times ? &times->encode_ms : NULL, err);
    if (status)
        gi_encoded_free(&ending->encoded);
    if (status || later)
        return status;
    if (times)
        times->encodes++;
    *dst = (struct gi_image){.width = image->width,
                             .height = image->height,
                             .channels = image->channels,
                             .type = image->type};
    return GI_OK;
}

static enum gi_status run_whole(struct gi_execution *execution, struct gi_image *dst,
                                struct gi_err *err)
{
    int last = execution->pipeline->nsteps - 1;
    struct gi_ending *ending = dst && execution->sides ? execution->sides[last].ending : NULL;
    struct gi_image image;
    enum gi_status status = gi_execution_upload(execution, &image, execution->src, err);
    if (status)
        return status;
    for (int i = 0; i < execution->pipeline->n && !status; i++)
        status = step_whole(execution, i, &image, err);
    if (!status && ending)
        status = encode(execution, dst, &image, ending, err);
    if (!status && dst && !(ending && gi_is_encoded(&ending->encoded)))
        status = gi_execution_download(execution, dst, &image, err); /* consumes the image */
    else
        execution->queue->k->release(execution->queue, &image);
    return status;
}

enum gi_status gi_execution_new_state(struct gi_execution *execution, int i, struct gi_err *err)
{
    free(execution->states[i]);
    execution->states[i] = calloc(1, execution->pipeline->plans[i].state_nbytes);
    return execution->states[i]
               ? GI_OK
               : gi_fail(err, GI_E_MEMORY, "out of memory: what a pipeline measures");
}

enum gi_status gi_execution_begin(struct gi_execution *execution, int from, struct gi_err *err)
{
    const struct gi_pipeline *pipeline = execution->pipeline;
    for (int i = from; i < pipeline->n; i++) {
        const struct gi_plan *plan = &pipeline->plans[i];
        enum gi_status status = plan->passes ? gi_execution_new_state(execution, i, err) : GI_OK;
        if (status)
            return status;
        if (execution->sides && execution->sides[i].copy_out)
            gi_image_free(execution->sides[i].copy_out);
        if (execution->sides && execution->sides[i].shape)
            *execution->sides[i].shape = plan->sources[0];
        if (!plan->filter->run && execution->sides[i].result) {
            if (plan->filter->analysis.free)
                plan->filter->analysis.free(execution->sides[i].result);
            memset(execution->sides[i].result, 0, plan->filter->analysis.nbytes);
        }
        if (execution->times)
            execution->times->step_ms[i] = execution->times->step_nbytes[i] = 0;
    }
    if (execution->times && from == 0)
        *execution->times = (struct gi_times){.step_ms = execution->times->step_ms,
                                              .step_nbytes = execution->times->step_nbytes};
    return GI_OK;
}

enum gi_status gi_execution_check_bands(const struct gi_execution *execution, struct gi_err *err)
{
    const struct gi_pipeline *pipeline = execution->pipeline;
    for (int i = 0; i < pipeline->n; i++) {
        const struct gi_plan *plan = &pipeline->plans[i];
        if (wants_all(plan))
            return gi_fail(err, GI_E_DEVICE_MEMORY,
                           "out of device memory: %s needs all %d x %d pixels there at once",
                           plan->filter->name, plan->sources[0].width, plan->sources[0].height);
    }
    return GI_OK;
}

/* Runs in bands. If memory does not suffice, tries smaller and smaller bands until it does. */
static enum gi_status run_bands(struct gi_execution *execution, struct gi_image *dst, int rows,
                                struct gi_err *err)
{
    enum gi_status status = GI_E_DEVICE_MEMORY;
    for (; rows > 0 && status == GI_E_DEVICE_MEMORY; rows /= 2) {
        if (gi_execution_check_bands(execution, err))
            return GI_E_DEVICE_MEMORY;
        status = gi_execution_begin(execution, 0, err);
        if (!status)
            status = gi_execution_bands(execution, dst, rows, err);
    }
    return status;
}

/* As gi_execution_fit(), but fails unless at least 1 row fits. */
static enum gi_status need_fit(struct gi_execution *execution, int *rows, bool *whole,
                               struct gi_err *err)
{
    enum gi_status status = gi_execution_fit(execution, rows, whole, err);
    if (!status && *rows == 0)
        return gi_fail(err, GI_E_DEVICE_MEMORY,
                       "out of device memory: not even one row of the result fits with those that "
                       "it needs");
    return status;
}

/* Bands are uploaded row by row, which coded images don't allow. */
static enum gi_status refuse_bands(struct gi_err *err)
{
    return gi_fail(err, GI_E_UNSUPPORTED, "a coded image is not processed in bands");
}

static enum gi_status run_execution(struct gi_execution *execution, struct gi_image *dst,
                                    struct gi_err *err)
{
    int rows;
    bool whole;
    enum gi_status status = need_fit(execution, &rows, &whole, err);
    if (status)
        return status;
    if (whole) {
        const struct gi_pipeline *before = execution->pipeline;
        if (execution->times)
            execution->times->bands = 1;
        status = run_whole(execution, dst, err);
        if (status != GI_E_DEVICE_MEMORY)
            return status;
        if (execution->src->coded)
            return refuse_bands(err);
        if (execution->pipeline != before && need_fit(execution, &rows, &whole, err))
            return status;
        if (whole && rows < 2)
            return status;
        rows = whole ? rows / 2 : rows;
    }
    if (execution->src->coded)
        return refuse_bands(err);
    return run_bands(execution, dst, rows, err);
}

void gi_execution_tell(const struct gi_execution *execution)
{
    const struct gi_side *sides = execution->sides;
    for (int i = 0; i < execution->pipeline->nsteps && sides; i++) {
        const struct gi_plan *plan = &execution->pipeline->plans[i];
        if (sides[i].warning)
            *sides[i].warning = plan->warning;
        if (sides[i].placement)
            *sides[i].placement = plan->placement;
        if (sides[i].told && plan->filter->samples.tell)
            plan->filter->samples.tell(plan, execution->states[i], sides[i].told, GI_TOLD_NBYTES);
    }
}

static void free_states(void **states, int n)
{
    for (int i = 0; states && i < n; i++)
        free(states[i]);
    free(states);
}

enum gi_status gi_pipeline_run(const struct gi_pipeline *pipeline, struct gi_queue *queue,
                               struct gi_image *dst, const struct gi_image *src,
                               const struct gi_side *sides, struct gi_times *times,
                               struct gi_err *err)
{
    struct gi_execution execution = {
        .pipeline = pipeline, .queue = queue, .src = src, .sides = sides, .times = times};
    execution.states = gi_small_calloc((size_t)pipeline->nsteps, sizeof *execution.states);
    enum gi_status status = gi_execution_begin(&execution, 0, err);
    if (!status && times)
        status = queue->k->stopwatch_new(&execution.watch, queue, MARKS, err);
    if (!status)
        status = run_execution(&execution, dst, err);
    if (!status && err)
        *err = (struct gi_err){0}; /* a lack of memory on the way has been handled */
    if (!status && dst)
        dst->mask = gi_pipeline_result(execution.pipeline).mask;
    if (!status)
        gi_execution_tell(&execution);
    queue->k->stopwatch_free(&execution.watch);
    free_states(execution.states, pipeline->nsteps);
    gi_pipeline_free(&execution.own);
    return status;
}

enum gi_status gi_run_one(struct gi_queue *queue, struct gi_image *dst, void *result,
                          const struct gi_image *src, const struct gi_filter *filter,
                          const void *params, struct gi_err *err)
{
    struct gi_step step = {.filter = filter, .params = params};
    struct gi_side side = {.result = result};
    struct gi_pipeline *pipeline;
    enum gi_status status = gi_pipeline_new(&pipeline, &step, 1, src, NULL, err);
    if (status)
        return status;
    status = gi_pipeline_run(pipeline, queue, dst, src, &side, NULL, err);
    gi_pipeline_free(&pipeline);
    return status;
}
