/* The session of a command: chooses a device, opens it while the image is decoded, and falls back
 * to the CPU.
 * SPDX-License-Identifier: MIT */
#include "cli/run/session.h"
#include "cli/command.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"
#include "cli/process.h"
#include "cli/run/rates.h"
#include "cli/log.h"
#include "cli/run/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ways.h"

struct stage {
    const char *name;  /* static */
    double ms, nbytes; /* nbytes 0: no rate is printed */
};

struct gi_session {
    const struct gi_device_params *params;
    const char *asked_by; /* "--device" or "GPUIMG_DEVICE" */
    enum gi_device_choice choice;
    struct gi_open_options options;
    struct gi_queue *cpu, *cuda;
    bool opening, tried; /* opening: the side thread runs; tried: CUDA was opened, or cuda_err
                            has the reason */
    pthread_t thread;
    struct gi_err cuda_err;
    struct stage *stages;
    int nstages;
    int bands, uploads, downloads;
    struct gi_watch watch;
    struct gi_limits limits; /* for results */
};

/* One pipeline on one image. */
struct job {
    const struct gi_pipeline *pipeline;
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_step *steps;
    int nsteps;
    const struct gi_side *sides;
};

static void *open_cuda(void *arg)
{
    struct gi_session *session = arg;
    const struct gi_kernels *k = gi_kernels_cuda();
    gi_queue_open_alone(&session->cuda, k, &session->options, &session->cuda_err);
    return NULL;
}

/* Starts to create the context on a side thread; need_cuda() waits for it. */
static void start_cuda(struct gi_session *session)
{
    session->tried = true;
    session->opening = pthread_create(&session->thread, NULL, open_cuda, session) == 0;
    if (!session->opening)
        open_cuda(session);
}

enum gi_status gi_session_new(struct gi_session **out, const struct gi_device_params *device,
                              struct gi_err *err)
{
    enum gi_device_choice choice;
    int ordinal;
    enum gi_status status = gi_device_parse(&choice, &ordinal, device->device, err);
    if (status)
        return status;
    const char *asked_by = device->device ? "--device" : "GPUIMG_DEVICE";
    if (choice == GI_CHOOSE_CUDA && !gi_kernels_cuda())
        return gi_fail(err, GI_E_DEVICE, "%s cuda: this build has no CUDA backend", asked_by);
    struct gi_session *session = calloc(1, sizeof *session);
    if (!session)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a device");
    session->params = device;
    session->asked_by = asked_by;
    session->choice = choice;
    session->options = (struct gi_open_options){
        .threads = gi_thread_count(device->threads),
        .ordinal = ordinal,
        .max_bytes = (size_t)device->max_device_bytes,
    };
    if (choice == GI_CHOOSE_CUDA)
        start_cuda(session);
    *out = session;
    return GI_OK;
}

void gi_session_watch(struct gi_session *session, bool forced, int images)
{
    gi_watch_start(&session->watch, forced, images > 1 ? images : 0);
}

void gi_session_stage(struct gi_session *session, const char *stage)
{
    gi_watch_stage(&session->watch, stage);
}

/* Data for the shape listener of gi_session_load(). */
struct coming {
    struct gi_session *session;
    const struct gi_io_params *io;
    const struct gi_step *steps;
    int nsteps;
};

/* Estimates with the rates known so far: those of the CUDA device if it is open, otherwise
 * optimistic ones. */
static struct gi_estimate estimate_for(const struct gi_session *session,
                                       const struct gi_pipeline *pipeline)
{
    struct gi_rates cpu = gi_rates_cpu(session->options.threads);
    bool open = !session->opening && session->cuda;
    struct gi_rates cuda = open ? gi_rates_cuda(session->cuda->device) : gi_rates_cuda_unopened();
    return gi_pipeline_estimate(pipeline, 1, session->options.threads, &cpu, &cuda);
}

