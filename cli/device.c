/* Choosing a device for a command, opening it beside the decoder, and falling back.
 * SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "filters/run.h"

const struct gi_option gi_device_options[] = {
    {.name = "device",
     .type = GI_OPT_TEXT,
     .offset = offsetof(struct gi_device_params, device),
     .metavar = "auto|cpu|cuda[:N]",
     .help = "Where to compute; auto estimates both and takes the quicker. Without it the "
             "environment variable GPUIMG_DEVICE says, then auto"},
    {.name = "threads",
     .type = GI_OPT_INT,
     .offset = offsetof(struct gi_device_params, threads),
     .min = 1,
     .max = 1024,
     .help = "Threads on the CPU; without it as many as there are CPUs"},
    {.name = "max-device-bytes",
     .type = GI_OPT_SIZE,
     .offset = offsetof(struct gi_device_params, max_device_bytes),
     .min = 1,
     .max = 1e15,
     .unit = "bytes",
     .help = "Device memory to use at most; a larger image goes in bands. Without it what is free"},
    {.name = "timing",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct gi_device_params, timing),
     .help = "Print the milliseconds of each stage on standard error"},
    {.name = "verbose",
     .letter = 'v',
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct gi_device_params, verbose),
     .help = "Say on standard error which device was taken and why"},
    {0},
};

enum { STAGES_MAX = 12 };

struct stage {
    const char *name;
    double ms, nbytes; /* nbytes 0: no rate is printed */
};

struct gi_runner {
    const struct gi_device_params *params;
    const char *asked_by; /* "--device" or "GPUIMG_DEVICE" */
    enum gi_device_choice choice;
    struct gi_open_options options;
    struct gi_queue *cpu, *cuda;
    bool opening, tried; /* the side thread runs; CUDA was tried, and cuda_err tells how it went */
    pthread_t thread;
    struct gi_err cuda_err;
    struct stage stages[STAGES_MAX];
    int nstages, bands;
};

/* One filter or analysis of one image. */
struct job {
    struct gi_image *dst; /* NULL: an analysis */
    void *result;
    const struct gi_image *src;
    const struct gi_filter *filter;
    const void *params;
};

enum gi_status gi_device_parse(enum gi_device_choice *choice, int *ordinal, const char *text,
                               struct gi_err *err)
{
    const char *option = "--device ", *rest = "";
    if (!text && (text = getenv("GPUIMG_DEVICE")))
        option = "GPUIMG_DEVICE=";
    if (!text || (!*text && *option == 'G')) /* an empty variable is as good as none */
        text = "auto";
    *ordinal = 0;
    *choice = strcmp(text, "cpu") == 0        ? GI_CHOOSE_CPU
              : strncmp(text, "cuda", 4) == 0 ? GI_CHOOSE_CUDA
                                              : GI_CHOOSE_AUTO;
    if (*choice == GI_CHOOSE_CUDA)
        rest = text + 4;
    else if (*choice == GI_CHOOSE_AUTO && strcmp(text, "auto") != 0)
        rest = "?";
    size_t ndigits = *rest == ':' ? strspn(rest + 1, "0123456789") : 0;
    if (ndigits > 0 && ndigits < 5 && !rest[1 + ndigits])
        *ordinal = atoi(rest + 1);
    else if (*rest)
        return gi_fail(err, GI_E_USAGE, "%s%s: want auto, cpu, cuda or cuda:N", option, text);
    return GI_OK;
}

static void *open_cuda(void *arg)
{
    struct gi_runner *runner = arg;
    const struct gi_kernels *k = gi_kernels_cuda();
    k->open(&runner->cuda, &runner->options, &runner->cuda_err);
    return NULL;
}

/* Begins to make the context on a side thread; need_cuda() waits for it. */
static void start_cuda(struct gi_runner *runner)
{
    runner->tried = true;
    runner->opening = pthread_create(&runner->thread, NULL, open_cuda, runner) == 0;
    if (!runner->opening)
        open_cuda(runner);
}

enum gi_status gi_runner_new(struct gi_runner **out, const struct gi_device_params *device,
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
    struct gi_runner *runner = calloc(1, sizeof *runner);
    if (!runner)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a device");
    runner->params = device;
    runner->asked_by = asked_by;
    runner->choice = choice;
    runner->options = (struct gi_open_options){
        .threads = gi_thread_count(device->threads),
        .ordinal = ordinal,
        .max_bytes = (size_t)device->max_device_bytes,
    };
    if (choice == GI_CHOOSE_CUDA)
        start_cuda(runner);
    *out = runner;
    return GI_OK;
}

