/* Commands that make one image from several.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/n_to_one.h"

#include <stdlib.h>
#include <string.h>

#include "cli/inputs/batch.h"
#include "cli/paths/output.h"
#include "cli/process.h"
#include "cli/run/timing.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/metadata/geo.h"
#include "imgio/metadata/linear_light.h"
#include "imgio/small.h"

/* A decoded input, in the tag of its item. */
struct input {
    struct gi_image image;
    struct gi_metadata metadata;
};

static void free_input(void *tag)
{
    struct input *input = tag;
    gi_image_free(&input->image);
    gi_metadata_free(&input->metadata);
    free(input);
}

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_n_to_one *job = self;
    return gi_page_cursor_next(&job->cursor, item, more, err);
}

static enum gi_status load(void *self, struct gi_imaging *imaging, struct gi_item *item,
                           struct gi_err *err)
{
    struct gi_n_to_one *job = self;
    struct gi_file_info info;
    struct input *input = gi_small_calloc(1, sizeof *input);
    item->source.tag = input;
    item->source.untag = free_input;
    item->source.takes_bands = job->work.bands;
    item->source.counts_nodata = job->work.counts_nodata;
    item->source.hides_nodata = job->work.hides_nodata;
    enum gi_status status =
        gi_imaging_load(imaging, item, &input->image, &input->metadata, &info, false, err);
    struct gi_placement placement = {0};
    gi_gain_map_drop(&input->metadata, "belongs to one input");
    if (!status && job->work.chain)
        status = gi_imaging_filter(imaging, item, &input->image, &input->metadata, &info,
                                   &placement, err);
    if (!status)
        status = gi_imaging_adapt(&input->metadata, imaging, item, &info, &input->image, &placement,
                                  err);
    gi_geo_forget_statistics(&input->metadata);
    return status;
}

static enum gi_status open_report(struct gi_source *source, const struct gi_batch_job *batch,
                                  struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_n_to_one *job = source->self;
    const struct gi_report_options options = {.path = job->work.report,
                                              .command = job->work.command,
                                              .params = job->work.params,
                                              .inputs = &job->list,
                                              .head = {.files = job->list.n}};
    const char *output = gi_output_file(job->output);
    job->lines.whole = (struct gi_line){.output = (char *)output, .inputs = job->n};
    job->whole = &job->lines.whole;
    enum gi_status status =
        job->work.report ? gi_report_check(job->work.report, &job->list, output, err) : GI_OK;
    return status ? status : gi_report_open(&job->lines, &options, err);
}

static enum gi_status note(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_n_to_one *job = self;
    return gi_report_add(&job->lines, &item->line, err);
}

void gi_n_to_one_place(struct gi_metadata *metadata, const double map[6])
{
    const struct gi_part part = {
        .kind = GI_PART_METADATA, .fate = GI_PART_DROPPED, .why = "tells another size"};
    const char *writer = gi_metadata_drop_sizes(metadata);
    if (writer)
        gi_metadata_add_part(metadata, &part, "description by %s", writer);
    gi_geo_move(metadata, map, false, NULL);
}

/* ---- the target: one image of all ---- */

static enum gi_status check(const struct gi_n_to_one *job, struct gi_err *err)
{
    const char *const outputs[] = {job->output, NULL}, *const reports[] = {job->work.report, NULL};
    const char *const lists[] = {job->work.list, NULL};
    enum gi_status status = gi_cli_check_save(job->output, job->io, err);
    for (size_t i = 0; i < job->list.n && status == GI_E_USAGE; i++)
        status = gi_cli_missing_first(status, &job->list.inputs[i].path, 1, err);
    for (size_t i = 0; i < job->list.n && !status; i++) {
        const char *const inputs[] = {job->list.inputs[i].path, NULL};
        status = gi_output_check_inputs(outputs, inputs, err);
    }
    if (!status)
        status = gi_output_check_inputs(outputs, lists, err);
    return status ? status : gi_output_check_inputs(reports, lists, err);
}

/* Opens the device that computes one image at a time, while the CPU decodes other images. If there
 * is a chain, the devices of the batch process many images at once. */
static enum gi_status open_device(void *self, struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_n_to_one *job = self;
    const struct gi_imaging_options options = {
        .io = job->io,
        .device = job->work.params[gi_command_set(job->work.command, gi_device_options)],
        .one = &job->watch,
        .times = job->work.report != NULL};
    return job->work.chain ? GI_OK : gi_imaging_new(&job->computing, &options, err);
}

/* Removes from the metadata of the first image what is no property of the result. */
static void settle_first(struct gi_metadata *metadata)
{
    free(metadata->jpeg);
    metadata->jpeg = NULL;
    metadata->few_colors = false;
    free(metadata->palette);
    metadata->palette = NULL;
    metadata->bands = (struct gi_bands){0};
    metadata->timing = (struct gi_timing){0};
}