static void on_shape(void *arg, const struct gi_image *stored)
{
    const struct coming *coming = arg;
    struct gi_session *session = coming->session;
    struct gi_image shape = gi_cli_shape(coming->io, stored);
    struct gi_pipeline *pipeline;
    gi_watch_size(&session->watch, stored);
    if (session->choice != GI_CHOOSE_AUTO || session->tried || !gi_cuda_is_likely())
        return;
    if (gi_pipeline_new_within(&pipeline, &session->limits, coming->steps, coming->nsteps, &shape,
                               NULL, NULL))
        return; /* gi_session_run() reports the error */
    struct gi_estimate estimate = estimate_for(session, pipeline);
    gi_pipeline_free(&pipeline);
    if (estimate.cuda_s < estimate.cpu_s)
        start_cuda(session);
}

static int on_picture(void *arg, const struct gi_image *picture)
{
    const struct coming *coming = arg;
    const struct gi_step *first = coming->nsteps ? &coming->steps[0] : NULL;
    return first && first->filter->shrink ? first->filter->shrink(first->params, picture) : 1;
}

enum gi_status gi_session_load(struct gi_session *session, struct gi_image *image,
                               struct gi_metadata *metadata, struct gi_file_info *info,
                               const char *path, const struct gi_io_params *io,
                               const struct gi_step *steps, int nsteps, struct gi_err *err)
{
    struct coming coming = {.session = session, .io = io, .steps = steps, .nsteps = nsteps};
    struct gi_shape_listener listener = {on_shape, &coming, on_picture};
    double start = gi_now_ms();
    session->limits = io->limits;
    gi_session_stage(session, "decode");
    enum gi_status status =
        gi_cli_load(image, metadata, info, path, io, session->options.threads, &listener, err);
    gi_session_note(session, "decode", gi_now_ms() - start);
    if (!status)
        status = gi_cli_check_levels(steps, nsteps, image, info, io, err);
    else
        return status;
    if (status) {
        gi_image_free(image);
        if (metadata)
            gi_metadata_free(metadata);
    }
    return status;
}

static struct stage *new_stage(struct gi_session *session, const char *name)
{
    struct stage *grown =
        realloc(session->stages, (size_t)(session->nstages + 1) * sizeof *session->stages);
    if (!grown)
        return NULL; /* only a line of a table is missing */
    session->stages = grown;
    grown[session->nstages] = (struct stage){.name = name};
    return &grown[session->nstages++];
}

/* Adds a stage outside the pipeline; stages with the same name are added up. */
static void add_stage(struct gi_session *session, const char *name, double ms)
{
    for (int i = 0; i < session->nstages; i++)
        if (strcmp(session->stages[i].name, name) == 0 && session->stages[i].nbytes == 0) {
            session->stages[i].ms += ms;
            return;
        }
    struct stage *stage = new_stage(session, name);
    if (stage)
        stage->ms = ms;
}

/* Returns the queue of the CUDA device, NULL with cuda_err if there is none. */
static struct gi_queue *need_cuda(struct gi_session *session)
{
    double start = gi_now_ms();
    if (session->opening) {
        pthread_join(session->thread, NULL);
        session->opening = false;
    } else if (!session->tried) {
        session->tried = true;
        open_cuda(session);
    }
    add_stage(session, "context", gi_now_ms() - start);
    return session->cuda;
}

void gi_session_free(struct gi_session **out)
{
    struct gi_session *session = *out;
    *out = NULL;
    if (session)
        gi_watch_end(&session->watch);
    if (!session || !gi_cli_tears_down())
        return;
    free(session->stages);
    if (session->opening)
        pthread_join(session->thread, NULL);
    if (session->cuda)
        gi_queue_close_alone(&session->cuda);
    if (session->cpu)
        gi_queue_close_alone(&session->cpu);
    free(session);
}

static void note_times(struct gi_session *session, const struct job *job,
                       const struct gi_times *times)
{
    add_stage(session, "upload", times->upload_ms);
    for (int i = 0; i < job->nsteps; i++) {
        struct stage *stage = new_stage(session, job->steps[i].filter->name);
        if (!stage)
            continue;
        stage->ms = times->step_ms[i];
        stage->nbytes = times->step_nbytes[i];
    }
    add_stage(session, "download", times->download_ms);
    session->bands = times->bands > session->bands ? times->bands : session->bands;
    session->uploads += times->uploads;
    session->downloads += times->downloads;
}

