/* Streams through the engine, and those of PNM.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/run/batch_options.h"
#include "cli/run/progress.h"
#include "cli/run/stop.h"
#include "cli/inputs/stream.h"
#include "cli/inputs/stream_internal.h"
#include "cli/run/output.h"
#include "cli/process.h"
#include "cli/log.h"

void gi_stream_free(struct gi_stream **out)
{
    struct gi_stream *stream = *out;
    *out = NULL;
    if (!stream)
        return;
    gi_sink_abandon(&stream->sink);
    gi_journal_close(&stream->journal);
    for (int i = 0; i < GI_Y4M_PLANES; i++)
        gi_image_free(&stream->planes[i]);
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

bool gi_stream_break(struct gi_stream *stream, struct gi_item *item, const struct gi_err *why)
{
    stream->ended = true;
    if (stream->io.allow_partial && why->status == GI_E_FORMAT) {
        gi_cli_warn("%s", why->text);
        return false;
    }
    item->line.pass = true;
    item->line.status = why->status;
    item->line.err = *why;
    return true;
}

enum gi_status gi_pnm_feed_next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
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
        gi_pnm_next(&buffer, &end, stream->reader, &stream->io.limits, &fault);
    *more = !end;
    item->source.bytes = buffer.at;
    item->source.nbytes = buffer.nbytes;
    if (fault.status)
        *more = gi_stream_break(stream, item, &fault);
    if (end || fault.status)
        return GI_OK;
    gi_engine_reserve(item, buffer.nbytes); /* one image is read ahead of it */
    stream->taken++;
    item->line.output = strdup(stream->output);
    if (!item->line.output)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a name");
    if (!gi_save_format(stream->output, stream->io.format)) { /* from - to -: each as it came */
        const char *name = gi_format_of(buffer.at, buffer.nbytes)->name;
        item->source.format = strcmp(name, "pbm") == 0 ? "pgm" : name;
    }
    return gi_stream_name(stream, item, "image", err);
}

enum gi_status gi_pnm_work(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_stream *stream = self;
    return gi_imaging_memory(stream->imaging, item, err);
}

enum gi_status gi_pnm_deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_stream *stream = self;
    enum gi_status status = GI_OK;
    if (!item->line.status)
        status = gi_sink_write(stream->sink, item->made.bytes, item->made.nbytes, err);
    if (!item->line.status && !status)
        status = gi_sink_flush(stream->sink, err);
    if (!status)
        status = gi_stream_report_add(stream, &item->line, err);
    /* A film with a hole in it is none. */
    return status || !item->line.status ? status : gi_engine_end_by(item, err);
}

enum gi_status gi_stream_go(struct gi_stream *stream, const struct gi_work_on *work,
                            const struct gi_batch_params *params, int threads, struct gi_err *err)
{
    struct gi_feed feed = {.self = stream,
                           .next = stream->is_video ? gi_video_feed_next : gi_pnm_feed_next};
    struct gi_engine_options options = {.threads = threads, .memory = params->memory};
    struct gi_engine_watch watch = {.threads = options.threads,
                                    .unit = stream->is_video ? "frames" : "images",
                                    .items = stream->is_video ? stream->video.nplanes : 1,
                                    .waits = "input or output"};
    enum gi_status status = gi_engine_new(&watch.engine, &options, &feed, work, err);
    if (status)
        return status;
    gi_stop_listen();
    struct gi_progress *progress =
        gi_progress_start(params->progress, gi_progress_of_engine, &watch);
    status = gi_engine_run(watch.engine, err);
    gi_progress_end(&progress);
    gi_engine_free(&watch.engine);
    return status;
}

/* A chain whose steps are images to images; NULL: none. */
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

enum gi_status gi_stream_run(struct gi_stream **out, const struct gi_batch_job *job,
                             struct gi_err *err)
{
    struct gi_stream *stream = *out;
    struct gi_imaging_options options = {
        .chain = job->chain, .io = &stream->io, .device = job->device};
    if (!options.device)
        options.device = job->params[gi_command_set(job->command, gi_device_options)];
    const struct gi_batch_params *params = gi_batch_params_of(job->command, job->params);
    struct gi_work_on work = {.self = stream,
                              .run = stream->is_video ? gi_video_work : gi_pnm_work,
                              .deliver = stream->is_video ? gi_video_deliver : gi_pnm_deliver,
                              .ordered = true};
    options.times = params->report || gi_progress_shows(params->progress);
    stream->chain = job->chain;
    enum gi_status status = check_chain(job->chain, err);
    if (!status && stream->is_video)
        status = gi_video_begin(stream, err);
    if (!status)
        status =
            gi_sink_open(&stream->sink, gi_output_file(stream->output), stream->io.no_clobber, err);
    if (!status)
        status = gi_stream_report_open(stream, job, stream->output, err);
    if (!status)
        status = gi_imaging_new(&stream->imaging, &options, err);
    if (!status && stream->is_video)
        status = gi_y4m_write_head(stream->sink, &stream->made, err);
    if (!status)
        status = gi_stream_go(stream, &work, params, gi_imaging_threads(stream->imaging), err);
    if (!status && gi_stop_signal()) /* what is not all of it does not appear */
        status = GI_E_IO;
    if (!status)
        status = gi_sink_commit(&stream->sink, stream->io.durable, err);
    status = gi_stream_report_end(stream, status, err);
    struct gi_imaging *imaging = stream->imaging;
    gi_stream_free(out);
    if (gi_cli_tears_down())
        gi_imaging_free(&imaging);
    return status;
}
