/* Moves the blocks of coefficients of a JPEG.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include <jpeglib.h>

#include "imgio/lossless.h"

/* One axis of the stored picture: the pixels `from` to `to` - 1 of it become the result. */
struct gi_blocks_axis {
    int whole; /* pixels of the picture */
    int grid;  /* pixels of an MCU */
    int from, to;
    bool mirrored;
    int moved; /* pixels by which the side at which the result begins was moved outwards */
    int cut;   /* pixels of incomplete MCUs that were cut off */
};

/* Where the blocks of the result come from. */
struct gi_blocks_turn {
    int layout; /* bits of enum gi_layout */
    struct gi_blocks_axis x, y;
    int width, height; /* of the result, in pixels */
};

/* Returns the bytes of all coefficients. */
uint64_t gi_blocks_nbytes(const struct jpeg_decompress_struct *in);

/* Plans the turn of a JPEG whose header was read, and which is stored with this EXIF orientation.
 * As jpegtran does, moves the side at which the result begins outwards to the grid of the MCUs. A
 * side that is mirrored can't begin with an incomplete MCU: with lossless->trim that is cut off,
 * otherwise this is an error. lossless->exact refuses to move a side. Errors: GI_E_UNSUPPORTED. */
enum gi_status gi_blocks_plan(struct gi_blocks_turn *turn, const struct jpeg_decompress_struct *in,
                              const struct gi_lossless_place *place, int orientation,
                              const struct gi_lossless *lossless, struct gi_err *err);

/* Sets the map from coordinates in the result to coordinates in the picture as it is stored, as in
 * struct gi_lossless_place. */
void gi_blocks_map(double map[6], const struct gi_blocks_turn *turn);

/* Copies to *lossless the size of MCUs, and what was moved and cut, as seen in the result. */
void gi_blocks_report(const struct gi_blocks_turn *turn, struct gi_lossless *lossless);

/* Requests arrays for the blocks of the result, which belong to `in`. To be called before
 * jpeg_read_coefficients(). Returns NULL if the blocks stay where they are. libjpeg's errors leave
 * this function and the next two. */
jvirt_barray_ptr *gi_blocks_request(const struct gi_blocks_turn *turn,
                                    struct jpeg_decompress_struct *in);
/* Sets the size, the sampling factors and the quantization tables of the result, after
 * jpeg_copy_critical_parameters(). */
void gi_blocks_set_parameters(const struct gi_blocks_turn *turn, struct jpeg_compress_struct *out);
/* Fills `made` from `read`. Does nothing if `made` is NULL. */
void gi_blocks_move(const struct gi_blocks_turn *turn, struct jpeg_decompress_struct *in,
                    jvirt_barray_ptr *made, jvirt_barray_ptr *read);
