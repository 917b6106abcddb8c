/* The march: for windows of few rows, down strips of the image, four source rows in and four result
 * rows out, with what is kept of the rows above in a ring. Source rows stay samples.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CPU_MARCH_H
#define GI_KERNELS_CPU_MARCH_H

#include "kernels/cpu/rows.h"

enum {
    GI_MARCH_ROWS_MAX = 7,
    GI_MARCH_BLOCK = 64, /* pixels: whole vectors of samples, whatever the type and channels */
};

/* What one step is given. All of its rows but `in` may be read and written up to
 * GI_MARCH_BLOCK samples past their end, `in` read 64 bytes. */
struct gi_march_rows {
    void *out[GI_ROWS_AT_ONCE];      /* result rows, to be written: samples */
    const void *in[GI_ROWS_AT_ONCE]; /* source rows with `left` and `right` pixels at their sides */
    void *kept[GI_ROWS_AT_ONCE];     /* what later steps need of `in`, to be written */
    const void *above[GI_MARCH_ROWS_MAX - 1]; /* what was kept of the `nrows` - 1 rows above in[0],
                                                 from the top; 0 bytes above the first step's */
};

struct gi_march {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_edge *edge; /* border values as samples: gi_edge_is_whole() */
    const void *spec;           /* for step */
    int left, right;            /* pixels */
    int above, nrows;           /* rows of the window, and those above its result */
    size_t kept_nbytes;         /* of each sample of a row */
    void (*step)(const struct gi_march *march, const struct gi_march_rows *rows, size_t n);
    struct gi_tiling tiling; /* set by the march */
};

/* Runs the march on the context's threads. Errors: GI_E_MEMORY. */
enum gi_status GI_CPU(march)(struct gi_context *cx, struct gi_march *march, struct gi_err *err);

#endif
