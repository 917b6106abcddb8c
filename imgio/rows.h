/* Rows of an image that are made when they are needed, or taken while they are made, for images
 * that are larger than memory. SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

struct gi_row_source {
    void *self;
    int most; /* number of rows that are best read at a time, 1 or more */
    /* Sets *rows to a view of the rows top <= y < bottom, which is valid until the next call. Rows
     * may be read in any order and several times. Errors: those of the work that makes them. */
    enum gi_status (*read)(void *self, struct gi_image *rows, int top, int bottom,
                           struct gi_err *err);
};

/* Takes the rows of an image while it is decoded. */
struct gi_row_taker {
    void *self;
    /* Sets *rows to memory for the rows top <= y < bottom of the image, which the decoder fills.
     * Called from top to bottom; the rows before `top` are complete. Returns false if no more rows
     * are wanted: the decoder then fails, with any error. */
    bool (*lend)(void *self, struct gi_image *rows, int top, int bottom);
};
