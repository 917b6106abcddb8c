/* The march: for windows of few rows, down strips of the image, four source rows in and four result
 * rows out, with what is kept of the rows above in a ring. Source rows stay samples.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_MARCH_H
#define GI_KERNELS_CPU_MARCH_H

#include "kernels/cpu/convolve/rows.h"

enum {
    GI_MARCH_ROWS_MAX = 7,
    GI_MARCH_BLOCK = 64, /* pixels: whole vectors of samples, whatever the type and channels */
};

/* What one step is given. `out`, `kept` and `above` may be written and read up to the next multiple
 * of GI_MARCH_BLOCK samples, `in` be read 64 bytes past its end, or 128 where it is scratch. */
struct gi_march_rows {
    void *out[GI_ROWS_AT_ONCE];      /* result rows, to be written: samples */
    const void *in[GI_ROWS_AT_ONCE]; /* source rows with `left` and `right` pixels at their sides */
    void *kept[GI_ROWS_AT_ONCE];     /* what later steps need of `in`, to be written */
    const void *above[GI_MARCH_ROWS_MAX - 1]; /* what was kept of the `nrows` - 1 rows above in[0],
                                                 from the top; 0 bytes above the first step's */
    size_t next_in, next_out; /* bytes from in[r], out[r] to what the next step will take there */
};

struct gi_march {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_edge *edge; /* its values are rounded to samples */
    const void *spec;           /* for step */
    int left, right;            /* pixels */
    int above, nrows;           /* rows of the window, and those above its result */
    size_t kept_nbytes;         /* of each sample of a row */
    void (*step)(const struct gi_march *march, const struct gi_march_rows *rows, size_t n);
    struct gi_tiling tiling; /* set by the march */
};

/* Asks for what the next step takes `at` bytes into the rows; a step calls it every 64 bytes, since
 * the processor's own prefetching loses its place from row to row. Rows that are not there do no
 * harm. */
static inline void gi_march_prefetch(const struct gi_march_rows *rows, size_t at)
{
    for (int r = 0; r < GI_ROWS_AT_ONCE; r++) {
        __builtin_prefetch((const char *)rows->in[r] + rows->next_in + at);
        __builtin_prefetch((const char *)rows->out[r] + rows->next_out + at, 1);
    }
}

/* Runs the march on the queue's threads. Errors: GI_E_MEMORY. */
enum gi_status GI_CPU(march)(struct gi_queue *queue, struct gi_march *march, struct gi_err *err);

#endif
