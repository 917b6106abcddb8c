/* The driver: processes one image, a stream of images, or a batch.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/driver.h"

#include <stdlib.h>
#include <string.h>

#include "cli/paths/names.h"
#include "cli/inputs/stream.h"
#include "cli/process.h"
#include "cli/inputs/batch.h"
#include "cli/args/chain_outputs.h"
#include "cli/run/imaging.h"
#include "cli/paths/output.h"
#include "cli/inputs/tables.h"

/* The state of processing one image. */
struct one {
    const struct gi_batch_job *job;
    const char *input, *output; /* `output` is NULL if the job writes only tables or arrays */
    struct gi_imaging *imaging;
    struct gi_watch watch;
};

static enum gi_status work_on(void *self, struct gi_item *item, struct gi_err *err)
{
    struct one *one = self;
    const struct gi_batch_work *work = one->job->work;
    return work ? work->run(work->self, NULL, one->imaging, item, err)
                : gi_imaging_file(one->imaging, item, err);
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
    struct gi_io_params *io = gi_batch_io(job);
    enum gi_status status = GI_OK;
    if (job->text)
        status = gi_chain_check_reporters(job->chain, one->input, err);
    if (!status && one->output && !job->work)
        status = gi_cli_check_way(one->input, one->output, io, NULL, err);
    if (!status && job->text)
        status = gi_chain_check_places(job->chain, one->output, err);
    const struct gi_imaging_options options = {
        .chain = job->chain, .io = io, .device = gi_batch_device(job), .one = &one->watch};
    if (!status)
        status = gi_imaging_new(&one->imaging, &options, err);
    if (status)
        return status;
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
        return gi_chain_ends_in_analysis(job->chain)
                   ? gi_batch_tables(job, operands, noperands, err)
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
    if (!status && !output && !job->work && !gi_chain_ends_in_analysis(job->chain))
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