/* Times are taken only if they are shown, because each makes the device wait. */
static enum gi_status run_on(struct gi_session *session, struct gi_queue *queue,
                             const struct job *job, struct gi_err *err)
{
    struct gi_times times = {0};
    if (!session->params->timing)
        return gi_pipeline_run(job->pipeline, queue, job->dst, job->src, job->sides, NULL, err);
    times.step_ms = calloc((size_t)job->nsteps, sizeof *times.step_ms);
    times.step_nbytes = calloc((size_t)job->nsteps, sizeof *times.step_nbytes);
    enum gi_status status =
        times.step_ms && times.step_nbytes
            ? gi_pipeline_run(job->pipeline, queue, job->dst, job->src, job->sides, &times, err)
            : gi_fail(err, GI_E_MEMORY, "out of memory: times of %d steps", job->nsteps);
    if (!status)
        note_times(session, job, &times);
    free(times.step_ms);
    free(times.step_nbytes);
    return status;
}

/* Logs the ways that ran on an open queue, as "box small, histogram bytes x 3", and details on
 * lines of their own. */
static void log_ways(const struct gi_queue *queue)
{
    enum { USES_MAX = 32 };
    struct gi_way_use uses[USES_MAX];
    char text[USES_MAX * 48] = "";
    int n = queue ? gi_queue_ways(queue, uses, USES_MAX) : 0;
    size_t used = 0;
    for (int i = 0; i < n && i < USES_MAX && used < sizeof text; i++) {
        char times[32] = "";
        if (uses[i].runs > 1)
            snprintf(times, sizeof times, " x %llu", (unsigned long long)uses[i].runs);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s%s", i ? ", " : "",
                                 uses[i].primitive, uses[i].way, times);
    }
    if (n > 0)
        gi_cli_log("ways %s: %s", queue->k->name, text);
    for (int i = 0; i < n && i < USES_MAX; i++)
        if (uses[i].detail)
            gi_cli_log("%s: %s", uses[i].primitive, uses[i].detail);
}

static enum gi_status run_cpu(struct gi_session *session, const struct job *job, struct gi_err *err)
{
    if (!session->cpu) {
        enum gi_status status =
            gi_queue_open_alone(&session->cpu, gi_kernels_cpu(), &session->options, err);
        if (status)
            return status;
    }
    return run_on(session, session->cpu, job, err);
}

static void log_choice(const struct gi_session *session, const struct job *job, bool cuda,
                       const char *reason)
{
    if (!session->params->verbose)
        return;
    char where[64];
    if (cuda)
        snprintf(where, sizeof where, "cuda:%d", session->options.ordinal);
    else
        snprintf(where, sizeof where, "cpu (%s, %d thread%s)", gi_cpu_level(),
                 session->options.threads, session->options.threads == 1 ? "" : "s");
    struct gi_estimate estimate = estimate_for(session, job->pipeline);
    char priced[64] = "";
    if (cuda || gi_cuda_is_likely())
        snprintf(priced, sizeof priced, ", %s%.3g s on cuda", session->cuda ? "" : "at best ",
                 estimate.cuda_s);
    gi_cli_log("device %s: %s; estimated %.3g s on cpu%s", where, reason, estimate.cpu_s, priced);
}

/* Returns whether CUDA is faster; opens it only if it may be, and then estimates again with its
 * rates. */
static bool takes_cuda(struct gi_session *session, const struct gi_pipeline *pipeline)
{
    struct gi_estimate estimate = estimate_for(session, pipeline);
    if (estimate.cuda_s >= estimate.cpu_s || !need_cuda(session))
        return false;
    estimate = estimate_for(session, pipeline);
    return estimate.cuda_s < estimate.cpu_s;
}

