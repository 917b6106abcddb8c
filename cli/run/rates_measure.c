/* Measures the rates for `auto`, through the pipeline, as commands use it.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/run/rates.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

/* The times of one step in milliseconds. Each is the shortest of three runs. */
struct step_times {
    double ms, up_ms, down_ms, fmas;
};

static enum gi_status run_three_times(struct step_times *best, const struct gi_step *step,
                                      struct gi_queue *queue, const struct gi_image *src,
                                      struct gi_err *err)
{
    double step_ms, step_nbytes;
    struct gi_times times = {.step_ms = &step_ms, .step_nbytes = &step_nbytes};
    struct gi_pipeline *pipeline;
    enum gi_status status = gi_pipeline_new(&pipeline, step, 1, src, NULL, err);
    if (status)
        return status;
    best->ms = best->up_ms = best->down_ms = INFINITY;
    for (int i = 0; i < 3 && !status; i++) {
        struct gi_image dst;
        status = gi_pipeline_run(pipeline, queue, &dst, src, NULL, &times, err);
        if (status)
            break;
        gi_image_free(&dst);
        best->ms = fmin(best->ms, step_ms);
        best->up_ms = fmin(best->up_ms, times.upload_ms);
        best->down_ms = fmin(best->down_ms, times.download_ms);
    }
    gi_pipeline_free(&pipeline);
    return status;
}

/* Times the filter `name` with `option` set to `text`. If `option` is NULL, all options are as in
 * the example of the filter. */
static enum gi_status time_step(struct step_times *best, const char *name, const char *option,
                                const char *text, struct gi_queue *queue,
                                const struct gi_image *src, struct gi_err *err)
{
    const struct gi_filter *filter = gi_filter_find(name);
    struct gi_plan plan;
    void *params = gi_small_calloc(1, filter->params_nbytes);
    gi_options_example(params, filter->options);
    enum gi_status status =
        option ? gi_option_set(params, filter->options, option, text, err) : GI_OK;
    if (!status && filter->check)
        status = filter->check(params, err);
    if (!status)
        status = gi_plan_make(&plan, filter, params, src, 1, err);
    if (!status) {
        struct gi_step step = {.filter = filter, .params = params};
        best->fmas = plan.cost.fmas * (double)gi_row_samples(src) * src->height;
        gi_plan_free(&plan);
        status = run_three_times(best, &step, queue, src, err);
    }
    free(params);
    return status;
}

static enum gi_status measure(struct gi_rates *rates, struct gi_queue *queue,
                              const struct gi_image *src, struct gi_err *err)
{
    double nbytes = (double)gi_row_nbytes(src) * src->height;
    struct step_times moves, multiplies;
    enum gi_status status = time_step(&moves, "invert", NULL, NULL, queue, src, err);
    if (!status)
        status = time_step(&multiplies, "gaussian", "sigma", "10", queue, src, err);
    if (status)
        return status;
    rates->memory = 2e3 * nbytes / moves.ms;
    rates->fmas = 1e3 * multiplies.fmas / multiplies.ms;
    if (queue->k->kind == GI_DEVICE_CUDA) {
        rates->up = 1e3 * nbytes / moves.up_ms;
        rates->down = 1e3 * nbytes / moves.down_ms;
    }
    return GI_OK;
}

enum gi_status gi_rates_measure(struct gi_rates *rates, struct gi_queue *queue, int threads,
                                struct gi_err *err)
{
    enum { SIDE = 8192 };
    struct gi_image src;
    enum gi_status status = gi_image_alloc(&src, SIDE, SIDE, 1, GI_U8, err);
    if (status)
        return status;
    for (int y = 0; y < SIDE; y++)
        memset(gi_row(&src, y), y * 37, gi_row_nbytes(&src));
    status = measure(rates, queue, &src, err);
    gi_image_free(&src);
    return status ? status : gi_rates_measure_codecs(rates, queue, threads, err);
}
