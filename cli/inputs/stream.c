/* Streams of images and pages: the sources of encoded images and of pages.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/inputs/stream.h"
#include "cli/inputs/stream_internal.h"
#include "cli/log.h"
#include "cli/paths/output.h"
#include "cli/run/progress.h"
#include "imgio/small.h"

void gi_stream_free(struct gi_stream **out)
{
    struct gi_stream *stream = *out;
    *out = NULL;
    if (!stream)
        return;
    gi_joiner_free(&stream->out.joiner);
    gi_sink_abandon(&stream->out.sink);
    gi_page_cursor_close(&stream->cursor);
    gi_list_free(&stream->list);
    gi_report_close(&stream->report);
    for (int i = 0; stream->video.chroma_params && i < stream->chain->n; i++)
        free(stream->video.chroma_params[i]);
    free(stream->video.chroma_params);
    gi_reader_close(&stream->reader);
    gi_buffer_free(&stream->pipe.first);
    free(stream);
}

void gi_stream_name(struct gi_stream *stream, struct gi_item *item, const char *what)
{
    item->line.input = gi_small_format("%s: %s %llu", gi_reader_name(stream->reader), what,
                                       (unsigned long long)stream->taken);
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
    if (stream->pipe.coded && !gi_pnm_is_over(end, stream->reader, fault) && !*end)
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
    struct gi_buffer buffer = stream->pipe.first;
    struct gi_err fault = {0};
    bool end = false;
    *more = !stream->ended;
    if (stream->ended)
        return GI_OK;
    stream->pipe.first = (struct gi_buffer){0};
    if (!buffer.at)
        take_next(stream, &buffer, &end, &fault);
    item->source.bytes = buffer.at;
    item->source.nbytes = buffer.nbytes;
    if (!gi_stream_has(stream, item, end, &fault, more))
        return GI_OK;
    gi_engine_reserve(item, buffer.nbytes); /* one image is read ahead of it */
    stream->pipe.coded = gi_image_stream_starts(buffer.at, buffer.nbytes);
    gi_stream_name_output(stream, item, (int)stream->taken++);
    gi_stream_name(stream, item, "image");
    return GI_OK;
}

enum gi_status gi_stream_open(struct gi_source *source, const struct gi_batch_job *job,
                              struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_stream *stream = source->self;
    const struct gi_batch_params *p = gi_batch_params(job);
    const char *file = stream->target ? gi_output_file(stream->out.path) : NULL;
    struct gi_list list = {0};
    const struct gi_report_options options = {
        .path = p->report,
        .command = job->command,
        .params = job->params,
        .text = job->text,
        .inputs = stream->input ? &list : &stream->list,
        .head = {.files = stream->input ? 1 : stream->list.n}};
    stream->video.allocator = gi_imaging_allocator(imaging);
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

enum gi_status gi_stream_note_line(struct gi_stream *stream, const struct gi_line *line,
                                   struct gi_err *err)
{
    struct gi_line part = *line;
    if (stream->target != &gi_target_files)
        part.output = stream->report.whole.output;
    if (part.input)
        return gi_report_add(&stream->report, &part, err);
    /* Data that can't be read does not count as an image. */
    gi_line_add(&stream->report.whole, &part);
    return GI_OK;
}

/* An image that failed ends the stream, because without this image the output would be out of
 * step. */
enum gi_status gi_stream_note(void *self, struct gi_item *item, struct gi_err *err)
{
    item->made.last = item->line.status != GI_OK;
    return gi_stream_note_line(self, &item->line, err);
}

enum gi_status gi_stream_close(void *self, enum gi_status status, struct gi_err *err)
{
    struct gi_stream *stream = self;
    return gi_report_end(&stream->report, NULL, status, err);
}

/* The source of pages, which takes the images from files that have several images. */
static enum gi_status next_page(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    struct gi_stream *stream = self;
    enum gi_status status = gi_page_cursor_next(&stream->cursor, item, more, err);
    if (status || !*more)
        return status;
    const struct gi_pages *pages = item->source.pages;
    stream->taken++;
    item->source.together =
        stream->input && pages && stream->target == &gi_target_pages && gi_pages_are_all(pages);
    gi_stream_name_output(stream, item, pages ? gi_pages_number(pages, item->source.page) : 0);
    return GI_OK;
}

static const struct gi_source_kind pages = {
    .unit = "pages",
    .waits = "input or output",
    .open = gi_stream_open,
    .next = next_page,
    .note = gi_stream_note,
    .close = gi_stream_close,
};

static const struct gi_source_kind images = {
    .unit = "images",
    .waits = "input or output",
    .open = gi_stream_open,
    .next = next,
    .note = gi_stream_note,
    .close = gi_stream_close,
};

struct gi_source gi_stream_source(struct gi_stream *stream)
{
    bool planes = stream->is_video && !stream->video.by_frame;
    return (struct gi_source){.kind = planes                   ? &gi_source_planes
                                      : stream->video.by_frame ? &gi_source_frames
                                      : stream->is_paged       ? &pages
                                                               : &images,
                              .self = stream,
                              .n = stream->expected,
                              .items = planes ? stream->video.head.nplanes : 1};
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

static enum gi_status work_on_image(void *self, struct gi_imaging *imaging, struct gi_item *item,
                                    struct gi_err *err)
{
    return gi_imaging_process(imaging, item, true, err);
}

enum gi_status gi_stream_run(struct gi_stream **out, const struct gi_batch_job *job,
                             struct gi_err *err)
{
    struct gi_stream *stream = *out;
    stream->chain = job->chain;
    enum gi_status status = check_chain(job->chain, err);
    if (!status && stream->is_video)
        status = gi_video_begin(stream, err);
    struct gi_source source = gi_stream_source(stream);
    const struct gi_batch batch = {.job = job,
                                   .io = &stream->io,
                                   .source = &source,
                                   .target = stream->target,
                                   .self = stream,
                                   .run = stream->video.by_frame ? gi_video_frame_work
                                          : stream->is_video     ? gi_video_work
                                          : stream->target == &gi_target_frames
                                              ? gi_video_image_work
                                              : work_on_image};
    if (!status)
        status = gi_batch_run(&batch, err);
    gi_stream_free(out);
    return status;
}
