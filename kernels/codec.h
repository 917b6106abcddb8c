/* Contracts of the family codec: the entropy-coded scans of JPEGs to pixels and back, with the
 * samples and the bytes of libjpeg-turbo, and images to the strips of PNGs.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CODEC_H
#define GI_KERNELS_CODEC_H

#include "imgio/coded.h"
#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* jpeg_decode: decodes a scan. `src` is the scan on the backend: GI_U8, one channel, one row of
 * scan_nbytes samples. `result`, on the backend, has the size of the reduced image (as
 * jpeg_calc_output_dimensions() of libjpeg computes it) and 1 or 3 channels of GI_U8. The samples
 * equal those of libjpeg-turbo with the slow integer transform (islow) and fancy upsampling.
 * GI_E_UNSUPPORTED tells that libjpeg-turbo must decode the file, because the scan is damaged,
 * because its samples may depend on the instruction set (a value leaves 16 bits), or because its
 * subsequences don't synchronise soon enough; `result` is then undefined. Waits. */
struct gi_jpeg_decode {
    const struct gi_jpeg_frame *frame;
    int denominator; /* 1, 2, 4 or 8 */
};

/* jpeg_encode: encodes `src`, GI_U8 with 1 or 3 channels of the frame's size, into a scan in host
 * memory. The bytes equal those of libjpeg-turbo for the frame: its tables, its sampling factors
 * (1 x 1, or 2 x 2 for the first of three components), its restart interval. GI_E_UNSUPPORTED tells
 * that libjpeg-turbo must encode the image. gi_jpeg_scan_free() frees the scan. Waits. */
struct gi_jpeg_encode {
    const struct gi_jpeg_frame *frame;
    const struct gi_allocator *allocator; /* of the scan's memory; NULL: plain memory */
};

/* Frees the result of jpeg_encode, which is zero afterwards. */
void gi_jpeg_scan_free(struct gi_jpeg_scan *scan);

/* png_decode: inflates a zlib stream of filtered rows (RFC 1950, RFC 1951) and undoes the filters
 * of PNG. `src`, on the backend, is GI_U8, one channel, one row: the chunks that hold the stream,
 * or, if there is no list of chunks, the stream. `result`, on the backend, has the size and the
 * type of the frame, and the channels of the frame, or 3 or 4 if there is a palette, whose colours
 * replace the indices. GI_E_UNSUPPORTED tells that imgio must decode the file, because the stream
 * is damaged, is too short or too long, has an index without colour, or would take too long here,
 * or because the CRC of a chunk is wrong; `result` is then undefined. Waits. */
struct gi_png_decode {
    const struct gi_png_frame *frame;
    /* In host memory, with offsets in `src`, in ascending order. Each chunk is complete. */
    const struct gi_png_idat *idats;
    uint32_t nidats; /* 0: `src` is the stream */
};

/* png_encode: filters the rows of `src`, GI_U8 or GI_U16, in strips of spec->strip_rows rows, 1 or
 * more, and codes them by runs (imgio/png/png_runs.h) if these suit the strip. The filters, the
 * choice and the bytes equal those of imgio's writer of PNG (imgio/png/png_strips.c) with its
 * default compression, which is this primitive on the CPU; so only CUDA has it. The last strip ends
 * the stream. GI_E_UNSUPPORTED tells that imgio must encode the image, because a strip has 2^31
 * bytes or more. gi_png_strips_free() frees the result. Waits. */
struct gi_png_encode {
    int strip_rows;
    const struct gi_allocator *allocator; /* of the bytes; NULL: plain memory */
};

/* Frees the result of png_encode, which is zero afterwards. */
void gi_png_strips_free(struct gi_png_strips *strips);

/* Returns the name of the primitive that decodes the image. */
static inline const char *gi_coded_primitive(const struct gi_coded *coded)
{
    return coded->is_png ? "png_decode" : "jpeg_decode";
}

#ifdef __cplusplus
}
#endif

#endif
