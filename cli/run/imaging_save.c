/* Writes the results of an item. The quality of a JPEG may be found on a device.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cli/process.h"
#include "cli/run/imaging.h"
#include "cli/run/session.h"
#include "imgio/small.h"
#include "kernels/ways.h"

extern const struct gi_filter gi_filter_convert;

/* As gi_quality_device.encode. The pipeline is a copy of the image, which stays on the device. */
static enum gi_status encode(void *self, struct gi_ending *ending, const struct gi_image *image,
                             struct gi_err *err)
{
    const struct gi_imaging *imaging = self;
    void *params = gi_small_calloc(1, gi_filter_convert.params_nbytes);
    gi_options_default(params, gi_filter_convert.options);
    const struct gi_step step = {.filter = &gi_filter_convert, .params = params};
    const struct gi_side side = {.ending = ending};
    struct gi_pipeline *pipeline = NULL;
    struct gi_image copy = {0};
    enum gi_status status = gi_pipeline_new(&pipeline, &step, 1, image, NULL, err);
    if (!status)
        status =
            gi_session_run(gi_imaging_session(imaging), pipeline, &copy, image, &side, NULL, err);
    gi_image_free(&copy);
    gi_pipeline_free(&pipeline);
    free(params);
    return status;
}

bool gi_imaging_searches(const struct gi_imaging *imaging)
{
    return gi_imaging_options(imaging)->io->encoding.target.ssimulacra2 > 0 &&
           (!gi_imaging_on_cpu(imaging) || gi_ways_forces("jpeg_encode"));
}

/* Returns the options for a file that may be encoded on `device`. */
static struct gi_io_params options_for(const struct gi_imaging *imaging,
                                       const struct gi_io_params *io,
                                       const struct gi_quality_device *device)
{
    struct gi_io_params own = *io;
    own.passed.device = gi_imaging_searches(imaging) ? device : NULL;
    return own;
}

enum gi_status gi_imaging_save_part(struct gi_imaging *imaging, struct gi_item *item,
                                    const struct gi_image *image,
                                    const struct gi_metadata *metadata, const char *path,
                                    struct gi_bundle *bundle, struct gi_err *err)
{
    struct gi_timing_span span = gi_timing_begin();
    const struct gi_quality_device device = {imaging, encode};
    struct gi_io_params io = options_for(imaging, gi_imaging_options(imaging)->io, &device);
    io.passed.bundle = bundle;
    enum gi_status status =
        gi_cli_save_by(image, metadata, path, &io, gi_imaging_parallel(imaging), NULL, NULL, err);
    gi_imaging_note(item, GI_STAGE_ENCODE, &span);
    if (!status)
        gi_line_add_part(&item->line, path);
    return status;
}

enum gi_status gi_imaging_save(struct gi_imaging *imaging, struct gi_item *item,
                               const struct gi_image *image, const struct gi_metadata *metadata,
                               const struct gi_io_params *options, bool into_memory,
                               struct gi_err *err)
{
    struct gi_timing_span span = gi_timing_begin();
    const struct gi_quality_device device = {imaging, encode};
    struct gi_io_params io =
        options_for(imaging, options ? options : gi_imaging_options(imaging)->io, &device);
    const char *name = item->line.output ? item->line.output : item->line.input;
    if (item->source.format)
        io.format = item->source.format;
    enum gi_status status =
        gi_cli_save_by(image, metadata, name, &io, gi_imaging_parallel(imaging),
                       into_memory ? &item->made.bytes : NULL, &item->made.nbytes, err);
    item->made.timing = metadata ? metadata->timing : (struct gi_timing){0};
    gi_imaging_note(item, GI_STAGE_ENCODE, &span);
    if (!status)
        gi_item_note_output(item);
    return status;
}
