/* Batches of images from files to files.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/batch.h"

#include "cli/inputs/file_batch.h"
#include "cli/run/imaging.h"
#include "cli/inputs/tars.h"
#include "cli/process.h"

struct images {
    struct gi_batch_files files;
    const struct gi_batch_work *work;
    struct gi_imaging *imaging;
};

static enum gi_status run_item(void *self, struct gi_item *item, struct gi_err *err)
{
    struct images *images = self;
    const struct gi_batch_work *work = images->work;
    return work ? work->run(work->self, &images->files, images->imaging, item, err)
                : gi_imaging_file(images->imaging, item, err);
}

static enum gi_status deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    struct images *images = self;
    return gi_batch_note(&images->files, item, err);
}

enum gi_status gi_batch_run(const struct gi_batch_job *job, char **operands, int noperands,
                            struct gi_err *err)
{
    bool tar = gi_batch_params_of(job->command, job->params)->tar;
    if (tar && job->work)
        return gi_fail(err, GI_E_USAGE, "--tar: not of %s, want files and --out-dir or --out",
                       job->text);
    if (tar)
        return gi_tars_run(job, operands, noperands, err);
    struct images images = {.work = job->work};
    struct gi_io_params io = *gi_batch_io(job);
    struct gi_imaging_options options = {
        .chain = job->chain, .io = &io, .device = gi_batch_device(job)};
    struct gi_work_on work = {.self = &images, .run = run_item, .deliver = deliver};
    enum gi_status status = gi_batch_open(&images.files, job, operands, noperands, err);
    options.rules = images.files.rules;
    options.images = images.files.n;
    options.times = images.files.times;
    if (!status)
        status = gi_batch_names(&images.files, images.files.results != GI_BATCH_A_FOLDER, io.format,
                                err);
    if (!status)
        status = gi_imaging_new(&images.imaging, &options, err);
    if (!status)
        status = gi_batch_places(&images.files, err);
    if (!status)
        status = gi_batch_report(&images.files, job, err);
    if (!status)
        status = gi_batch_go(&images.files, &work, gi_imaging_threads(images.imaging), err);
    gi_batch_close(&images.files);
    if (gi_cli_tears_down())
        gi_imaging_free(&images.imaging);
    return status;
}