static struct gi_estimate estimate_for(const struct gi_runner *runner,
                                       const struct gi_filter *filter, const void *params,
                                       const struct gi_image *shape)
{
    return gi_run_estimate(filter, params, shape, 1, runner->options.threads);
}

/* What gi_runner_load() looks ahead for. */
struct coming {
    struct gi_runner *runner;
    const struct gi_io_params *io;
    const struct gi_filter *filter;
    const void *params;
};

static void on_shape(void *arg, const struct gi_image *stored)
{
    const struct coming *coming = arg;
    struct gi_runner *runner = coming->runner;
    struct gi_image shape = *stored;
    shape.type = gi_cli_depth_type(coming->io, stored->type);
    if (runner->choice != GI_CHOOSE_AUTO || runner->tried || !gi_kernels_cuda())
        return;
    struct gi_estimate estimate = estimate_for(runner, coming->filter, coming->params, &shape);
    if (estimate.cuda_s < estimate.cpu_s)
        start_cuda(runner);
}

enum gi_status gi_runner_load(struct gi_runner *runner, struct gi_image *image,
                              struct gi_metadata *metadata, const char *path,
                              const struct gi_io_params *io, const struct gi_filter *filter,
                              const void *params, struct gi_err *err)
{
    struct coming coming = {.runner = runner, .io = io, .filter = filter, .params = params};
    struct gi_shape_listener listener = {on_shape, &coming};
    double start = gi_now_ms();
    enum gi_status status = gi_cli_load(image, metadata, NULL, path, io, &listener, err);
    gi_runner_note(runner, "decode", gi_now_ms() - start);
    return status;
}

static void add_stage(struct gi_runner *runner, const char *name, double ms, double nbytes)
{
    int i = 0;
    while (i < runner->nstages && strcmp(runner->stages[i].name, name) != 0)
        i++;
    if (i == STAGES_MAX)
        return;
    if (i == runner->nstages)
        runner->stages[runner->nstages++] = (struct stage){.name = name};
    runner->stages[i].ms += ms;
    runner->stages[i].nbytes += nbytes;
}

/* The context of the CUDA device, NULL with cuda_err where there is none. */
static struct gi_queue *need_cuda(struct gi_runner *runner)
{
    double start = gi_now_ms();
    if (runner->opening) {
        pthread_join(runner->thread, NULL);
        runner->opening = false;
    } else if (!runner->tried) {
        runner->tried = true;
        open_cuda(runner);
    }
    add_stage(runner, "context", gi_now_ms() - start, 0);
    return runner->cuda;
}

void gi_runner_free(struct gi_runner **out)
{
    struct gi_runner *runner = *out;
    *out = NULL;
    if (!runner || !gi_cli_tears_down())
        return;
    if (runner->opening)
        pthread_join(runner->thread, NULL);
    if (runner->cuda)
        runner->cuda->k->close(&runner->cuda);
    if (runner->cpu)
        runner->cpu->k->close(&runner->cpu);
    free(runner);
}

static enum gi_status run_job(struct gi_runner *runner, struct gi_queue *queue,
                              const struct job *job, struct gi_err *err)
{
    struct gi_run_times times = {0};
    enum gi_status status =
        job->dst
            ? gi_run_filter(queue, job->dst, job->src, job->filter, job->params, &times, err)
            : gi_run_analysis(queue, job->result, job->src, job->filter, job->params, &times, err);
    if (status)
        return status;
    add_stage(runner, "upload", times.upload_ms, 0);
    add_stage(runner, "kernels", times.kernels_ms, times.kernel_nbytes);
    add_stage(runner, "download", times.download_ms, 0);
    runner->bands = times.bands > runner->bands ? times.bands : runner->bands;
    return GI_OK;
}

static enum gi_status run_cpu(struct gi_runner *runner, const struct job *job, struct gi_err *err)
{
    if (!runner->cpu) {
        enum gi_status status = gi_kernels_cpu()->open(&runner->cpu, &runner->options, err);
        if (status)
            return status;
    }
    return run_job(runner, runner->cpu, job, err);
}

/* What an analysis left behind on a device that gave up. */
static void clear_result(const struct job *job)
{
    if (job->dst)
        return;
    if (job->filter->result_free)
        job->filter->result_free(job->result);
    memset(job->result, 0, job->filter->result_nbytes);
}

