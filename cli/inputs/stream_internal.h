/* Internals of a stream.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/inputs/batch.h"
#include "cli/inputs/page_cursor.h"
#include "cli/inputs/stream.h"
#include "cli/report/report.h"
#include "cli/run/imaging.h"
#include "imgio/image_stream.h"
#include "imgio/pnm/pnm_header.h"
#include "imgio/pnm/pnm_stream.h"
#include "imgio/reader.h"
#include "imgio/y4m/y4m_rgb.h"

/* The message about bytes behind an image: the input, and the number of the image. */
#define GI_STREAM_NO_IMAGE "%s: bytes that are no image follow image %llu"

/* Where the images go; `self` is a struct gi_stream. */
extern const struct gi_target_kind gi_target_joined; /* one behind the other into one output */
extern const struct gi_target_kind gi_target_pages;  /* into a TIFF of pages, or an animation */
/* Each into a separate file, because the output has {index} or {page} in it. */
extern const struct gi_target_kind gi_target_files;
extern const struct gi_target_kind gi_target_frames; /* frames of Y4M, which are made of RGB */
extern const struct gi_target_kind gi_target_planes; /* planes of Y4M */

/* A stream of images behind one another. */
struct gi_stream_pipe {
    bool single; /* a single PNM image is a stream too */
    /* If standard input is a file, the position where the input began. */
    off_t start;
    /* the first image if it was already taken, or a whole TIFF from a pipe. */
    struct gi_buffer first;
    bool rest_named; /* a warning has named the bytes behind the only image */
    bool coded;      /* the last image taken is PNG, JPEG or WebP */
};

/* A Y4M video. */
struct gi_stream_video {
    struct gi_y4m head, made;            /* headers of input and output */
    uint64_t made_nbytes[GI_Y4M_PLANES]; /* bytes that the chain needs for each plane */
    bool to_video;                       /* a video or tables are made from it */
    bool by_frame;                       /* its frames are processed as RGB, not plane by plane */
    bool luma_only;             /* only its luma is processed, and chroma becomes neutral */
    int plane;                  /* next plane */
    struct gi_selection frames; /* those that the path names in brackets */
    uint64_t skipped;           /* frames that were read and are not selected */
    const struct gi_allocator *allocator; /* of planes */
    /* An entry per step, the parameters for chroma, NULL if they are those of luma; or NULL */
    void **chroma_params;
    /* The frame being delivered: its planes, the line before it, its line of the report. */
    struct gi_image planes[GI_Y4M_PLANES];
    char line[GI_Y4M_LINE_MAX];
    struct gi_line frame;
};

/* The output of a stream. */
struct gi_stream_output {
    const char *path; /* operand; for tables "-" */
    const char *rate; /* frames per second of a new video; NULL: 25 */
    struct gi_sink *sink;
    struct gi_joiner *joiner; /* of pages and frames */
};

struct gi_stream {
    struct gi_io_params io;
    const struct gi_chain *chain;
    const char *input;                   /* operand; NULL: the images come from files */
    const struct gi_target_kind *target; /* NULL: tables are made */
    struct gi_reader *reader;            /* NULL: the images come from files */
    bool is_video, is_paged;             /* is_paged: the images are those of `cursor` */
    struct gi_stream_pipe pipe;
    struct gi_stream_video video;
    struct gi_stream_output out;
    struct gi_page_cursor cursor; /* over `list`, which is for names too */
    struct gi_list list;
    uint64_t expected;       /* number of images; 0: unknown */
    uint64_t taken;          /* images or frames taken so far */
    bool ended;              /* no more can be read */
    struct gi_report report; /* report->whole is the line of the stream */
};

void gi_stream_free(struct gi_stream **stream);

/* Returns the source of the stream's images. */
struct gi_source gi_stream_source(struct gi_stream *stream);
/* The sources of frames, and of planes, of a video; `self` is a struct gi_stream. */
extern const struct gi_source_kind gi_source_frames;
extern const struct gi_source_kind gi_source_planes;

/* Names the item: "standard input: image 3". */
void gi_stream_name(struct gi_stream *stream, struct gi_item *item, const char *what);
/* Names the output of the item, which is image number `taken` of the stream, and selects the format
 * of the output. `page` is the number of the image in the input. */
void gi_stream_name_output(struct gi_stream *stream, struct gi_item *item, int page);
/* For targets: opens the output, and commits it if the whole stream has been written to it
 * (cli/inputs/stream_output.c). */
enum gi_status gi_stream_open_sink(void *stream, struct gi_imaging *imaging, struct gi_err *err);
enum gi_status gi_stream_end_sink(void *stream, enum gi_status status, struct gi_err *err);

/* For gi_source_kind.next, after an attempt to read an image: sets *more, and returns whether there
 * is an image. `end` is true past the last image. A stream that can't be read further, because of
 * *fault, ends: its last item gets the error or, if partial images are allowed, the user a warning.
 */
bool gi_stream_has(struct gi_stream *stream, struct gi_item *item, bool end,
                   const struct gi_err *fault, bool *more);

/* The functions of all kinds of sources of streams; `self` is a gi_stream. */
enum gi_status gi_stream_open(struct gi_source *source, const struct gi_batch_job *job,
                              struct gi_imaging *imaging, struct gi_err *err);
enum gi_status gi_stream_note(void *self, struct gi_item *item, struct gi_err *err);
enum gi_status gi_stream_close(void *self, enum gi_status status, struct gi_err *err);
/* Writes the report's line of a frame, or of an image without an item. */
enum gi_status gi_stream_note_line(struct gi_stream *stream, const struct gi_line *line,
                                   struct gi_err *err);

/* Goes to the next selected frame, and reads the line before it, as gi_y4m_read_frame() does. *end
 * becomes true after the last one. Errors: those of reading, and GI_E_UNSUPPORTED if the video has
 * fewer frames than the path names. */
enum gi_status gi_video_next_frame(struct gi_stream *stream, char *line, bool *end,
                                   struct gi_err *err);
/* Reads the header of a video. Errors: GI_E_USAGE, and those of reading. */
enum gi_status gi_video_read_head(struct gi_stream *stream, struct gi_err *err);
/* Reads the header of a video and makes the header of the output. The chain must accept all planes,
 * and the results must form a video. Errors: GI_E_USAGE, GI_E_UNSUPPORTED, and those of reading. */
enum gi_status gi_video_begin(struct gi_stream *stream, struct gi_err *err);
/* Decides whether the chain processes a video plane by plane, only its luma, or its frames as RGB
 * (cli/inputs/video_frames.c). */
void gi_video_choose(struct gi_stream *stream);
/* The work on a frame as RGB, and on an image that becomes a frame. `self` is a gi_stream. */
enum gi_status gi_video_frame_work(void *self, struct gi_imaging *imaging, struct gi_item *item,
                                   struct gi_err *err);
enum gi_status gi_video_image_work(void *self, struct gi_imaging *imaging, struct gi_item *item,
                                   struct gi_err *err);
/* The work on a plane. */
enum gi_status gi_video_work(void *self, struct gi_imaging *imaging, struct gi_item *item,
                             struct gi_err *err);
