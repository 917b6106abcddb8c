/* The driver: processes one image, a stream of images, or a batch.
 * SPDX-License-Identifier: MIT */
#include "cli/run/driver.h"

#include <string.h>

#include "cli/inputs/stream.h"
#include "cli/process.h"
#include "cli/run/batch.h"
#include "cli/run/chain_outputs.h"
#include "cli/run/ready.h"
#include "cli/run/session.h"
#include "cli/run/timing.h"
#include "cli/tables/tables.h"
#include "kernels/ways.h"

/* The state of processing one image. */
struct one {
    const struct gi_batch_job *job;
    const char *input, *output; /* output NULL: only tables and arrays are written */
    struct gi_io_params io;
    struct gi_session *session;
    int threads;
    struct gi_ready ready; /* set if there is a chain */
    struct gi_image image; /* as loaded, later the result */
    struct gi_metadata metadata;
    struct gi_file_info info;
    unsigned maxval; /* largest sample value of the image as loaded */
};

static bool ends_in_analysis(const struct gi_chain *chain)
{
    return chain && chain->steps[chain->n - 1].reporter;
}

/* Replaces the image by the chain's result. A chain that is a single analysis reads the image
 * itself, other analyses read copies of the images at their steps. */
static enum gi_status compute(struct one *one, struct gi_err *err)
{
    struct gi_ready *ready = &one->ready;
    const struct gi_chain *chain = one->job->chain;
    bool looks = chain->n == 1 && chain->steps[0].reporter;
    struct gi_image src = one->image, made = {0};
    one->image = (struct gi_image){0};
    if (looks) {
        ready->sides[0].copy_out = ready->sides[0].shape = NULL;
        ready->inputs[0] = src;
    }
    enum gi_status status = gi_session_run(one->session, one->output ? &made : NULL, &src,
                                           ready->steps, chain->n, ready->sides, err);
    if (!looks)
        gi_image_free(&src);
    one->image = made;
    return status;
}

static enum gi_status save(struct one *one, struct gi_err *err)
{
    double start = gi_now_ms();
    enum gi_status status = gi_cli_check_way(one->input, one->output, &one->io, &one->info, err);
    gi_session_stage(one->session, "encode");
    if (!status)
        status = gi_cli_save(&one->image, &one->metadata, one->output, &one->io, one->threads, err);
    gi_timing_add("encode", gi_now_ms() - start);
    return status;
}

/* Writes the tables of the chain and then the image: all of them or none. */
static enum gi_status report_and_save(struct one *one, struct gi_err *err)
{
    enum gi_status status = gi_bundle_new(&one->io.bundle, true, err);
    double start = gi_now_ms();
    if (!status)
        status = gi_ready_report(&one->ready, one->input, NULL, one->maxval, one->threads,
                                 one->io.bundle, err);
    gi_timing_add("report", gi_now_ms() - start);
    if (!status && one->output)
        status = save(one, err);
    if (!status)
        status = gi_bundle_commit(&one->io.bundle, err);
    gi_bundle_abandon(&one->io.bundle);
    return status;
}

static enum gi_status load_and_run(struct one *one, struct gi_err *err)
{
    const struct gi_chain *chain = one->job->chain;
    bool reports = one->job->text || ends_in_analysis(chain);
    enum gi_status status = chain ? gi_ready_make(&one->ready, chain, err) : GI_OK;
    if (!status)
        status = gi_session_load(one->session, &one->image,
                                 one->output || one->job->text ? &one->metadata : NULL, &one->info,
                                 one->input, &one->io, one->ready.steps, chain ? chain->n : 0, err);
    if (!status)
        one->maxval = gi_cli_maxval(&one->image, &one->info, &one->io);
    if (!status && chain)
        status = compute(one, err);
    if (!status)
        status = gi_ways_forced_ran(err);
    if (!status)
        status = reports ? report_and_save(one, err) : save(one, err);
    if (chain)
        gi_ready_free(&one->ready);
    gi_image_free(&one->image);
    gi_metadata_free(&one->metadata);
    return status;
}

static enum gi_status run_one(struct one *one, struct gi_err *err)
{
    const struct gi_batch_job *job = one->job;
    const struct gi_batch_params *p = gi_batch_params_of(job->command, job->params);
    const struct gi_device_params *device = gi_batch_device(job);
    enum gi_status status = GI_OK;
    if (job->text)
        status = gi_chain_check_reporters(job->chain, one->input, err);
    if (!status && one->output)
        status = gi_cli_check_way(one->input, one->output, &one->io, NULL, err);
    if (!status && job->text)
        status = gi_chain_check_places(job->chain, one->output, err);
    if (!status)
        status = gi_session_new(&one->session, device, err);
    if (status)
        return status;
    one->threads = gi_thread_count(device->threads);
    gi_session_watch(one->session, p && p->progress, 1);
    status = load_and_run(one, err);
    gi_session_free(&one->session);
    return status;
}

enum gi_status gi_drive(const struct gi_batch_job *job, char **operands, int noperands,
                        struct gi_err *err)
{
    const struct gi_batch_params *p = gi_batch_params_of(job->command, job->params);
    if (p && gi_batch_is_wanted(p))
        return ends_in_analysis(job->chain) ? gi_batch_tables(job, operands, noperands, err)
                                            : gi_batch_run(job, operands, noperands, err);
    const char *input = operands[0], *output = noperands > 1 ? operands[1] : NULL;
    const char *const outputs[] = {output, NULL};
    struct gi_io_params *io = gi_batch_io(job);
    struct gi_stream *stream = NULL;
    enum gi_status status = gi_chain_check_outputs(job->chain, outputs, err);
    if (!status && output)
        status = gi_stream_find(&stream, input, output, io, p, err);
    if (!status && stream)
        return gi_stream_run(&stream, job, err);
    struct one one = {.job = job, .input = input, .output = output, .io = *io};
    if (!status && !output && !ends_in_analysis(job->chain))
        status = gi_fail(err, GI_E_USAGE, "want OUTPUT for the image that %s makes",
                         job->chain->steps[job->chain->n - 1].filter->name);
    if (!status)
        status = run_one(&one, err);
    gi_ahead_free(&io->ahead);
    return status;
}