static void say_choice(const struct gi_runner *runner, bool cuda,
                       const struct gi_estimate *estimate, const char *reason)
{
    if (!runner->params->verbose)
        return;
    char where[64];
    if (cuda)
        snprintf(where, sizeof where, "cuda:%d", runner->options.ordinal);
    else
        snprintf(where, sizeof where, "cpu (%s, %d thread%s)", gi_cpu_level(),
                 runner->options.threads, runner->options.threads == 1 ? "" : "s");
    gi_cli_warn("device %s: %s; estimated %.3g s on cpu, %.3g s on cuda", where, reason,
                estimate->cpu_s, estimate->cuda_s);
}

/* `auto` without a device is silent but under -v. */
static enum gi_status run_auto(struct gi_runner *runner, const struct job *job,
                               const struct gi_estimate *estimate, struct gi_err *err)
{
    const char *reason = "the quicker by estimate";
    struct gi_err cuda_err = {0};
    if (!gi_kernels_cuda())
        reason = "this build has no CUDA backend";
    else if (estimate->cuda_s < estimate->cpu_s) {
        if (need_cuda(runner)) {
            say_choice(runner, true, estimate, reason);
            enum gi_status status = run_job(runner, runner->cuda, job, &cuda_err);
            if (status != GI_E_DEVICE && status != GI_E_DEVICE_MEMORY) {
                *err = cuda_err;
                return status;
            }
            clear_result(job);
        } else {
            cuda_err = runner->cuda_err;
        }
        reason = cuda_err.text;
    }
    say_choice(runner, false, estimate, reason);
    return run_cpu(runner, job, err);
}

static enum gi_status run(struct gi_runner *runner, const struct job *job, struct gi_err *err)
{
    struct gi_estimate estimate = estimate_for(runner, job->filter, job->params, job->src);
    if (runner->choice == GI_CHOOSE_AUTO)
        return run_auto(runner, job, &estimate, err);
    char reason[32];
    snprintf(reason, sizeof reason, "by %s", runner->asked_by);
    if (runner->choice == GI_CHOOSE_CPU) {
        say_choice(runner, false, &estimate, reason);
        return run_cpu(runner, job, err);
    }
    if (!need_cuda(runner)) {
        *err = runner->cuda_err;
        if (runner->options.ordinal > 0)
            return gi_err_prefix(err, "%s cuda:%d", runner->asked_by, runner->options.ordinal);
        return gi_err_prefix(err, "%s cuda", runner->asked_by);
    }
    say_choice(runner, true, &estimate, reason);
    enum gi_status status = run_job(runner, runner->cuda, job, err);
    if (status != GI_E_DEVICE_MEMORY)
        return status;
    struct gi_err cause = *err;
    return gi_fail(err, status, "%s cuda: %s; want --device cpu or auto%s", runner->asked_by,
                   cause.text,
                   runner->params->max_device_bytes ? ", or more --max-device-bytes" : "");
}

enum gi_status gi_runner_filter(struct gi_runner *runner, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_filter *filter,
                                const void *params, struct gi_err *err)
{
    struct job job = {.dst = dst, .src = src, .filter = filter, .params = params};
    return run(runner, &job, err);
}

enum gi_status gi_runner_analysis(struct gi_runner *runner, void *result,
                                  const struct gi_image *src, const struct gi_filter *filter,
                                  const void *params, struct gi_err *err)
{
    struct job job = {.result = result, .src = src, .filter = filter, .params = params};
    return run(runner, &job, err);
}

void gi_runner_note(struct gi_runner *runner, const char *stage, double ms)
{
    add_stage(runner, stage, ms, 0);
}

void gi_runner_report(struct gi_runner *runner)
{
    if (!runner->params->timing)
        return;
    double total = 0;
    for (int i = 0; i < runner->nstages; i++) {
        const struct stage *stage = &runner->stages[i];
        fprintf(stderr, "%-10s %10.3f ms", stage->name, stage->ms);
        if (stage->nbytes > 0 && stage->ms > 0)
            fprintf(stderr, "  %12.0f bytes  %8.2f GB/s", stage->nbytes,
                    1e-6 * stage->nbytes / stage->ms);
        if (stage->nbytes > 0 && runner->bands > 1)
            fprintf(stderr, "  in %d bands", runner->bands);
        putc('\n', stderr);
        total += stage->ms;
    }
    fprintf(stderr, "%-10s %10.3f ms\n", "total", total);
}
