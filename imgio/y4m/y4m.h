/* YUV4MPEG2 video: a header line, then frames, as in mjpegtools' yuv4mpeg(5), with the depths that
 * ffmpeg writes ("C420p10"). Each frame consists of a line and planes.
 *
 * Every plane becomes a separate gray image. Samples of more than 8 bits become 0 to 65535 in
 * images.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"
#include "imgio/reader.h"

enum {
    GI_Y4M_PLANES = 4,     /* luma, two of chroma, alpha */
    GI_Y4M_LINE_MAX = 1024 /* maximum characters of a line, with newline and zero */
};

struct gi_y4m {
    int width, height;    /* pixels of luma and alpha */
    int nplanes;          /* 1, 3 or 4 */
    int shift_x, shift_y; /* a chroma sample covers 2^shift luma samples, or fewer at the end */
    int bits;             /* per sample, 8 to 16 */
    bool interlaced;      /* according to the header */
    char line[GI_Y4M_LINE_MAX]; /* the header line without its newline */
};

/* Returns whether a video starts here. */
bool gi_y4m_starts(const unsigned char *bytes, size_t nbytes);

/* Reads the header. Errors: GI_E_IO, GI_E_FORMAT, GI_E_UNSUPPORTED (another sample format),
 * GI_E_LIMIT. Error texts of all functions start with the input's name. */
enum gi_status gi_y4m_read_head(struct gi_y4m *video, struct gi_reader *reader,
                                const struct gi_limits *limits, struct gi_err *err);

/* Adds to the metadata of a frame the parameters of the header that the frame's samples do not
 * show: the aspect ratio of pixels, the frame rate, interlacing, and those of other programs. The
 * rate is also the timing of an animation. */
void gi_y4m_metadata(struct gi_metadata *metadata, const struct gi_y4m *video);
/* Adds the parameters of a frame's line, which a single image does not hold. */
void gi_y4m_frame_metadata(struct gi_metadata *metadata, const char *line);

/* Returns the shape of plane number `plane`, from 0, in a video of this size and format. The shape
 * has one channel of GI_U8 or GI_U16. */
struct gi_image gi_y4m_plane(const struct gi_y4m *video, int plane);

/* Takes the line before a frame, which is "FRAME", perhaps with parameters. Stores the line without
 * its newline in line[GI_Y4M_LINE_MAX]. At the end of the video, sets *end to true instead. Errors:
 * GI_E_IO, GI_E_FORMAT. */
enum gi_status gi_y4m_read_frame(char *line, bool *end, struct gi_reader *reader,
                                 struct gi_err *err);

/* Reads a plane into `image`, which has the plane's shape. Samples of more than 8 bits are those of
 * the file until gi_y4m_widen() is called. Errors: GI_E_IO, GI_E_FORMAT (truncated). */
enum gi_status gi_y4m_read_plane(const struct gi_image *image, struct gi_reader *reader,
                                 struct gi_err *err);

/* gi_y4m_widen() scales the file's samples to the image's range, 0 to 65535, and gi_y4m_narrow()
 * scales them back, rounded to nearest. Samples that were read are written unchanged. With 8 bits
 * nothing happens. Error texts do not name the input. Errors: GI_E_FORMAT for a sample of more than
 * `bits` bits. */
enum gi_status gi_y4m_widen(const struct gi_image *image, int bits, struct gi_err *err);
void gi_y4m_narrow(const struct gi_image *image, int bits);

/* Write a header, which is video->line with the video's size, and a plane with the file's samples.
 * Errors: the sink's. */
enum gi_status gi_y4m_write_head(struct gi_sink *sink, const struct gi_y4m *video,
                                 struct gi_err *err);
enum gi_status gi_y4m_write_plane(struct gi_sink *sink, const struct gi_image *image,
                                  struct gi_err *err);