/* Images arrive in the order of the list, so that sums of floats are the same in every run. The
 * result needs every image, so the first image that fails ends the command. */
static enum gi_status take(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_n_to_one *job = self;
    struct input *input = item->source.tag;
    if (job->taken == job->n) /* commands have room for the images that were counted */
        return gi_fail(err, GI_E_IO, "%s: more images than were counted", item->line.input);
    if (!item->line.status)
        item->line.status =
            job->work.take(job->work.self, item, &input->image, &input->metadata, &item->line.err);
    if (!item->line.status)
        gi_common_metadata_add(&job->common, &job->metadata, &input->metadata);
    if (!job->taken && !job->work.first)
        settle_first(&job->metadata);
    job->taken += !item->line.status;
    item->made.last = item->line.status != GI_OK;
    return GI_OK;
}

static enum gi_status save(struct gi_n_to_one *job, const struct gi_image *made, struct gi_err *err)
{
    double start = gi_now_ms();
    gi_common_metadata_end(&job->common, &job->metadata);
    enum gi_status status = gi_linear_light_renew(&job->metadata, err);
    if (!status)
        status = gi_cli_save(made, &job->metadata, job->output, job->io, job->threads, err);
    job->whole->ms[GI_STAGE_ENCODE] = gi_now_ms() - start;
    gi_timing_add("encode", job->whole->ms[GI_STAGE_ENCODE]);
    return status;
}

static enum gi_status end(void *self, enum gi_status status, struct gi_err *err)
{
    struct gi_n_to_one *job = self;
    struct gi_image made = {0};
    if (!status && job->taken < job->n)
        status = gi_fail(err, GI_E_IO, "ended by a signal: nothing was written");
    if (!status)
        status = job->work.finish(job->work.self, &made, err);
    if (!status)
        status = save(job, &made, err);
    status = gi_report_end(&job->lines, &made, status, err);
    gi_image_free(&made);
    return status;
}

/* Sets the cursor, and counts the images. */
static enum gi_status count_images(struct gi_n_to_one *job, struct gi_err *err)
{
    job->cursor = (struct gi_page_cursor){.list = &job->list, .io = job->io, .n = job->list.n};
    return gi_page_cursor_count(&job->n, &job->cursor, err);
}

enum gi_status gi_n_to_one_list(struct gi_n_to_one *job, char **operands, int noperands,
                                struct gi_err *err)
{
    enum gi_status status = GI_OK;
    job->io = job->work.params[gi_command_set(job->work.command, gi_io_options)];
    job->output = operands[noperands - 1];
    for (int i = 0; i < noperands - 1 && !status; i++)
        status = gi_list_add(&job->list, operands[i], err);
    return status ? status : count_images(job, err);
}

enum gi_status gi_n_to_one_run(struct gi_n_to_one *job, struct gi_err *err)
{
    static const struct gi_source_kind images = {.open = open_report, .next = next, .note = note};
    static const struct gi_target_kind one_image = {
        .ordered = true, .open = open_device, .put = take, .end = end};
    const struct gi_device_params *device =
        job->work.params[gi_command_set(job->work.command, gi_device_options)];
    const struct gi_device_params cpu = {.device = "cpu", .threads = device->threads};
    const struct gi_batch_params how = {.report = job->work.report,
                                        .memory = job->work.memory,
                                        .progress = job->work.progress,
                                        .fail_fast = true};
    const struct gi_batch_job one = {.command = job->work.command,
                                     .params = job->work.params,
                                     .chain = job->work.chain,
                                     .batch = &how,
                                     .device = job->work.chain ? device : &cpu};
    job->io = job->work.params[gi_command_set(job->work.command, gi_io_options)];
    job->threads = gi_thread_count(device->threads);
    job->common.first = job->work.first;
    enum gi_status status = check(job, err);
    if (!status && !job->n)
        status = count_images(job, err);
    struct gi_source source = {.kind = &images, .self = job, .n = job->n};
    const struct gi_batch batch = {.job = &one,
                                   .source = &source,
                                   .target = &one_image,
                                   .self = job,
                                   .run = load,
                                   .kept = &job->decoding};
    return status ? status : gi_batch_run(&batch, err);
}

void gi_n_to_one_close(struct gi_n_to_one *job)
{
    gi_page_cursor_close(&job->cursor);
    gi_list_free(&job->list);
    gi_common_metadata_end(&job->common, &job->metadata); /* after an error */
    gi_metadata_free(&job->metadata);
    if (!gi_cli_tears_down())
        return;
    gi_imaging_free(&job->computing);
    gi_imaging_free(&job->decoding);
}
