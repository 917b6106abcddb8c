/* YUV4MPEG2 video: a header line, then frames, each a line and its planes, as in mjpegtools'
 * yuv4mpeg(5), with the depths that ffmpeg writes ("C420p10").
 *
 * Every plane is a separate gray image. Samples of more than 8 bits become 0 to 65535 in images.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_Y4M_H
#define GI_IMGIO_Y4M_H

#include "imgio/imgio.h"
#include "imgio/reader.h"

enum {
    GI_Y4M_PLANES = 4,     /* luma, two of chroma, alpha */
    GI_Y4M_LINE_MAX = 1024 /* characters of a line, its end and a 0 included */
};

struct gi_y4m {
    int width, height;          /* of luma and alpha */
    int nplanes;                /* 1, 3 or 4 */
    int shift_x, shift_y;       /* chroma has a sample for 2^shift of luma, the last ones cut */
    int bits;                   /* a sample, 8 to 16 */
    bool interlaced;            /* by its header */
    char line[GI_Y4M_LINE_MAX]; /* the header, without its end */
};

/* Whether a video starts here. */
bool gi_y4m_starts(const unsigned char *bytes, size_t nbytes);

/* Takes the header. Errors: GI_E_IO, GI_E_FORMAT, GI_E_UNSUPPORTED (another kind of samples),
 * GI_E_LIMIT; texts start with the input's name, here and below. */
enum gi_status gi_y4m_read_head(struct gi_y4m *video, struct gi_reader *reader,
                                const struct gi_limits *limits, struct gi_err *err);

/* The shape of a plane, from 0, of a video of this kind and size: one channel, GI_U8 or GI_U16. */
struct gi_image gi_y4m_plane(const struct gi_y4m *video, int plane);

/* Takes the line before a frame into line[GI_Y4M_LINE_MAX], without its end: "FRAME", perhaps with
 * parameters. *end instead where the video is over. Errors: GI_E_IO, GI_E_FORMAT. */
enum gi_status gi_y4m_read_frame(char *line, bool *end, struct gi_reader *reader,
                                 struct gi_err *err);

/* Takes a plane into `image`, which has its shape. Samples of more than 8 bits are the file's:
 * gi_y4m_widen() is next. Errors: GI_E_IO, GI_E_FORMAT (breaks off). */
enum gi_status gi_y4m_read_plane(const struct gi_image *image, struct gi_reader *reader,
                                 struct gi_err *err);

/* The file's samples to those of an image, 0 to 65535, and back, rounded to nearest; what was read
 * comes back as it was. Nothing happens at 8 bits. Errors, without a name: GI_E_FORMAT for a
 * sample of more than `bits`. */
enum gi_status gi_y4m_widen(const struct gi_image *image, int bits, struct gi_err *err);
void gi_y4m_narrow(const struct gi_image *image, int bits);

/* Writes the header of a video of that size, all else as in video->line; a line before a frame; a
 * plane of the file's samples. Errors: the sink's. */
enum gi_status gi_y4m_write_head(struct gi_sink *sink, const struct gi_y4m *video,
                                 struct gi_err *err);
enum gi_status gi_y4m_write_plane(struct gi_sink *sink, const struct gi_image *image,
                                  struct gi_err *err);

#endif
