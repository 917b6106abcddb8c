/* JPEG 2000 by OpenJPEG: what its files share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/codecs.h"

#if __has_include(<openjpeg-2.5/openjpeg.h>)
#include <openjpeg-2.5/openjpeg.h>
#define GI_HAVE_JP2 1

#define GI_JP2_FUNCTIONS(X)                                                                        \
    X(opj_stream_create)                                                                           \
    X(opj_stream_destroy)                                                                          \
    X(opj_stream_set_read_function)                                                                \
    X(opj_stream_set_skip_function)                                                                \
    X(opj_stream_set_seek_function)                                                                \
    X(opj_stream_set_user_data)                                                                    \
    X(opj_stream_set_user_data_length)                                                             \
    X(opj_create_decompress)                                                                       \
    X(opj_destroy_codec)                                                                           \
    X(opj_set_default_decoder_parameters)                                                          \
    X(opj_set_warning_handler)                                                                     \
    X(opj_set_error_handler)                                                                       \
    X(opj_setup_decoder)                                                                           \
    X(opj_decoder_set_strict_mode)                                                                 \
    X(opj_codec_set_threads)                                                                       \
    X(opj_read_header)                                                                             \
    X(opj_decode)                                                                                  \
    X(opj_image_destroy)                                                                           \
    X(opj_version)
GI_LIBRARY_TABLE(gi_jp2_table, GI_JP2_FUNCTIONS);
extern struct gi_jp2_table gi_jp2;

/* Decodes the first codestream and its metadata, and lists the other parts (gi_format.decode). */
enum gi_status gi_jp2_decode(struct gi_decode *decode, struct gi_err *err);
#else
#define GI_HAVE_JP2 0
#endif

enum { GI_JP2_CHANNELS = 4 }; /* maximum number of components and of channels */

/* A component of the codestream. */
struct gi_jp2_component {
    int bits; /* 1 to 31 */
    bool is_signed;
    uint32_t dx, dy; /* distance of its samples on the reference grid, 1 to 255 */
};

/* The header of a codestream (ISO/IEC 15444-1, annex A). */
struct gi_jp2_stream {
    const unsigned char *bytes;
    size_t nbytes;           /* up to the end of the file or of the box */
    size_t end;              /* offset behind the marker that ends the codestream */
    uint32_t x0, y0, x1, y1; /* the image on the reference grid; x1 and y1 are behind it */
    int components;
    struct gi_jp2_component component[GI_JP2_CHANNELS];
    uint32_t tiles, found; /* tiles of the image, and those that are in the file */
    bool lossy;            /* by the irreversible wavelet */
    bool ends_early;
};

/* Reads the header, walks the tile-parts and keeps comments as texts. Errors: GI_E_FORMAT,
 * GI_E_UNSUPPORTED, GI_E_MEMORY. */
enum gi_status gi_jp2_walk(struct gi_jp2_stream *stream, struct gi_decode *decode,
                           struct gi_err *err);

/* What a channel means (ISO/IEC 15444-1, I.5.3.6). */
enum gi_jp2_meaning { GI_JP2_COLOR, GI_JP2_ALPHA, GI_JP2_PREMULTIPLIED, GI_JP2_OTHER };

struct gi_jp2_channel {
    int component; /* from 0 */
    int column;    /* of the palette, which the component's samples index; -1 for none */
    enum gi_jp2_meaning meaning;
    int color; /* of a GI_JP2_COLOR: its place among the colours, from 0 */
};

/* What the boxes of a JP2 tell (ISO/IEC 15444-1, annex I). */
struct gi_jp2_boxes {
    const unsigned char *codestream; /* NULL: there is none */
    uint64_t nbytes;                 /* of the codestream in the file */
    bool ends_early;                 /* a box is cut off by the end of the file */
    bool ycc;                        /* the colour space is sYCC */
    int channels;                    /* 0 if each component is a channel */
    struct gi_jp2_channel channel[GI_JP2_CHANNELS];
    const unsigned char *palette;         /* its entries, rows of columns; NULL: none */
    unsigned entries, columns, widths;    /* widths: sum of the bytes of a row */
    unsigned char depth[GI_JP2_CHANNELS]; /* bits of each column, 1 to 16 */
};

/* Reads the boxes in front of the codestream and behind it, keeps the metadata in them, and lists
 * those that are not read. Errors: GI_E_FORMAT, GI_E_UNSUPPORTED. */
enum gi_status gi_jp2_walk_boxes(struct gi_jp2_boxes *boxes, struct gi_decode *decode,
                                 struct gi_err *err);

/* Makes each component a colour, unless a palette has named the channels, and the last channel of 2
 * or 4 alpha. `n`: the number of components or channels. */
void gi_jp2_name_channels(struct gi_jp2_boxes *boxes, int n);

/* Returns whether these are bytes of a file of boxes, and not of a codestream on its own. */
bool gi_jp2_has_boxes(const unsigned char *bytes, size_t nbytes);
