/* A TIFF file being read.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/metadata/icc.h"
#include "imgio/tiff/tiff.h"

#if GI_HAVE_TIFF

enum {
    GI_TIFF_SAMPLES_MAX = GI_BANDS_MAX,
};

/* libtiff's functions, under their original names. They are loaded while a file is read. */
#define GI_TIFF_FUNCTIONS(X)                                                                       \
    X(TIFFGetFieldDefaulted)                                                                       \
    X(TIFFGetField)                                                                                \
    X(TIFFSetField)                                                                                \
    X(TIFFWriteEncodedStrip)                                                                       \
    X(TIFFReadScanline)                                                                            \
    X(TIFFTileRowSize)                                                                             \
    X(TIFFReadEncodedStrip)                                                                        \
    X(TIFFStripSize64)                                                                             \
    X(TIFFReadTile)                                                                                \
    X(TIFFFieldWithName)                                                                           \
    X(TIFFFieldTag)                                                                                \
    X(TIFFIsCODECConfigured)                                                                       \
    X(TIFFIsTiled)                                                                                 \
    X(TIFFIsByteSwapped)                                                                           \
    X(TIFFGetStrileOffset)                                                                         \
    X(TIFFGetStrileByteCount)                                                                      \
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
extern const struct gi_library gi_tiff_library;

/* The meaning of YCbCr's stored samples (TIFF 6.0, sections 20 and 21). */
struct gi_tiff_ycbcr {
    /* Size in pixels of the block that shares one sample of Cb and one of Cr. 0 if there is no
     * YCbCr, or if the JPEG decoder converts it. */
    uint32_t across, down;
    /* What each code adds: Y to all colours, Cr to red, Cb to blue, both to green, which has 16
     * bits behind the point. */
    int32_t luma[256], red_cr[256], blue_cb[256], green_cr[256], green_cb[256];
};

/* A part of the image that has `rows` rows of n pixels. Its first pixel is (x, y). */
struct gi_tiff_place {
    uint32_t x, y, n, rows;
};

struct gi_tiff_reader {
    struct gi_decode *decode;
    TIFF *file;
    size_t at;               /* next byte of the file */
    uint64_t skip;           /* samples are that many bytes behind their offsets in the directory */
    struct gi_err fault;     /* libtiff's first message that means damage */
    struct gi_err complaint; /* its first message about a tag that it ignores */
    bool pixels;
    uint32_t width, height;
    struct gi_window part; /* of the picture that is read */
    uint16_t bits, samples, photometric, planar, format;
    uint16_t *palette[3];
    bool cmyk, indexed;
    int colors; /* channels of the image that are colours */
    int alpha;  /* channel that is alpha; -1: none */
    struct gi_tiff_ycbcr ycbcr;
    /* Whole strips are read, not lines. This is so for YCbCr, whose lines share chroma, and for
     * old-style JPEG, whose decoder ends after each strip. */
    bool by_strips;
    struct gi_inks *inks; /* NULL if there are no inks, or inks without a profile */
    /* 4 channels of CMYK if the file stores it in planes; otherwise no data */
    struct gi_image stored;
    bool direct; /* the file's lines are equal to rows of the image, byte for byte */
    int channels;
    enum gi_type type;
};

/* Checks that libtiff can read the compression. Errors: GI_E_UNSUPPORTED, which names the
 * compression. */
enum gi_status gi_tiff_check_compression(struct gi_tiff_reader *r, struct gi_err *err);

/* Fails because pixels of that photometric interpretation can't be read, and names them. */
enum gi_status gi_tiff_refuse_colors(unsigned photometric, struct gi_err *err);

/* What a message of libtiff means. */
enum gi_tiff_meaning {
    GI_TIFF_NOTHING,
    GI_TIFF_COMPLAINT, /* a tag is wrong; libtiff takes the default, or goes on without the tag */
    GI_TIFF_DAMAGE,
};
/* Errors and warnings while pixels are read mean damage. Before, libtiff fails if an error is
 * fatal, so that other errors are complaints about tags; the file ends early where a tag points out
 * of it. `module` is libtiff's name of the place, or NULL. */
enum gi_tiff_meaning gi_tiff_meaning(const struct gi_tiff_reader *r, TIFF *file, const char *module,
                                     const char *text, bool error);
/* Returns whether the message says that libtiff got no memory. */
bool gi_tiff_is_starved(const char *text);
/* Returns whether the message says that libtiff can't read this kind of pixels. */
bool gi_tiff_is_unsupported(const char *text);

/* Reads the tags of YCbCr into r->ycbcr. Errors: GI_E_UNSUPPORTED, GI_E_FORMAT, GI_E_MEMORY. */
enum gi_status gi_tiff_ycbcr_start(struct gi_tiff_reader *r, struct gi_err *err);
/* Bytes of width x height stored pixels. */
uint64_t gi_tiff_ycbcr_nbytes(const struct gi_tiff_ycbcr *how, uint32_t width, uint32_t height);
/* Converts a strip or tile, whose rows have `width` pixels, to RGB in the image. Values are
 * clamped to 0 to 255. The sample of Cb and that of Cr in a block are used for all
 * pixels of the block. */
void gi_tiff_put_ycbcr(const struct gi_tiff_reader *r, const struct gi_tiff_place *place,
                       uint32_t width, const unsigned char *blocks);

/* Converts GDAL_NODATA as the samples are, or drops it if they become other colours. */
void gi_tiff_convert_nodata(const struct gi_tiff_reader *r);
/* Returns whether parts of the page can be read. Otherwise the whole page is read. */
bool gi_tiff_has_parts(const struct gi_tiff_reader *r);
/* Returns whether gi_tiff_copy_line() reads the lines of the page, so that those above a part need
 * not be read (part.c). */
bool gi_tiff_copies_lines(const struct gi_tiff_reader *r);
/* Copies line y of plane `s`, whose strips have `rows` rows, to `line`, which has room for its
 * `nbytes` bytes. Returns false if the strip ends before. */
bool gi_tiff_copy_line(const struct gi_tiff_reader *r, unsigned char *line, size_t nbytes,
                       uint32_t y, uint32_t rows, int s);

/* Reads the samples of the page into the image, which is allocated. Errors: as gi_format.decode. */
enum gi_status gi_tiff_read_pixels(struct gi_tiff_reader *r, struct gi_err *err);

#endif
