/* A stream inside.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_STREAM_INTERNAL_H
#define GI_CLI_INPUTS_STREAM_INTERNAL_H

#include "cli/inputs/feed.h"
#include "cli/run/imaging.h"
#include "cli/report/report.h"
#include "cli/inputs/stream.h"
#include "imgio/pnm_header.h"
#include "imgio/pnm_stream.h"
#include "imgio/reader.h"
#include "imgio/y4m.h"

struct gi_stream {
    struct gi_io_params io;
    const char *input, *output; /* operands; the output "-" for tables too */
    bool single;                /* one image of PNM is a stream too */
    struct gi_reader *reader;
    bool is_video;
    struct gi_buffer first; /* PNM: the first image, which was taken already; NULL in it: none */
    uint64_t taken;         /* images or frames */

    struct gi_y4m video, made;           /* Y4M: headers of input and output */
    uint64_t made_nbytes[GI_Y4M_PLANES]; /* Y4M: memory that the chain takes for each plane */
    int plane;                           /* that comes next */

    const struct gi_chain *chain;
    struct gi_imaging *imaging;
    struct gi_sink *sink;
    struct gi_image planes[GI_Y4M_PLANES]; /* Y4M: of the frame that is delivered */
    char line[GI_Y4M_LINE_MAX];            /* before it */
    bool ended;                            /* it can't be read on */

    struct gi_report report; /* its whole: the stream */
    struct gi_line frame;    /* Y4M: of which the planes come, for its line */
};

void gi_stream_free(struct gi_stream **stream);

/* The feed of the stream. */
struct gi_feed gi_stream_feed(struct gi_stream *stream);

/* "standard input: image 3", as the item's name. Errors: GI_E_MEMORY. */
enum gi_status gi_stream_name(struct gi_stream *stream, struct gi_item *item, const char *what,
                              struct gi_err *err);
/* The stream can't be read on: its last item tells why, or where partial images are allowed a
 * warning, and false comes. */
bool gi_stream_break(struct gi_stream *stream, struct gi_item *item, const struct gi_err *why);

/* Opens the report, where --report asks for one. `output`: where the images go; NULL: tables are
 * made of them. Errors: GI_E_USAGE, and as gi_report_open(). */
enum gi_status gi_stream_report(struct gi_stream *stream, const struct gi_batch_job *job,
                                const char *output, struct gi_err *err);
/* gi_feed_kind.open_report and note of both kinds, with `self` a gi_stream. */
enum gi_status gi_stream_open_report(void *self, const struct gi_batch_job *job,
                                     struct gi_err *err);
enum gi_status gi_stream_note(void *self, struct gi_item *item, struct gi_err *err);
/* The same by the line alone. */
enum gi_status gi_stream_note_line(struct gi_stream *stream, const struct gi_line *line,
                                   struct gi_err *err);

/* Reads the header. Errors: GI_E_USAGE, and those of reading. */
enum gi_status gi_video_read_head(struct gi_stream *stream, struct gi_err *err);
/* Reads the header too, and makes that of the output: whether all planes can go through the chain
 * and are planes of one video then. Errors: GI_E_USAGE, GI_E_UNSUPPORTED, and those of reading. */
enum gi_status gi_video_begin(struct gi_stream *stream, struct gi_err *err);
/* The work on planes that go into a video, with `self` a gi_stream. */
enum gi_status gi_video_work(void *self, struct gi_item *item, struct gi_err *err);
enum gi_status gi_video_deliver(void *self, struct gi_item *item, struct gi_err *err);

#endif
