/* Runs streams of images and pages through the engine. Has the feeds of encoded images and of
 * pages.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/run/progress.h"
#include "cli/stop.h"
#include "cli/inputs/stream.h"
#include "cli/inputs/stream_internal.h"
#include "cli/paths/output.h"
#include "cli/process.h"
#include "cli/log.h"

void gi_stream_free(struct gi_stream **out)
{
    struct gi_stream *stream = *out;
    *out = NULL;
    if (!stream)
        return;
    gi_page_writer_free(&stream->writer);
    gi_sink_abandon(&stream->sink);
    gi_page_cursor_close(&stream->cursor);
    gi_list_free(&stream->list);
    gi_report_close(&stream->report);
    for (int i = 0; i < GI_Y4M_PLANES; i++)
        gi_image_free(&stream->planes[i]);
    for (int i = 0; stream->chroma_params && i < stream->chain->n; i++)
        free(stream->chroma_params[i]);
    free(stream->chroma_params);
    gi_reader_close(&stream->reader);
    free(stream->first.at);
    free(stream);
}

enum gi_status gi_stream_name(struct gi_stream *stream, struct gi_item *item, const char *what,
                              struct gi_err *err)
{
    if (asprintf(&item->line.input, "%s: %s %llu", gi_reader_name(stream->reader), what,
                 (unsigned long long)stream->taken) >= 0)
        return GI_OK;
    item->line.input = NULL;
    return gi_fail(err, GI_E_MEMORY, "out of memory: a name");
}

bool gi_stream_has(struct gi_stream *stream, struct gi_item *item, bool end,
                   const struct gi_err *fault, bool *more)
{
    *more = !end && !fault->status;
    if (!fault->status)
        return *more;
    stream->ended = true;
    if (stream->io.allow_partial && fault->status == GI_E_FORMAT) {
        gi_cli_warn("%s", fault->text);
        return false;
    }
    *more = true;
    item->line.pass = true;
    item->line.status = fault->status;
    item->line.err = *fault;
    return false;
}

/* Takes the next image. Bytes that are not an image end a stream of PNG, JPEG or WebP with a
 * warning. They are an error if --strict was given, and in a stream of PNM. */
static void take_next(struct gi_stream *stream, struct gi_buffer *buffer, bool *end,
                      struct gi_err *fault)
{
    bool image = true;
    if (stream->coded && !gi_pnm_is_over(end, stream->reader, fault) && !*end)
        gi_image_stream_goes_on(&image, stream->reader, fault);
    if (*end || fault->status)
        return;
    if (image) {
        gi_image_stream_next(buffer, end, stream->reader, &stream->io.limits, fault);
        return;
    }
    gi_fail(fault, GI_E_FORMAT, GI_STREAM_NO_IMAGE, gi_reader_name(stream->reader),
            (unsigned long long)stream->taken);
    *end = !stream->io.strict;
    if (!*end)
        return;
    gi_cli_warn("%s", fault->text);
    *fault = (struct gi_err){0};
}

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_stream *stream = self;
    struct gi_buffer buffer = stream->first;
    struct gi_err fault = {0};
    bool end = false;
    *more = !stream->ended;
    if (stream->ended)
        return GI_OK;
    stream->first = (struct gi_buffer){0};
    if (!buffer.at)
        take_next(stream, &buffer, &end, &fault);
    item->source.bytes = buffer.at;
    item->source.nbytes = buffer.nbytes;
    if (!gi_stream_has(stream, item, end, &fault, more))
        return GI_OK;
    gi_engine_reserve(item, buffer.nbytes); /* one image is read ahead of it */
    stream->coded = gi_image_stream_starts(buffer.at, buffer.nbytes);
    enum gi_status status = gi_stream_name_output(stream, item, (int)stream->taken++, err);
    return status ? status : gi_stream_name(stream, item, "image", err);
}

/* As gi_work_on.run. */
typedef enum gi_status gi_work_fn(void *self, struct gi_item *item, struct gi_err *err);

static enum gi_status work_on_image(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_stream *stream = self;
    return gi_imaging_memory(stream->imaging, item, err);
}

static enum gi_status deliver_image(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_stream *stream = self;
    enum gi_status status = GI_OK;
    if (!item->line.status)
        status = gi_stream_put(stream, item, err);
    if (!status)
        status = gi_stream_note(stream, item, err);
    /* A failed frame ends a video, because without this frame it would be out of step. */
    return status || !item->line.status ? status : gi_engine_end_by(item, err);
}

static const struct gi_batch_params *params_of(const struct gi_batch_job *job)
{
    return job->batch ? job->batch : gi_batch_params_of(job->command, job->params);
}

enum gi_status gi_stream_report(struct gi_stream *stream, const struct gi_batch_job *job,
                                const char *output, struct gi_err *err)
{
    const struct gi_batch_params *p = params_of(job);
    const char *file = output ? gi_output_file(output) : NULL;
    struct gi_list list = {0};
    const struct gi_report_options options = {
        .path = p->report,
        .command = job->command,
        .params = job->params,
        .text = job->text,
        .inputs = stream->input ? &list : &stream->list,
        .head = {.files = stream->input ? 1 : stream->list.n}};
    if (!p->report)
        return GI_OK;
    enum gi_status status = stream->input ? gi_list_add(&list, stream->input, err) : GI_OK;
    const struct gi_list *inputs = stream->input ? &list : &stream->list;
    if (!status)
        status = gi_report_check(p->report, inputs, file, err);
    stream->report = (struct gi_report){
        .key = "stream", .whole = {.input = (char *)stream->input, .output = (char *)file}};
    if (!status)
        status = gi_report_open(&stream->report, &options, err);
    gi_list_free(&list);
    return status;
}

