/* A TIFF file being read.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_TIFF_READER_H
#define GI_IMGIO_TIFF_READER_H

#include "imgio/icc.h"
#include "imgio/tiff/tiff.h"

#if GI_HAVE_TIFF

enum {
    GI_TIFF_SAMPLES_MAX = 64,
    GI_TIFF_DROPPED = -1, /* a sample that is neither colour nor alpha */
};

/* libtiff's functions, under their names; loaded while a file is read. */
#define GI_TIFF_FUNCTIONS(X)                                                                       \
    X(TIFFGetFieldDefaulted)                                                                       \
    X(TIFFGetField)                                                                                \
    X(TIFFSetField)                                                                                \
    X(TIFFReadScanline)                                                                            \
    X(TIFFTileRowSize)                                                                             \
    X(TIFFReadTile)                                                                                \
    X(TIFFIsTiled)                                                                                 \
    X(TIFFTileRowSize64)                                                                           \
    X(TIFFScanlineSize64)                                                                          \
    X(TIFFTileSize64)                                                                              \
    X(TIFFSetSubDirectory)                                                                         \
    X(TIFFOpenOptionsAlloc)                                                                        \
    X(TIFFOpenOptionsSetErrorHandlerExtR)                                                          \
    X(TIFFOpenOptionsSetWarningHandlerExtR)                                                        \
    X(TIFFOpenOptionsSetMaxSingleMemAlloc)                                                         \
    X(TIFFClientOpenExt)                                                                           \
    X(TIFFOpenOptionsFree)                                                                         \
    X(TIFFClose)
GI_LIBRARY_TABLE(gi_tiff_table, GI_TIFF_FUNCTIONS);
extern struct gi_tiff_table gi_tiff;

struct gi_tiff_reader {
    struct gi_decode *decode;
    TIFF *file;
    size_t at;           /* next byte of the file */
    struct gi_err fault; /* libtiff's first; while pixels are read its warnings too */
    bool pixels;
    uint32_t width, height;
    uint16_t bits, samples, photometric, planar, format;
    uint16_t *palette[3];
    bool premultiplied, cmyk, indexed;
    struct gi_inks *inks;                  /* NULL: none, or inks without a profile */
    bool direct;                           /* lines are rows of the image, byte for byte */
    int channels, to[GI_TIFF_SAMPLES_MAX]; /* the channel that a sample goes to */
    enum gi_type type;
};

/* Reads the samples of the page into the image, which is made. Errors: as gi_format.decode. */
enum gi_status gi_tiff_read_pixels(struct gi_tiff_reader *r, struct gi_err *err);

#endif
#endif
