/* Turns and crops JPEGs without decoding their samples: the coefficients of the blocks are moved,
 * as by jpegtran, and keep their values. SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Where the pixels of the result come from. */
struct gi_lossless_place {
    int width, height; /* of the result, in pixels */
    /* The affine map from coordinates in the result to coordinates in the upright picture: (x, y)
     * -> (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]), where (0, 0) is the upper left corner of
     * the upper left pixel. */
    double map[6];
};

/* A lossless turn, and what became of it. */
struct gi_lossless {
    const struct gi_load_options
        *load; /* `limits`, `allow_partial`, `listener`, `ahead` are used */
    /* Sets *place for a picture of this shape, which is upright, as EXIF says. An error ends the
     * turn. */
    enum gi_status (*place)(void *self, struct gi_lossless_place *place,
                            const struct gi_image *shape, struct gi_err *err);
    void *self;
    bool trim; /* cuts off incomplete blocks that can't be turned */
    /* refuses (GI_E_UNSUPPORTED) a result that begins outwards of the place, see `left` */
    bool exact;
    bool keep;                 /* sets `input` if the picture can't be turned without loss */
    int progressive, optimize; /* as in struct gi_save_jpeg; auto: as the input is coded */
    bool bare;                 /* writes no metadata */

    /* Results. */
    struct gi_image shape;         /* of the upright picture, without samples */
    int width, height;             /* of the result */
    int block_width, block_height; /* of its MCUs, in pixels */
    /* By how many pixels the left and the upper side were moved outwards to the grid of the MCUs.
     */
    int left, above;
    int cut_width, cut_height;   /* pixels that `trim` has cut off */
    struct gi_metadata metadata; /* only the parts that the result lacks; the caller frees it */
    struct gi_err warning;       /* of the decoder, with the name of the file */
    unsigned char *bytes;        /* the result, malloc()ed; the caller frees it */
    size_t nbytes;
    bool foreign; /* the input is an image of another format */
    /* After GI_E_UNSUPPORTED, with `keep`: all bytes of an input that can't be read again, because
     * it was a pipe. They are malloc()ed, and the caller frees them. NULL: the input is a file. */
    void *input;
    size_t input_nbytes;
};

/* Makes the result from `n` bytes of a JPEG, or if `bytes` is NULL from the file `path`. All
 * segments are kept, except an index of further images. A gain map is kept if it can be turned
 * too. If the picture changes, the orientation in EXIF and XMP becomes 1, places in them move with
 * the pixels, and thumbnails are removed; if its size changes, they name the new size. Messages
 * begin with `path`. Errors: as gi_load(), GI_E_UNSUPPORTED (not a JPEG; blocks that can't be
 * turned), and those of `place`. */
enum gi_status gi_lossless_make(struct gi_lossless *lossless, const char *path, const void *bytes,
                                size_t n, struct gi_err *err);
