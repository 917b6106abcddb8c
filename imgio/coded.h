/* JPEG images as they are stored: the tables and the entropy-coded scan. These structs carry a JPEG
 * between imgio, which parses and writes the markers, and the primitives of the family codec
 * (kernels/codec.h), which turn the scan into pixels and back. Terms and letters are those of
 * ITU-T T.81.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_CODED_H
#define GI_IMGIO_CODED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GI_JPEG_COMPONENTS = 3, /* maximum number of components */
    GI_JPEG_BLOCK = 64,     /* coefficients of a block */
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

/* A sequential JPEG of 8 bits with Huffman codes, and with one scan that holds all components. */
struct gi_jpeg_frame {
    int width, height; /* pixels, 1 to 65500 */
    int ncomponents;   /* 1 (gray) or 3 */
    bool ycc;          /* the three components are Y, Cb and Cr, otherwise R, G and B */
    struct gi_jpeg_component components[GI_JPEG_COMPONENTS];
    uint16_t quantization[4][GI_JPEG_BLOCK]; /* in row-major order, not in zigzag order */
    struct gi_jpeg_huffman dc[4], ac[4];
    unsigned restart_interval; /* MCUs between two restart markers; 0: there are none */
};

/* A frame with its scan: the bytes after the header of the scan, with stuffed zeros and restart
 * markers, up to the marker that ends the scan. */
struct gi_coded {
    struct gi_jpeg_frame frame;
    /* The image is reduced to 1 / denominator, as libjpeg's scaled decoding does: 1, 2, 4 or 8. */
    int denominator;
    const unsigned char *scan;
    size_t scan_nbytes;
};

/* A scan that was encoded: with stuffed zeros and restart markers, without the marker EOI. */
struct gi_jpeg_scan {
    unsigned char *bytes; /* NULL: none */
    size_t nbytes;
    const struct gi_allocator *allocator; /* takes the bytes back; NULL: free() does */
};

#endif
