/* The driver: processes one image, a stream of images, or a batch.
 * SPDX-License-Identifier: MIT */
#include "cli/run/driver.h"

#include <stdlib.h>
#include <string.h>

#include "cli/inputs/names.h"
#include "cli/inputs/stream.h"
#include "cli/process.h"
#include "cli/run/batch.h"
#include "cli/run/chain_outputs.h"
#include "cli/run/ready.h"
#include "cli/run/imaging.h"
#include "cli/run/level_check.h"
#include "cli/run/output.h"
#include "cli/run/timing.h"
#include "cli/tables/tables.h"
#include "kernels/ways.h"

/* The state of processing one image. */
struct one {
    const struct gi_batch_job *job;
    const char *input, *output; /* `output` is NULL if the job writes only tables or arrays */
    struct gi_io_params io;
    struct gi_imaging *imaging;
    struct gi_watch watch;
    int threads;
    struct gi_ready ready; /* set if there is a chain */
    struct gi_image image; /* as loaded, later the result */
    struct gi_metadata metadata;
    struct gi_file_info info;
    unsigned maxval; /* gi_cli_maxval() of the image as loaded */
};

static bool ends_in_analysis(const struct gi_chain *chain)
{
    return chain && chain->steps[chain->n - 1].reporter;
}

/* Replaces the image by the chain's result. If the chain is a single analysis, it reads the image
 * itself; otherwise analyses read copies of the images at their steps. */
static enum gi_status compute(struct one *one, struct gi_item *item, struct gi_err *err)
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
    enum gi_status status =
        gi_imaging_compute(one->imaging, item, one->output ? &made : NULL, &src, ready, err);
    if (!looks)
        gi_image_free(&src);
    one->image = made;
    return status;
}

static enum gi_status save(struct one *one, struct gi_item *item, struct gi_err *err)
{
    enum gi_status status = gi_cli_check_way(one->input, one->output, &one->io, &one->info, err);
    return status ? status
                  : gi_imaging_save(one->imaging, item, &one->image, &one->metadata, false, err);
}

/* Writes the tables of the chain, and then the image. Either all of these files appear or none. */
static enum gi_status report_and_save(struct one *one, struct gi_item *item, struct gi_err *err)
{
    enum gi_status status = gi_bundle_new(&one->io.bundle, true, err);
    double start = gi_now_ms();
    if (!status)
        status = gi_ready_report(&one->ready, one->input, NULL, one->maxval, one->threads,
                                 one->io.bundle, err);
    gi_timing_add("report", gi_now_ms() - start);
    if (!status && one->output)
        status = save(one, item, err);
    if (!status)
        status = gi_bundle_commit(&one->io.bundle, err);
    gi_bundle_abandon(&one->io.bundle);
    return status;
}

/* Loads the image of the item, runs the chain on the image or only converts it, and writes the
 * results. */
static enum gi_status run_chain(struct one *one, struct gi_item *item, struct gi_err *err)
{
    const struct gi_chain *chain = one->job->chain;
    bool reports = one->job->text || ends_in_analysis(chain);
    enum gi_status status = chain ? gi_ready_make(&one->ready, chain, err) : GI_OK;
    if (!status)
        status =
            gi_imaging_load(one->imaging, item, &one->image,
                            one->output || one->job->text ? &one->metadata : NULL, &one->info, err);
    if (!status)
        one->maxval = gi_cli_maxval(&one->image, &one->info, &one->io);
    if (!status && chain)
        status =
            gi_cli_check_levels(one->ready.steps, chain->n, &one->image, &one->info, &one->io, err);
    if (!status && chain)
        status = compute(one, item, err);
    if (!status)
        status = gi_ways_forced_ran(err);
    if (!status)
        status = reports ? report_and_save(one, item, err) : save(one, item, err);
    if (chain)
        gi_ready_free(&one->ready);
    gi_image_free(&one->image);
    gi_metadata_free(&one->metadata);
    return status;
}

static enum gi_status work_on(void *self, struct gi_item *item, struct gi_err *err)
{
    struct one *one = self;
    const struct gi_batch_work *work = one->job->work;
    return work ? work->run(work->self, NULL, one->imaging, item, err) : run_chain(one, item, err);
}

