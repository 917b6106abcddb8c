/* Commands that make one image from several.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/n_to_one.h"

#include <stdlib.h>
#include <string.h>

#include "cli/inputs/feed.h"
#include "cli/process.h"
#include "cli/paths/output.h"
#include "cli/run/timing.h"
#include "imgio/geo.h"

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

static enum gi_status load(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_n_to_one *job = self;
    struct gi_file_info info;
    struct input *input = calloc(1, sizeof *input);
    if (!input)
        return gi_fail(err, GI_E_MEMORY, "out of memory: an image");
    item->source.tag = input;
    item->source.untag = free_input;
    item->source.takes_bands = job->bands;
    enum gi_status status =
        gi_imaging_load(job->decoding, item, &input->image, &input->metadata, &info, err);
    struct gi_placement placement = {0};
    if (status || !job->chain)
        return status;
    status = gi_imaging_filter(job->decoding, item, &input->image, &input->metadata, &info,
                               &placement, err);
    gi_geo_move(&input->metadata, placement.known ? placement.m : NULL);
    return status;
}

/* Images arrive in the order of the list, so that sums of floats are the same in every run. The
 * result needs every image, so the first image that fails ends the command. */
static enum gi_status deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_n_to_one *job = self;
    struct input *input = item->source.tag;
    if (job->taken == job->n) /* commands have room for the images that were counted */
        return gi_fail(err, GI_E_IO, "%s: more images than were counted", item->line.input);
    if (!item->line.status)
        item->line.status =
            job->take(job->self, item, &input->image, &input->metadata, &item->line.err);
    if (!item->line.status)
        gi_common_metadata_add(&job->common, &job->metadata, &input->metadata);
    job->taken += !item->line.status;
    enum gi_status status = gi_report_add(&job->lines, &item->line, err);
    return status || !item->line.status ? status : gi_engine_end_by(item, err);
}

static enum gi_status run_engine(struct gi_n_to_one *job, struct gi_err *err)
{
    static const struct gi_feed_kind kind = {.next = next};
    const struct gi_feed feed = {.kind = &kind, .self = job, .n = job->n};
    const struct gi_work_on work = {.self = job, .run = load, .deliver = deliver, .ordered = true};
    const struct gi_batch_params how = {
        .memory = job->memory, .progress = job->progress, .fail_fast = true};
    enum gi_status status = gi_feed_run(&feed, &work, &how, gi_imaging_threads(job->decoding), err);
    if (!status && job->taken < job->n)
        status = gi_fail(err, GI_E_IO, "ended by a signal: nothing was written");
    return status;
}

/* Opens the devices. If there is a chain, they process many images at once. Otherwise they compute
 * one image at a time, while the CPU decodes other images. */
static enum gi_status open_devices(struct gi_n_to_one *job, const struct gi_device_params *device,
                                   struct gi_err *err)
{
    struct gi_imaging_options options = {.chain = job->chain,
                                         .io = job->io,
                                         .device = device,
                                         .images = job->n,
                                         .times = job->report != NULL};
    if (job->chain)
        return gi_imaging_new(&job->decoding, &options, err);
    options.one = &job->watch;
    enum gi_status status = gi_imaging_new(&job->computing, &options, err);
    job->cpu = (struct gi_device_params){.device = "cpu", .threads = device->threads};
    options.one = NULL;
    options.device = &job->cpu;
    return status ? status : gi_imaging_new(&job->decoding, &options, err);
}

static enum gi_status open_report(struct gi_n_to_one *job, struct gi_err *err)
{
    const struct gi_report_options options = {.path = job->report,
                                              .command = job->command,
                                              .params = job->params,
                                              .inputs = &job->list,
                                              .head = {.files = job->list.n}};
    const char *output = gi_output_file(job->output);
    job->lines.whole = (struct gi_line){.output = (char *)output, .inputs = job->n};
    job->whole = &job->lines.whole;
    enum gi_status status =
        job->report ? gi_report_check(job->report, &job->list, output, err) : GI_OK;
    return status ? status : gi_report_open(&job->lines, &options, err);
}

static enum gi_status check(const struct gi_n_to_one *job, struct gi_err *err)
{
    const char *const outputs[] = {job->output, NULL};
    enum gi_status status = gi_cli_check_save(job->output, job->io, err);
    for (size_t i = 0; i < job->list.n && status == GI_E_USAGE; i++)
        status = gi_cli_missing_first(status, &job->list.inputs[i].path, 1, err);
    for (size_t i = 0; i < job->list.n && !status; i++) {
        const char *const inputs[] = {job->list.inputs[i].path, NULL};
        status = gi_output_check_inputs(outputs, inputs, err);
    }
    return status;
}

static enum gi_status save(struct gi_n_to_one *job, const struct gi_image *made, struct gi_err *err)
{
    double start = gi_now_ms();
    gi_common_metadata_end(&job->common, &job->metadata);
    enum gi_status status =
        gi_cli_save(made, &job->metadata, job->output, job->io, job->threads, err);
    job->whole->ms[GI_STAGE_ENCODE] = gi_now_ms() - start;
    gi_timing_add("encode", job->whole->ms[GI_STAGE_ENCODE]);
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
    job->io = job->params[gi_command_set(job->command, gi_io_options)];
    job->output = operands[noperands - 1];
    for (int i = 0; i < noperands - 1 && !status; i++)
        status = gi_list_add(&job->list, operands[i], err);
    return status ? status : count_images(job, err);
}

enum gi_status gi_n_to_one_run(struct gi_n_to_one *job, struct gi_err *err)
{
    const struct gi_device_params *device =
        job->params[gi_command_set(job->command, gi_device_options)];
    struct gi_image made = {0};
    job->io = job->params[gi_command_set(job->command, gi_io_options)];
    job->threads = gi_thread_count(device->threads);
    enum gi_status status = check(job, err);
    if (!status && !job->n)
        status = count_images(job, err);
    if (!status)
        status = open_devices(job, device, err);
    if (!status)
        status = open_report(job, err);
    if (!status)
        status = run_engine(job, err);
    if (!status)
        status = job->finish(job->self, &made, err);
    if (!status)
        status = save(job, &made, err);
    status = gi_report_end(&job->lines, &made, status, err);
    gi_image_free(&made);
    return status;
}

void gi_n_to_one_close(struct gi_n_to_one *job)
{
    gi_page_cursor_close(&job->cursor);
    gi_list_free(&job->list);
    gi_metadata_free(&job->metadata);
    if (!gi_cli_tears_down())
        return;
    gi_imaging_free(&job->computing);
    gi_imaging_free(&job->decoding);
}
