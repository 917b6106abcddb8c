/* A stream inside.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_STREAM_INTERNAL_H
#define GI_CLI_INPUTS_STREAM_INTERNAL_H

#include "cli/run/engine.h"
#include "cli/run/imaging.h"
#include "cli/report/journal.h"
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

    struct gi_journal *journal; /* NULL: no report */
    struct gi_line frame;       /* Y4M: of which the planes come, for its line */
    struct gi_line whole;       /* the stream's own line so far */
};

void gi_stream_free(struct gi_stream **stream);

/* Runs the engine over the stream. Errors: as gi_engine_run(). */
struct gi_batch_params;
enum gi_status gi_stream_go(struct gi_stream *stream, const struct gi_work_on *work,
                            const struct gi_batch_params *params, int threads, struct gi_err *err);

/* "standard input: image 3", as the item's name. Errors: GI_E_MEMORY. */
enum gi_status gi_stream_name(struct gi_stream *stream, struct gi_item *item, const char *what,
                              struct gi_err *err);
/* The stream can't be read on: its last item tells why, or where partial images are allowed a
 * warning, and false comes. */
bool gi_stream_break(struct gi_stream *stream, struct gi_item *item, const struct gi_err *why);

/* Opens the report, where --report asks for one. `output`: where the images go; NULL: tables are
 * made of them. Errors: GI_E_USAGE, and as gi_journal_open(). */
enum gi_status gi_stream_report_open(struct gi_stream *stream, const struct gi_batch_job *job,
                                     const char *output, struct gi_err *err);
/* For deliver(): the line of an image, of a plane that a table is made of, or of a frame. Errors:
 * as gi_journal_add(). */
enum gi_status gi_stream_report_add(struct gi_stream *stream, const struct gi_line *line,
                                    struct gi_err *err);
/* The same of a plane: a frame's line comes with its last. */
enum gi_status gi_stream_report_plane(struct gi_stream *stream, const struct gi_line *line,
                                      int plane, struct gi_err *err);
/* The line of the stream itself, which ended by `status` and `err`; none after a signal. Returns
 * `status`, or where that is GI_OK the error of writing. */
enum gi_status gi_stream_report_end(struct gi_stream *stream, enum gi_status status,
                                    struct gi_err *err);

/* The feed and the work of each kind, with `self` a gi_stream. */
enum gi_status gi_pnm_feed_next(void *self, struct gi_item *item, bool *more, struct gi_err *err);
enum gi_status gi_pnm_work(void *self, struct gi_item *item, struct gi_err *err);
enum gi_status gi_pnm_deliver(void *self, struct gi_item *item, struct gi_err *err);

/* Reads the header. Errors: GI_E_USAGE, and those of reading. */
enum gi_status gi_video_read_head(struct gi_stream *stream, struct gi_err *err);
/* The item's plane as an image, which the caller frees, and its name with that of the plane behind.
 * Errors: GI_E_FORMAT, GI_E_MEMORY. */
enum gi_status gi_video_take_plane(struct gi_stream *stream, struct gi_item *item,
                                   struct gi_image *image, struct gi_err *err);

/* Reads the header too, and makes that of the output: whether all planes can go through the chain
 * and are planes of one video then. Errors: GI_E_USAGE, GI_E_UNSUPPORTED, and those of reading. */
enum gi_status gi_video_begin(struct gi_stream *stream, struct gi_err *err);
enum gi_status gi_video_feed_next(void *self, struct gi_item *item, bool *more, struct gi_err *err);
enum gi_status gi_video_work(void *self, struct gi_item *item, struct gi_err *err);
enum gi_status gi_video_deliver(void *self, struct gi_item *item, struct gi_err *err);

#endif