enum gi_status gi_stream_open_report(void *self, const struct gi_batch_job *job, struct gi_err *err)
{
    return gi_stream_report(self, job, NULL, err);
}

enum gi_status gi_stream_note_line(struct gi_stream *stream, const struct gi_line *line,
                                   struct gi_err *err)
{
    struct gi_line part = *line;
    if (stream->target != GI_STREAM_FILES)
        part.output = stream->report.whole.output;
    if (part.input)
        return gi_report_add(&stream->report, &part, err);
    /* Data that can't be read does not count as an image. */
    gi_line_add(&stream->report.whole, &part);
    return GI_OK;
}

enum gi_status gi_stream_note(void *self, struct gi_item *item, struct gi_err *err)
{
    return gi_stream_note_line(self, &item->line, err);
}

/* The feed of pages, which takes the images from files that have several images. */
static enum gi_status next_page(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_stream *stream = self;
    enum gi_status status = gi_page_cursor_next(&stream->cursor, item, more, err);
    if (status || !*more)
        return status;
    const struct gi_pages *pages = item->source.pages;
    stream->taken++;
    item->source.together =
        stream->input && pages && stream->target == GI_STREAM_PAGES && gi_pages_are_all(pages);
    return gi_stream_name_output(stream, item,
                                 pages ? gi_pages_number(pages, item->source.page) : 0, err);
}

const struct gi_feed_kind gi_feed_pages = {
    .unit = "pages",
    .waits = "input or output",
    .next = next_page,
    .open_report = gi_stream_open_report,
    .note = gi_stream_note,
};

const struct gi_feed_kind gi_feed_pnm = {
    .unit = "images",
    .waits = "input or output",
    .next = next,
    .open_report = gi_stream_open_report,
    .note = gi_stream_note,
};

struct gi_feed gi_stream_feed(struct gi_stream *stream)
{
    return (struct gi_feed){.kind = stream->by_frame   ? &gi_feed_frames
                                    : stream->is_video ? &gi_feed_video
                                    : stream->is_paged ? &gi_feed_pages
                                                       : &gi_feed_pnm,
                            .self = stream,
                            .n = stream->expected,
                            .items =
                                stream->is_video && !stream->by_frame ? stream->video.nplanes : 1};
}

/* Checks that all steps of the chain are operations from image to image. The chain may be NULL. */
static enum gi_status check_chain(const struct gi_chain *chain, struct gi_err *err)
{
    for (int i = 0; chain && i < chain->n; i++)
        if (!chain->steps[i].filter->run)
            return gi_fail(err, GI_E_USAGE,
                           "step %d, %s: writes a table, and the input is a stream of images: "
                           "want --table for one of all",
                           i + 1, chain->steps[i].filter->name);
    return GI_OK;
}

static gi_work_fn *work_of(const struct gi_stream *stream)
{
    return stream->by_frame                    ? gi_video_frame_work
           : stream->is_video                  ? gi_video_work
           : stream->target == GI_STREAM_VIDEO ? gi_video_image_work
                                               : work_on_image;
}

enum gi_status gi_stream_run(struct gi_stream **out, const struct gi_batch_job *job,
                             struct gi_err *err)
{
    struct gi_stream *stream = *out;
    stream->chain = job->chain;
    struct gi_imaging_options options = {
        .chain = job->chain, .io = &stream->io, .device = gi_batch_device(job)};
    const struct gi_batch_params *params = params_of(job);
    options.images = stream->expected;
    options.times = params->report || gi_progress_shows(params->progress);
    enum gi_status status = check_chain(job->chain, err);
    if (!status && stream->is_video)
        status = gi_video_begin(stream, err);
    bool planes = stream->is_video && !stream->by_frame;
    const struct gi_work_on work = {.self = stream,
                                    .run = work_of(stream),
                                    .deliver = planes ? gi_video_deliver : deliver_image,
                                    .ordered = true};
    if (!status)
        status = gi_stream_open_output(stream, err);
    if (!status)
        status = gi_stream_report(stream, job, stream->output, err);
    if (!status)
        status = gi_imaging_new(&stream->imaging, &options, err);
    if (!status && planes)
        status = gi_y4m_write_head(stream->sink, &stream->made, err);
    const struct gi_feed feed = gi_stream_feed(stream);
    if (!status)
        status = gi_feed_run(&feed, &work, params, gi_imaging_threads(stream->imaging), err);
    if (!status && gi_stop_signal()) /* an incomplete output is not committed */
        status = GI_E_IO;
    if (!status)
        status = gi_stream_end_output(stream, err);
    status = gi_report_end(&stream->report, NULL, status, err);
    struct gi_imaging *imaging = stream->imaging;
    gi_stream_free(out);
    if (gi_cli_tears_down())
        gi_imaging_free(&imaging);
    return status;
}
