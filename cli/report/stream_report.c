/* The report of a stream: a line per image or frame, and at the end one for the stream itself.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/report/n_to_one.h"
#include "cli/inputs/input_list.h"
#include "cli/run/stop.h"
#include "cli/inputs/stream_internal.h"
#include "cli/run/output.h"

enum gi_status gi_stream_report_open(struct gi_stream *stream, const struct gi_batch_job *job,
                                     const char *output, struct gi_err *err)
{
    const struct gi_batch_params *p = gi_batch_params_of(job->command, job->params);
    const char *file = output ? gi_output_file(output) : NULL;
    struct gi_journal_head head = {.files = 1};
    struct gi_list list = {0};
    if (!p->report)
        return GI_OK;
    enum gi_status status = gi_list_add(&list, stream->input, err);
    if (!status)
        status = gi_n_to_one_check(p->report, &list, file, err);
    if (!status)
        status = gi_list_hash(&head.list, &list, err);
    char *chain =
        gi_batch_text(job->command, job->text ? job->text : job->command->name, job->params);
    if (!status && !chain)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a report");
    head.chain = chain;
    if (!status)
        status = gi_journal_open(&stream->journal, p->report, NULL, &head, err);
    stream->whole = (struct gi_line){.input = (char *)stream->input, .output = (char *)file};
    gi_list_free(&list);
    free(chain);
    return status;
}

enum gi_status gi_stream_report_add(struct gi_stream *stream, const struct gi_line *line,
                                    struct gi_err *err)
{
    struct gi_line part = *line;
    if (!stream->journal)
        return GI_OK;
    gi_line_add(&stream->whole, line);
    part.output = stream->whole.output;
    /* What can't be read on is no image. */
    return line->input ? gi_journal_add_part(stream->journal, &part, "stream", stream->input, err)
                       : GI_OK;
}

enum gi_status gi_stream_report_plane(struct gi_stream *stream, const struct gi_line *line,
                                      int plane, struct gi_err *err)
{
    struct gi_line *frame = &stream->frame;
    if (plane == 0)
        *frame = (struct gi_line){.shape = gi_y4m_plane(&stream->video, 0)};
    frame->input = line->input;
    frame->shape.channels = stream->video.nplanes;
    gi_line_add(frame, line);
    bool last = line->status || plane + 1 == stream->video.nplanes;
    return last ? gi_stream_report_add(stream, frame, err) : GI_OK;
}

enum gi_status gi_stream_report_end(struct gi_stream *stream, enum gi_status status,
                                    struct gi_err *err)
{
    struct gi_line *whole = &stream->whole;
    struct gi_err fault = {0};
    if (!stream->journal || gi_stop_asked())
        return status;
    if (status && !whole->status) {
        whole->status = status;
        whole->err = *err;
    }
    if (strcmp(whole->input, "-") != 0)
        gi_line_note_input(whole);
    if (whole->output && strcmp(whole->output, "-") != 0)
        gi_line_note_output(whole);
    if (gi_journal_add(stream->journal, whole, &fault) && !status) {
        *err = fault;
        return fault.status;
    }
    return status;
}
