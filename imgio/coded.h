/* Images as they are stored: tables and entropy-coded data of JPEG and PNG. These
 * structs are between imgio, which parses and writes markers and chunks, and the primitives of the
 * family codec (kernels/codec.h), which turn coded data into pixels and back. Terms and letters of
 * JPEG are those of ITU-T T.81. SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_CODED_H
#define GI_IMGIO_CODED_H

#include "imgio/image.h"

enum {
    GI_JPEG_COMPONENTS = 3, /* maximum number of components */
    GI_JPEG_BLOCK = 64,     /* coefficients of a block */
    GI_JPEG_UNITS = 10,     /* maximum number of blocks of an MCU (B.2.3) */
};

/* A Huffman table (T.81, B.2.4.2). */
struct gi_jpeg_huffman {
    uint8_t counts[16];  /* number of codes of 1 to 16 bits */
    uint8_t values[256]; /* the symbols in the order of their codes */
};

struct gi_jpeg_component {
    uint8_t h, v; /* sampling factors, 1 to 4 */
    /* indices of this component's tables in struct gi_jpeg_frame, 0 to 3 */
    uint8_t quantization, dc, ac;
};

/* A sequential JPEG of 8 bits with Huffman codes, and with one scan that holds all components. If
 * there is only one component, its sampling factors are 1, because they have no effect. */
struct gi_jpeg_frame {
    int width, height; /* pixels, 1 to 65500 */
    int ncomponents;   /* 1 (gray) or 3 */
    bool ycc;          /* the three components are Y, Cb and Cr, otherwise R, G and B */
    struct gi_jpeg_component components[GI_JPEG_COMPONENTS];
    uint16_t quantization[4][GI_JPEG_BLOCK]; /* in row-major order, not in zigzag order */
    struct gi_jpeg_huffman dc[4], ac[4];
    unsigned restart_interval; /* MCUs between two restart markers; 0: there are none */
};

/* How a JPEG was quantized and sampled, so that a JPEG that is made of it can keep this. */
struct gi_jpeg_tables {
    int ncomponents;                                         /* 1 (gray) or 3 */
    bool ycc;                                                /* as in struct gi_jpeg_frame */
    struct gi_jpeg_component components[GI_JPEG_COMPONENTS]; /* `dc` and `ac` are 0 */
    uint16_t quantization[4][GI_JPEG_BLOCK];                 /* in row-major order */
};

/* The filters of a PNG's rows, by the byte that names them (PNG, third edition, section 9). */
enum gi_png_filter {
    GI_PNG_NONE,
    GI_PNG_SUB,
    GI_PNG_UP,
    GI_PNG_AVERAGE,
    GI_PNG_PAETH,
    GI_PNG_FILTERS
};

enum { GI_ADLER_BASE = 65521 /* modulus of the sums of Adler-32 (RFC 1950) */ };

/* How a PNG that is not interlaced stores its pixels, in samples of 8 or 16 bits. */
struct gi_png_frame {
    int width, height;       /* pixels */
    int channels;            /* of a stored pixel, 1 to 4; 1 if there is a palette */
    enum gi_type type;       /* GI_U8 or GI_U16; GI_U8 if there is a palette */
    int ncolors;             /* entries of the palette; 0: there is none */
    uint8_t palette[256][4]; /* red, green, blue, alpha */
};

/* An IDAT chunk of a PNG. The 4 bytes before its data are its type, those behind them its CRC. */
struct gi_png_idat {
    uint32_t at, nbytes; /* offset and length of its data */
};

/* Kinds of files that may stay coded, as bits. */
enum gi_coded_kinds { GI_CODED_NONE = 0, GI_CODED_JPEG = 1, GI_CODED_PNG = 2, GI_CODED_ANY = 3 };

/* Maximum bytes of a file that stays coded, so that positions of bits fit in 32 bits. */
enum { GI_CODED_FILE_NBYTES = 1 << 28 };