/* The feed of one item. */
static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct one *one = self;
    *more = true; /* asked once: the feed is single */
    item->line.input = strdup(one->input);
    item->line.output = one->output ? strdup(one->output) : NULL;
    return item->line.input && (item->line.output || !one->output)
               ? GI_OK
               : gi_fail(err, GI_E_MEMORY, "out of memory: a path");
}

/* The error of the item becomes the error of the command, which main() logs. */
static enum gi_status deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    (void)self;
    if (item->line.status)
        *err = item->line.err;
    *item->line.err.text = '\0';
    return item->line.status;
}

/* Runs the engine on one item, in this thread and without a limit on memory. */
static enum gi_status run_engine(struct one *one, struct gi_err *err)
{
    static const struct gi_feed_kind kind = {.next = next};
    const struct gi_feed feed = {.kind = &kind, .self = one, .n = 1, .single = true};
    const struct gi_work_on work = {.self = one, .run = work_on, .deliver = deliver};
    const struct gi_engine_options options = {.threads = 1, .memory = UINT64_MAX};
    struct gi_engine *engine;
    enum gi_status status = gi_engine_new(&engine, &options, &feed, &work, err);
    if (!status)
        status = gi_engine_run(engine, err);
    gi_engine_free(&engine);
    return status;
}

static enum gi_status run_one(struct one *one, struct gi_err *err)
{
    const struct gi_batch_job *job = one->job;
    const struct gi_device_params *device = gi_batch_device(job);
    enum gi_status status = GI_OK;
    if (job->text)
        status = gi_chain_check_reporters(job->chain, one->input, err);
    if (!status && one->output && !job->work)
        status = gi_cli_check_way(one->input, one->output, &one->io, NULL, err);
    if (!status && job->text)
        status = gi_chain_check_places(job->chain, one->output, err);
    const struct gi_imaging_options options = {
        .chain = job->chain, .io = &one->io, .device = device, .one = &one->watch};
    if (!status)
        status = gi_imaging_new(&one->imaging, &options, err);
    if (status)
        return status;
    one->threads = gi_thread_count(device->threads);
    status = run_engine(one, err);
    if (gi_cli_tears_down())
        gi_imaging_free(&one->imaging);
    return status;
}

/* For an input of one image, whose output has a name for many outputs. *path becomes the name of
 * the first of them. The caller frees it. */
static enum gi_status name_first(char **path, const char *input, const char *output,
                                 struct gi_err *err)
{
    const struct gi_naming naming = {.template = output, .pages = true, .option = "the output"};
    struct gi_list list = {0};
    enum gi_status status = gi_naming_check(&naming, err);
    if (!status)
        status = gi_list_add(&list, input, err);
    if (!status && !(*path = gi_naming_output(&naming, &list, 0)))
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a path");
    gi_list_free(&list);
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
    char *first = NULL;
    const char *const outputs[] = {output, NULL};
    struct gi_io_params *io = gi_batch_io(job);
    struct gi_stream *stream = NULL;
    struct one one = {.job = job, .input = input, .output = output};
    bool had_folder = output && gi_output_has_folder(output);
    enum gi_status status = job->work ? GI_OK : gi_chain_check_outputs(job->chain, outputs, err);
    gi_watch_start(&one.watch, p && p->progress); /* to look for a stream may take long */
    if (!status && output && !job->work)
        status = gi_stream_find(&stream, input, output, io, p, err);
    if (!status && !stream && output && gi_naming_is_many(output))
        status = name_first(&first, input, output, err);
    one.output = first ? first : output;
    one.io = *io;
    if (!status && !output && !job->work && !ends_in_analysis(job->chain))
        status = gi_fail(err, GI_E_USAGE, "want OUTPUT for the image that %s makes",
                         job->chain->steps[job->chain->n - 1].filter->name);
    if (!status && !stream)
        status = run_one(&one, err);
    status = gi_cli_missing_first(status, operands, 1, err);
    /* The folder of the output disappeared while this process waited for a pipe. */
    if (status == GI_E_IO && had_folder && !gi_output_has_folder(output))
        status = err->status = GI_E_AGAIN;
    gi_watch_end(&one.watch);
    free(first);
    if (!status && stream)
        return gi_stream_run(&stream, job, err);
    gi_ahead_free(&io->ahead);
    return status;
}
