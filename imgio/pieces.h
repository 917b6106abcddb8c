/* Makes the pieces of a file by several threads and writes the pieces in order.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* A piece that has been made but not written yet. */
struct gi_piece {
    void *bytes; /* allocated by malloc(), and freed after the piece is written, unless `lent` */
    size_t nbytes;
    bool lent;         /* the bytes belong to the caller of gi_pieces_run() */
    uint32_t checksum; /* set by make() for write() */
};

struct gi_pieces {
    void *self;
    int n; /* 1 or more */
    size_t scratch_nbytes;
    /* Makes piece `number`. Its bytes depend only on that number, not on the thread or the order.
     * Several calls run concurrently. On failure nothing is left to free. */
    enum gi_status (*make)(void *self, struct gi_piece *piece, int number, void *scratch,
                           struct gi_err *err);
    /* Writes a piece. Called in the order of the numbers, for one piece at a time. */
    enum gi_status (*write)(void *self, const struct gi_piece *piece, int number,
                            struct gi_err *err);
};

/* Makes and writes all pieces by the threads of `parallel` (one thread if it is NULL). At any time
 * only a few pieces per thread are in memory. Errors: GI_E_MEMORY, and the first error of make() or
 * write(). */
enum gi_status gi_pieces_run(const struct gi_pieces *pieces, const struct gi_parallel *parallel,
                             struct gi_err *err);

/* Returns the rows per piece of an image with `height` rows of `row_nbytes`. A piece is an eighth
 * of the image, so that there is work for several threads even if the image is small. But a piece
 * has at least 128 KiB (a PNG's overhead is then 0.4 %), and at most 1 MiB or one row. */
int gi_piece_rows(size_t row_nbytes, int height);