/* Runs under `auto`, which logs a missing device only with -v. */
static enum gi_status run_auto(struct gi_session *session, const struct job *job,
                               struct gi_err *err)
{
    const char *reason = "the quicker by estimate";
    struct gi_err cuda_err = {0};
    if (!gi_kernels_cuda())
        reason = "this build has no CUDA backend";
    else if (!gi_cuda_is_likely())
        reason = "no NVIDIA driver here";
    else if (takes_cuda(session, job->pipeline)) {
        log_choice(session, job, true, reason);
        enum gi_status status = run_on(session, session->cuda, job, &cuda_err);
        if (status != GI_E_DEVICE && status != GI_E_DEVICE_MEMORY && status != GI_E_LAUNCH) {
            *err = cuda_err;
            return status;
        }
        reason = cuda_err.text;
    } else if (*session->cuda_err.text) {
        reason = session->cuda_err.text;
    }
    log_choice(session, job, false, reason);
    return run_cpu(session, job, err);
}

static enum gi_status run_forced(struct gi_session *session, const struct job *job,
                                 struct gi_err *err)
{
    char reason[32];
    snprintf(reason, sizeof reason, "by %s", session->asked_by);
    if (session->choice == GI_CHOOSE_CPU) {
        log_choice(session, job, false, reason);
        return run_cpu(session, job, err);
    }
    if (!need_cuda(session)) {
        *err = session->cuda_err;
        if (session->options.ordinal > 0)
            return gi_err_prefix(err, "%s cuda:%d", session->asked_by, session->options.ordinal);
        return gi_err_prefix(err, "%s cuda", session->asked_by);
    }
    log_choice(session, job, true, reason);
    enum gi_status status = run_on(session, session->cuda, job, err);
    if (status != GI_E_DEVICE_MEMORY)
        return status;
    struct gi_err cause = *err;
    return gi_fail(err, status, "%s cuda: %s; want --device cpu or auto%s", session->asked_by,
                   cause.text,
                   session->params->max_device_bytes ? ", or more --max-device-bytes" : "");
}

enum gi_status gi_session_run(struct gi_session *session, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_step *steps, int nsteps,
                              const struct gi_side *sides, struct gi_err *err)
{
    struct gi_pipeline *pipeline;
    int failed = -1;
    enum gi_status status =
        gi_pipeline_new_within(&pipeline, &session->limits, steps, nsteps, src, &failed, err);
    if (status)
        return nsteps == 1 || failed < 0
                   ? status
                   : gi_err_prefix(err, "step %d, %s", failed + 1, steps[failed].filter->name);
    struct job job = {.pipeline = pipeline,
                      .dst = dst,
                      .src = src,
                      .steps = steps,
                      .nsteps = nsteps,
                      .sides = sides};
    gi_session_stage(session, "kernels");
    status = session->choice == GI_CHOOSE_AUTO ? run_auto(session, &job, err)
                                               : run_forced(session, &job, err);
    if (dst) {
        gi_session_stage(session, "encode");
        gi_watch_done(&session->watch);
    } else {
        gi_watch_end(&session->watch);
    }
    gi_pipeline_free(&pipeline);
    return status;
}

void gi_session_note(struct gi_session *session, const char *stage, double ms)
{
    add_stage(session, stage, ms);
}

void gi_session_report(struct gi_session *session)
{
    gi_watch_end(&session->watch);
    if (session->params->verbose || session->params->timing) {
        log_ways(session->cpu);
        log_ways(session->opening ? NULL : session->cuda);
    }
    if (!session->params->timing)
        return;
    double total = 0;
    for (int i = 0; i < session->nstages; i++) {
        const struct stage *stage = &session->stages[i];
        fprintf(stderr, "%-10s %10.3f ms", stage->name, stage->ms);
        if (stage->nbytes > 0 && stage->ms > 0)
            fprintf(stderr, "  %12.0f bytes  %8.2f GB/s", stage->nbytes,
                    1e-6 * stage->nbytes / stage->ms);
        if (stage->nbytes > 0 && session->bands > 1)
            fprintf(stderr, "  in %d bands", session->bands);
        if (strcmp(stage->name, "upload") == 0)
            fprintf(stderr, "  %d time%s", session->uploads, session->uploads == 1 ? "" : "s");
        if (strcmp(stage->name, "download") == 0)
            fprintf(stderr, "  %d time%s", session->downloads, session->downloads == 1 ? "" : "s");
        putc('\n', stderr);
        total += stage->ms;
    }
    fprintf(stderr, "%-10s %10.3f ms\n", "total", total);
}
