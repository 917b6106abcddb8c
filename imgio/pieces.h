/* A file made in pieces by several threads at once, and written in order.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_PIECES_H
#define GI_IMGIO_PIECES_H

#include "imgio/imgio.h"

/* One piece, between its maker and its writer. */
struct gi_piece {
    void *bytes; /* malloc(); freed after it is written */
    size_t nbytes;
    uint32_t checksum; /* for the maker to leave to the writer */
};

struct gi_pieces {
    void *self;
    int n; /* 1 or more */
    size_t scratch_nbytes;
    /* Makes piece `number`, alone, so that its bytes don't depend on who makes it, or when; several
     * run at the same time. On failure nothing is left to free. */
    enum gi_status (*make)(void *self, struct gi_piece *piece, int number, void *scratch,
                           struct gi_err *err);
    /* Writes it; called in the order of numbers, never twice at the same time. */
    enum gi_status (*write)(void *self, const struct gi_piece *piece, int number,
                            struct gi_err *err);
};

/* Makes and writes all pieces by `parallel` (NULL: one thread); a few for each thread are in memory
 * at a time. Errors: GI_E_MEMORY, and the first that make() or write() reports. */
enum gi_status gi_pieces_run(const struct gi_pieces *pieces, const struct gi_parallel *parallel,
                             struct gi_err *err);

/* Rows of a piece of an image of `height` rows with `row_nbytes` each: an eighth of the image, so
 * that small ones have work for several threads too, but at least 128 KiB (below, what a piece
 * costs shows in the size of the file: 0.4 % of a PNG there) and at most 1 MiB, or one row. */
int gi_piece_rows(size_t row_nbytes, int height);

#endif
