/* Rows of an image that are made when they are needed, for images that are larger than memory.
 * SPDX-License-Identifier: MIT */
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
