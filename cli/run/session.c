/* The session of a command: chooses a device, opens it while the image is decoded, and falls back
 * to the CPU.
 * SPDX-License-Identifier: MIT */
#include "cli/run/session.h"
#include "cli/run/device_pool.h"
#include "cli/inputs/image_files.h"
#include "cli/process.h"
#include "cli/log.h"
#include "cli/run/timing.h"
#include "cli/run/watch.h"

#include <stdlib.h>
#include <string.h>

struct gi_session {
    const struct gi_device_params *params;
    struct gi_device_pool *devices;
    struct gi_watch watch;
    struct gi_limits limits; /* for results */
};

enum gi_status gi_session_new(struct gi_session **out, const struct gi_device_params *device,
                              struct gi_err *err)
{
    struct gi_session *session = *out = calloc(1, sizeof *session);
    if (!session)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a device");
    session->params = device;
    enum gi_status status = gi_device_pool_new_for_one(&session->devices, device, err);
    if (status) {
        free(session);
        *out = NULL;
    }
    return status;
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

static void on_shape(void *arg, const struct gi_image *stored)
{
    const struct coming *coming = arg;
    struct gi_session *session = coming->session;
    struct gi_image shape = gi_cli_shape(coming->io, stored);
    struct gi_pipeline *pipeline;
    gi_watch_size(&session->watch, stored);
    if (!gi_device_pool_may_open(session->devices))
        return;
    if (gi_pipeline_new_within(&pipeline, &session->limits, coming->steps, coming->nsteps, &shape,
                               NULL, NULL))
        return; /* gi_session_run() reports the error */
    gi_device_pool_expect(session->devices, pipeline);
    gi_pipeline_free(&pipeline);
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
        gi_cli_load(image, metadata, info, path, io, session->params->threads, &listener, err);
    gi_timing_add("decode", gi_now_ms() - start);
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

void gi_session_free(struct gi_session **out)
{
    struct gi_session *session = *out;
    *out = NULL;
    if (session)
        gi_watch_end(&session->watch);
    if (!session || !gi_cli_tears_down())
        return;
    gi_device_pool_free(&session->devices);
    free(session);
}

static void note_times(const struct gi_step *steps, int nsteps, const struct gi_times *times)
{
    gi_timing_add_copies("upload", times->upload_ms, times->uploads);
    for (int i = 0; i < nsteps; i++)
        gi_timing_add_step(i, steps[i].filter->name, times->step_ms[i], times->step_nbytes[i]);
    gi_timing_add_copies("download", times->download_ms, times->downloads);
    gi_timing_bands(times->bands);
}

/* Times are taken only if they are shown, because each makes the device wait. */
static enum gi_status run(struct gi_session *session, const struct gi_pipeline *pipeline,
                          struct gi_image *dst, const struct gi_image *src,
                          const struct gi_step *steps, int nsteps, const struct gi_side *sides,
                          struct gi_err *err)
{
    if (!session->params->timing)
        return gi_device_pool_run(session->devices, pipeline, dst, src, sides, NULL, err);
    double *each = calloc(2 * (size_t)nsteps, sizeof *each);
    struct gi_times times = {.step_ms = each, .step_nbytes = each + nsteps};
    enum gi_status status =
        each ? gi_device_pool_run(session->devices, pipeline, dst, src, sides, &times, err)
             : gi_fail(err, GI_E_MEMORY, "out of memory: times of %d steps", nsteps);
    if (!status)
        note_times(steps, nsteps, &times);
    free(each);
    return status;
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
    gi_session_stage(session, "kernels");
    status = run(session, pipeline, dst, src, steps, nsteps, sides, err);
    if (dst) {
        gi_session_stage(session, "encode");
        gi_watch_done(&session->watch);
    } else {
        gi_watch_end(&session->watch);
    }
    gi_pipeline_free(&pipeline);
    return status;
}
