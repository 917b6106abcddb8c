/* gpuimg FILTER [OPTION...] INPUT OUTPUT: the command of every filter of image to image.
 * SPDX-License-Identifier: MIT */
#include "cli/run/batch.h"
#include "cli/inputs/stream.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"
#include "cli/run/output.h"
#include "cli/process.h"
#include "cli/run/session.h"

#include <string.h>

enum { SET_FILTER, SET_IO, SET_DEVICE, SET_BATCH };

/* `dst` = filter of the file; the input image is freed before the output is encoded. */
static enum gi_status load_and_run(struct gi_image *dst, struct gi_metadata *metadata,
                                   struct gi_file_info *info, struct gi_session *session,
                                   const struct gi_chain_step *from, const struct gi_io_params *io,
                                   const char *path, struct gi_err *err)
{
    struct gi_step step = {.filter = from->filter,
                           .params = from->args.params[GI_SET_STEP_FILTER],
                           .others = from->others,
                           .nothers = from->nothers};
    struct gi_side side = {.others = from->others};
    struct gi_image src;
    enum gi_status status = gi_session_load(session, &src, metadata, info, path, io, &step, 1, err);
    if (status)
        return status;
    status = gi_session_run(session, dst, &src, &step, 1, &side, err);
    gi_image_free(&src);
    if (status)
        gi_metadata_free(metadata);
    return status;
}

/* From one file to one. */
static enum gi_status run_one(const struct gi_command *command, const struct gi_chain_step *step,
                              void *const *params, char **operands, struct gi_err *err)
{
    struct gi_io_params io = *(const struct gi_io_params *)params[SET_IO];
    const struct gi_device_params *device = params[SET_DEVICE];
    struct gi_session *session;
    enum gi_status status = gi_cli_check_way(operands[0], operands[1], &io, NULL, err);
    if (status)
        return status;
    status = gi_session_new(&session, device, err);
    if (status)
        return status;
    gi_session_watch(session, gi_batch_params_of(command, params)->progress, 1);
    struct gi_image image;
    struct gi_metadata metadata = {0};
    struct gi_file_info info;
    status = load_and_run(&image, &metadata, &info, session, step, &io, operands[0], err);
    if (!status) {
        double start = gi_now_ms();
        status = gi_cli_check_way(operands[0], operands[1], &io, &info, err);
        if (!status)
            status = gi_cli_save(&image, &metadata, operands[1], &io,
                                 gi_thread_count(device->threads), err);
        gi_session_note(session, "encode", gi_now_ms() - start);
        gi_image_free(&image);
        gi_metadata_free(&metadata);
    }
    if (!status)
        gi_session_report(session);
    gi_session_free(&session);
    return status;
}

/* One image, or a stream of them. */
static enum gi_status run_loaded(const struct gi_batch_job *job, char **operands,
                                 struct gi_err *err)
{
    struct gi_io_params *io = job->params[SET_IO];
    const char *const outputs[] = {operands[1], NULL};
    struct gi_stream *stream = NULL;
    enum gi_status status = gi_chain_check_outputs(job->chain, outputs, err);
    if (!status)
        status = gi_stream_find(&stream, operands[0], operands[1], io, job->params[SET_BATCH], err);
    if (!status && stream)
        return gi_stream_run(&stream, job, err);
    if (!status)
        status = run_one(job->command, job->chain->steps, job->params, operands, err);
    gi_ahead_free(&io->ahead);
    return status;
}

static enum gi_status run_filter(const struct gi_command *command, void *const *params,
                                 char **operands, int noperands, struct gi_err *err)
{
    struct gi_io_params *io = params[SET_IO];
    struct gi_chain_step step = {.filter = command->filter};
    struct gi_chain chain = {.steps = &step, .n = 1};
    step.args.params[GI_SET_STEP_FILTER] = params[SET_FILTER];
    if (io->linear && !command->filter->mixes)
        return gi_fail(err, GI_E_USAGE,
                       "--linear: this mixes no light of several pixels, as gaussian and blur do");
    struct gi_batch_job job = {.command = command, .params = params, .chain = &chain};
    bool many = gi_batch_is_wanted(params[SET_BATCH]), taken = many || !strcmp(operands[0], "-");
    enum gi_status status = gi_chain_load(
        &chain, taken, io, ((const struct gi_device_params *)params[SET_DEVICE])->threads, err);
    if (!status)
        status =
            many ? gi_batch_run(&job, operands, noperands, err) : run_loaded(&job, operands, err);
    gi_chain_unload(&chain);
    return status;
}

const struct gi_command gi_command_filter = {
    .operands = "INPUT OUTPUT",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{0}, /* the operation's */
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .run = run_filter,
};
