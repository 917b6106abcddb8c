/* The output of a stream, which is one file, a TIFF of pages, an animation, or a file for each
 * image. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/inputs/stream_internal.h"
#include "cli/paths/names.h"
#include "cli/paths/output.h"
#include "cli/stop.h"
#include "imgio/small.h"

void gi_stream_name_output(struct gi_stream *stream, struct gi_item *item, int page)
{
    const uint64_t index = stream->taken - 1 - stream->video.skipped;
    const struct gi_naming naming = {
        .template = stream->out.path, .pages = true, .page = page, .index = &index};
    item->source.number = index;
    item->line.output = stream->target == &gi_target_files
                            ? gi_naming_output(&naming, &stream->list, item->source.place)
                            : gi_small_copy(stream->out.path);
    bool coded = item->source.bytes != NULL;
    /* From standard input to standard output: each image keeps its format. */
    if (coded && !gi_save_format(stream->out.path, stream->io.format)) {
        const char *name = gi_format_of(item->source.bytes, item->source.nbytes)->name;
        item->source.format = strcmp(name, "pbm") == 0 ? "pgm" : name;
    }
}

enum gi_status gi_stream_open_sink(void *self, struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_stream *stream = self;
    return gi_sink_open(&stream->out.sink, gi_output_file(stream->out.path), stream->io.no_clobber,
                        err);
}

enum gi_status gi_stream_end_sink(void *self, enum gi_status status, struct gi_err *err)
{
    struct gi_stream *stream = self;
    if (!status && gi_stop_signal()) /* an incomplete output is not committed */
        return GI_E_IO;
    return status ? status : gi_sink_commit(&stream->out.sink, stream->io.durable, err);
}

static enum gi_status put_joined(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_stream *stream = self;
    if (item->line.status)
        return GI_OK;
    enum gi_status status =
        gi_sink_write(stream->out.sink, item->made.bytes, item->made.nbytes, err);
    return status ? status : gi_sink_flush(stream->out.sink, err);
}

const struct gi_target_kind gi_target_joined = {
    .ordered = true, .open = gi_stream_open_sink, .put = put_joined, .end = gi_stream_end_sink};

/* ---- pages ---- */

static enum gi_status open_pages(void *self, struct gi_imaging *imaging, struct gi_err *err)
{
    struct gi_stream *stream = self;
    enum gi_status status = gi_stream_open_sink(stream, imaging, err);
    const struct gi_joined_timing timing = gi_cli_timing(&stream->io);
    const char *format = gi_save_format(stream->out.path, stream->io.format);
    return status ? status
                  : gi_joiner_new(&stream->out.joiner, stream->out.sink, format, &timing, err);
}

static enum gi_status put_page(void *self, struct gi_item *item, struct gi_err *err)
{
    struct gi_stream *stream = self;
    void *bytes = item->made.bytes;
    if (item->line.status)
        return GI_OK;
    item->made.bytes = NULL;
    return gi_joiner_add(stream->out.joiner, bytes, item->made.nbytes, &item->made.timing, err);
}

static enum gi_status end_pages(void *self, enum gi_status status, struct gi_err *err)
{
    struct gi_stream *stream = self;
    if (!status && !gi_stop_signal())
        status = gi_cli_end_joined(stream->out.joiner, stream->out.path, &stream->io, err);
    return gi_stream_end_sink(stream, status, err);
}

const struct gi_target_kind gi_target_pages = {
    .ordered = true, .open = open_pages, .put = put_page, .end = end_pages};

/* ---- a file for each image ---- */

static enum gi_status check_naming(void *self, struct gi_imaging *imaging, struct gi_err *err)
{
    const struct gi_stream *stream = self;
    const struct gi_naming naming = {
        .template = stream->out.path, .pages = true, .option = "the output"};
    return gi_naming_check(&naming, err);
}

/* Writes the encoded image into a file of its own. */
static enum gi_status put_file(void *self, struct gi_item *item, struct gi_err *err)
{
    const struct gi_stream *stream = self;
    struct gi_sink *sink = NULL;
    if (item->line.status)
        return GI_OK;
    const char *path = gi_output_file(item->line.output);
    const char *const outputs[] = {path, NULL}, *const inputs[] = {stream->input, NULL};
    enum gi_status status = stream->input ? gi_output_check_inputs(outputs, inputs, err) : GI_OK;
    if (!status)
        status = gi_sink_open(&sink, path, stream->io.no_clobber, err);
    if (!status)
        status = gi_sink_write(sink, item->made.bytes, item->made.nbytes, err);
    if (!status)
        status = gi_sink_commit(&sink, stream->io.durable, err);
    gi_sink_abandon(&sink);
    return status;
}

static enum gi_status end_files(void *self, enum gi_status status, struct gi_err *err)
{
    return !status && gi_stop_signal() ? GI_E_IO : status;
}

const struct gi_target_kind gi_target_files = {
    .ordered = true, .open = check_naming, .put = put_file, .end = end_files};
