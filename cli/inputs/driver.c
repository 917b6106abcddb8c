/* The driver: processes one image, a stream of images, or a batch.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/driver.h"

#include <stdlib.h>
#include <string.h>

#include "cli/args/chain_outputs.h"
#include "cli/inputs/file_batch.h"
#include "cli/inputs/stream.h"
#include "cli/inputs/tables.h"
#include "cli/inputs/tars.h"
#include "cli/paths/names.h"
#include "cli/paths/output.h"
#include "imgio/ahead.h"
#include "imgio/small.h"

/* The images of a batch of files, or one image. */
struct images {
    const struct gi_batch_job *job;
    struct gi_batch_files *files; /* NULL: one image */
    /* The one image; `output` is NULL if the job writes only tables or arrays. */
    const char *input, *output;
    struct gi_watch watch;
};

static enum gi_status work_on(void *self, struct gi_imaging *imaging, struct gi_item *item,
                              struct gi_err *err)
{
    const struct images *images = self;
    const struct gi_batch_work *work = images->job->work;
    return work ? work->run(work->self, images->files, imaging, item, err)
                : gi_imaging_process(imaging, item, false, err);
}

static enum gi_status check_names(void *self, struct gi_err *err)
{
    const struct images *images = self;
    struct gi_batch_files *files = images->files;
    return gi_batch_names(files, files->out.results != GI_BATCH_A_FOLDER, files->io->format, err);
}

static enum gi_status make_folders(void *self, struct gi_imaging *imaging, struct gi_err *err)
{
    const struct images *images = self;
    return gi_batch_places(images->files, err);
}

/* Applies the job to each file. */
static enum gi_status run_files(const struct gi_batch_job *job, char **operands, int noperands,
                                struct gi_err *err)
{
    static const struct gi_target_kind a_file_each = {.check = check_names, .open = make_folders};
    struct gi_batch_files files;
    struct images images = {.job = job, .files = &files};
    const struct gi_batch batch = {.job = job,
                                   .source = &files.source,
                                   .target = &a_file_each,
                                   .self = &images,
                                   .run = work_on};
    struct gi_batch_job own = *job;
    own.streams_list = true;
    enum gi_status status = gi_batch_open(&files, &own, operands, noperands, err);
    if (!status)
        status = gi_batch_run(&batch, err);
    gi_batch_close(&files);
    return status;
}

/* Runs what the set "Many images" asks for. */
static enum gi_status run_batch(const struct gi_batch_job *job, char **operands, int noperands,
                                struct gi_err *err)
{
    bool tar = gi_batch_params(job)->tar;
    if (gi_chain_ends_in_analysis(job->chain))
        return gi_batch_tables(job, operands, noperands, err);
    if (tar && job->work && !job->work->tars)
        return gi_fail(err, GI_E_USAGE, "--tar: not of %s, want files and --out-dir or --out",
                       job->text);
    return tar ? gi_tars_run(job, operands, noperands, err)
               : run_files(job, operands, noperands, err);
}

/* The source of one item. */
static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    const struct images *one = self;
    *more = true; /* asked once */
    item->line.input = gi_small_copy(one->input);
    item->line.output = one->output ? gi_small_copy(one->output) : NULL;
    item->line.in_parts = !one->job->work && gi_naming_is_per_size(one->output);
    return GI_OK;
}

/* The error of the item becomes the error of the command, which main() logs. */
static enum gi_status take_error(void *self, struct gi_item *item, struct gi_err *err)
{
    if (item->line.status)
        *err = item->line.err;
    *item->line.err.text = '\0';
    return item->line.status;
}

static enum gi_status run_one(struct images *one, struct gi_err *err)
{
    static const struct gi_source_kind an_image = {.next = next};
    static const struct gi_target_kind a_file = {.put = take_error};
    const struct gi_batch_job *job = one->job;
    struct gi_io_params *io = gi_batch_io(job);
    struct gi_source source = {.kind = &an_image, .self = one, .n = 1, .one = &one->watch};
    const struct gi_batch batch = {
        .job = job, .source = &source, .target = &a_file, .self = one, .run = work_on};
    enum gi_status status = GI_OK;
    if (job->text)
        status = gi_chain_check_reporters(job->chain, one->input, err);
    if (!status && one->output && !job->work)
        status = gi_cli_check_way(one->input, one->output, io, NULL, err);
    if (!status && job->text)
        status = gi_chain_check_places(job->chain, one->output, err);
    return status ? status : gi_batch_run(&batch, err);
}

/* For an input of one image, whose output has a name for many outputs. *path becomes the name of
 * the first of them. The caller frees it. */
static enum gi_status name_first(char **path, const char *input, const char *output,
                                 struct gi_err *err)
{
    const struct gi_naming naming = {
        .template = output, .pages = true, .sizes = true, .option = "the output"};
    struct gi_list list = {0};
    enum gi_status status = gi_naming_check(&naming, err);
    if (!status)
        status = gi_list_add(&list, input, err);
    if (!status)
        *path = gi_naming_output(&naming, &list, 0);
    gi_list_free(&list);
    return status;
}

enum gi_status gi_drive(const struct gi_batch_job *job, char **operands, int noperands,
                        struct gi_err *err)
{
    const struct gi_batch_params *p = gi_batch_params(job);
    if (p && gi_batch_is_wanted(p))
        return run_batch(job, operands, noperands, err);
    const char *input = operands[0], *output = noperands > 1 ? operands[1] : NULL;
    char *first = NULL;
    const char *const outputs[] = {output, NULL};
    struct gi_io_params *io = gi_batch_io(job);
    struct gi_stream *stream = NULL;
    struct images one = {.job = job, .input = input, .output = output};
    bool had_folder = output && gi_output_has_folder(output);
    enum gi_status status = job->work ? GI_OK : gi_chain_check_outputs(job->chain, outputs, err);
    gi_watch_start(&one.watch, p && p->progress); /* to look for a stream may take long */
    if (!status && output && !job->work && job->nchains < 2)
        status = gi_stream_find(&stream, input, output, io, p, err);
    if (!status && !output && !job->work && !gi_chain_ends_in_analysis(job->chain))
        status = gi_fail(err, GI_E_USAGE, "want OUTPUT for the image that %s makes",
                         job->chain->steps[job->chain->n - 1].filter->name);
    if (!status && !output && !job->work)
        status = gi_stream_take_pipe(input, io, err);
    if (!status && !stream && output && !job->work &&
        (gi_naming_is_many(output) || gi_naming_is_per_size(output)))
        status = name_first(&first, input, output, err);
    one.output = first ? first : output;
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
    gi_ahead_free(&io->passed.ahead);
    return status;
}