/* A JPEG or PNG file that is not decoded yet. */
struct gi_coded {
    bool is_png;
    struct gi_png_frame png;    /* of a PNG */
    struct gi_jpeg_frame frame; /* of a JPEG, as is `denominator` */
    /* The image is reduced to 1 / denominator, as libjpeg's scaled decoding does: 1, 2, 4 or 8. */
    int denominator;
    /* The whole file as one row of GI_U8 in host memory. The scan_nbytes bytes from scan_at on are
     * the scan. JPEG: what follows the header of the scan, with stuffed zeros and restart markers,
     * up to the marker EOI. PNG: all IDAT chunks. */
    struct gi_image file;
    size_t scan_at, scan_nbytes;
    /* The IDAT chunks of a PNG, by their offsets in the scan. The list is behind the file in the
     * same memory. */
    const struct gi_png_idat *idats;
    uint32_t nidats;
    int layout; /* enum gi_layout: turns the decoded image upright, as EXIF's orientation says */
    struct gi_err warning; /* of reading the file; it holds if decoding succeeds */
};

/* Returns a size above nbytes, by at most a fourth or 1 KiB. There are only four such
 * sizes between two powers of two, so that pinned memory is reused for data of other lengths. */
static inline size_t gi_coded_room(size_t nbytes)
{
    size_t step = 1024;
    while (step * 8 < nbytes)
        step *= 2;
    return (nbytes / step + 1) * step;
}

/* A scan that was encoded: with stuffed zeros and restart markers, without the marker EOI. */
struct gi_jpeg_scan {
    unsigned char *bytes; /* NULL: none */
    size_t nbytes;
    const struct gi_allocator *allocator; /* takes the bytes back; NULL: free() does */
};

/* Returns the kind of a file, or GI_CODED_NONE if `coded` is NULL. */
static inline enum gi_coded_kinds gi_coded_kind(const struct gi_coded *coded)
{
    return !coded ? GI_CODED_NONE : coded->is_png ? GI_CODED_PNG : GI_CODED_JPEG;
}

/* Returns the bytes of the file, of which there are coded->file.width. */
static inline const void *gi_coded_bytes(const struct gi_coded *coded)
{
    return coded->file.data;
}

/* Returns the scan as an image of one row, which is a view. */
static inline struct gi_image gi_coded_scan(const struct gi_coded *coded)
{
    struct gi_image scan = coded->file;
    scan.data = (char *)scan.data + coded->scan_at;
    scan.width = (int)coded->scan_nbytes;
    scan.owner = GI_OWNER_NONE;
    return scan;
}

/* A strip of rows of a PNG that was encoded. */
struct gi_png_strip {
    size_t at, nbytes; /* its bytes in struct gi_png_strips */
    uint32_t adler;    /* Adler-32 of its filtered rows */
    /* The bytes are a part of a DEFLATE stream, which ends at a byte boundary. Otherwise they are
     * the filtered rows, because a compressor that searches for matches suits the strip better. */
    bool deflated;
};

/* The strips of a PNG from top to bottom. */
struct gi_png_strips {
    struct gi_png_strip *strips; /* NULL: none */
    int nstrips;
    unsigned char *bytes;
    size_t nbytes;
    const struct gi_allocator *allocator; /* takes the bytes back; NULL: free() does */
};

/* How a file will hold the samples of an image, if a device can encode them. */
struct gi_coding {
    int strip_rows;             /* of a PNG with the default compression; 0: the file is a JPEG */
    struct gi_jpeg_frame frame; /* of the JPEG */
    /* The score of SSIMULACRA 2 that a search for the quality of the JPEG must reach, and its
     * highest quality, 1 to 100. 0: there is no search. */
    double ssimulacra2;
    int most;
};

/* An image that a device has encoded: the scan of a JPEG, or the strips of a PNG. */
struct gi_encoded {
    struct gi_jpeg_scan scan;
    struct gi_png_strips strips;
    int quality; /* of a JPEG, which a search has found; 0: that of the options */
};

static inline bool gi_is_encoded(const struct gi_encoded *encoded)
{
    return encoded->scan.bytes || encoded->strips.strips;
}

#endif
