/* The output of a stream, which is one file, a TIFF of pages, or a file for each image.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/paths/names.h"
#include "cli/inputs/stream_internal.h"
#include "cli/paths/output.h"

enum gi_status gi_stream_name_output(struct gi_stream *stream, struct gi_item *item, int page,
                                     struct gi_err *err)
{
    const uint64_t index = stream->taken - 1;
    const struct gi_naming naming = {
        .template = stream->output, .pages = true, .page = page, .index = &index};
    item->line.output = stream->target == GI_STREAM_FILES
                            ? gi_naming_output(&naming, &stream->list, item->source.place)
                            : strdup(stream->output);
    if (!item->line.output)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a name");
    bool coded = item->source.bytes != NULL;
    /* From standard input to standard output: each image keeps its format. */
    if (coded && !gi_save_format(stream->output, stream->io.format)) {
        const char *name = gi_format_of(item->source.bytes, item->source.nbytes)->name;
        item->source.format = strcmp(name, "pbm") == 0 ? "pgm" : name;
    }
    return GI_OK;
}

enum gi_status gi_stream_open_output(struct gi_stream *stream, struct gi_err *err)
{
    const struct gi_io_params *io = &stream->io;
    const struct gi_naming naming = {
        .template = stream->output, .pages = true, .option = "the output"};
    if (stream->target == GI_STREAM_FILES)
        return gi_naming_check(&naming, err);
    enum gi_status status =
        gi_sink_open(&stream->sink, gi_output_file(stream->output), io->no_clobber, err);
    return status || stream->target != GI_STREAM_PAGES
               ? status
               : gi_page_writer_new(&stream->writer, stream->sink, 0, err);
}

/* Writes the encoded image into a file of its own. */
static enum gi_status put_file(const struct gi_stream *stream, struct gi_item *item,
                               struct gi_err *err)
{
    const char *path = gi_output_file(item->line.output);
    const char *const outputs[] = {path, NULL}, *const inputs[] = {stream->input, NULL};
    struct gi_sink *sink = NULL;
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

enum gi_status gi_stream_put(struct gi_stream *stream, struct gi_item *item, struct gi_err *err)
{
    void *bytes = item->made.bytes;
    if (stream->target == GI_STREAM_FILES)
        return put_file(stream, item, err);
    if (stream->target == GI_STREAM_VIDEO)
        return gi_video_put_frame(stream, item, err);
    if (stream->target == GI_STREAM_PAGES) {
        item->made.bytes = NULL;
        return gi_page_writer_add(stream->writer, bytes, item->made.nbytes, err);
    }
    enum gi_status status = gi_sink_write(stream->sink, bytes, item->made.nbytes, err);
    return status ? status : gi_sink_flush(stream->sink, err);
}

enum gi_status gi_stream_end_output(struct gi_stream *stream, struct gi_err *err)
{
    if (stream->target == GI_STREAM_FILES)
        return GI_OK;
    enum gi_status status = stream->writer ? gi_page_writer_end(stream->writer, err) : GI_OK;
    return status ? status : gi_sink_commit(&stream->sink, stream->io.durable, err);
}
