/* Sliding windows of few rows, which move down strips of the image. Each step reads four source
 * rows and writes four result rows. A ring buffer holds what further steps need of source rows,
 * which are samples, not floats.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/cpu/convolution/padded_rows.h"

enum {
    GI_SLIDING_ROWS_MAX = 7,
    GI_SLIDING_BLOCK = 64, /* samples, or pixels: whole vectors of every type */
};

/* Arguments of a step. `out`, `kept` and `above` may be accessed up to the next multiple of
 * GI_SLIDING_BLOCK samples; `in` may be read 64 bytes past its end, in scratch memory 128. */
struct gi_sliding_rows {
    void *out[GI_ROWS_AT_ONCE]; /* result rows to write, as samples */
    const void
        *in[GI_ROWS_AT_ONCE];    /* source rows, with `left` and `right` more pixels at the sides */
    void *kept[GI_ROWS_AT_ONCE]; /* to write: what later steps need of `in` */
    const void
        *above[GI_SLIDING_ROWS_MAX - 1]; /* what earlier steps have kept of the nrows - 1 rows above
                                            in[0], from the top; in the first step 0 in all bytes */
    size_t next_in, next_out;            /* bytes from in[r] and out[r] to row r of the next step */
};

struct gi_sliding_window {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_border_spec *border; /* its values are rounded to samples */
    const void *spec;                    /* passed on to `step` */
    int left, right;                     /* pixels */
    int above, nrows;   /* rows of the window: those above its result row; all rows */
    size_t kept_nbytes; /* bytes kept per sample of a row */
    void (*step)(const struct gi_sliding_window *sliding_window, const struct gi_sliding_rows *rows,
                 size_t n);
    struct gi_tiling tiling; /* set by gi_sliding_window() */
};

/* Prefetches the cache line at byte `at` of each row that the next step reads. A step calls this
 * every 64 bytes, because the hardware prefetcher loses track between rows. Rows need not be inside
 * the image. */
static inline void gi_sliding_window_prefetch(const struct gi_sliding_rows *rows, size_t at)
{
    for (int r = 0; r < GI_ROWS_AT_ONCE; r++) {
        __builtin_prefetch((const char *)rows->in[r] + rows->next_in + at);
        __builtin_prefetch((const char *)rows->out[r] + rows->next_out + at, 1);
    }
}

/* Runs all steps on the queue's threads. Errors: GI_E_MEMORY. */
enum gi_status GI_CPU(sliding_window)(struct gi_queue *queue,
                                      struct gi_sliding_window *sliding_window, struct gi_err *err);
